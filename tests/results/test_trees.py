"""The results that trees and forests share."""

from __future__ import annotations

import inspect
import pickle
from functools import cached_property

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from signatures import CLASSES


def test_facts_of_a_fit(number_tree, class_forest):
    assert number_tree.nobs == 120
    assert number_tree.formula == "y ~ a + b + f"
    assert number_tree.kind == "regression"
    assert number_tree.classes is None
    assert number_tree.call == "odt('y ~ a + b + f', data, alpha=None, seed=1)"
    assert class_forest.kind == "classification"
    assert list(class_forest.classes) == ["low", "mid", "top"]
    assert class_forest.control.n_trees == len(class_forest.n_leaves) == 12


def test_residuals(number_forest, class_tree, table):
    found = (number_forest.resid + number_forest.fittedvalues).dropna()
    np.testing.assert_allclose(found, table["y"][found.index])
    assert len(found) > 110
    prob = class_tree.predict(type="prob")
    observed = [prob.loc[row, label] for row, label in table["c"].items()]
    np.testing.assert_allclose(class_tree.resid, 1 - np.array(observed))


def test_importance_names_predictors(number_forest):
    table = number_forest.importance()
    assert set(table.index) == {"a", "b", "f"}
    assert table["importance"].is_monotonic_decreasing
    assert table["share"].sum() == pytest.approx(1)


def test_a_tree_without_splits_has_no_shares(table):
    importance = odrf.odt("y ~ a", table, max_leaves=1, seed=1).importance()
    assert importance.to_numpy().tolist() == [[0, 0]]


def test_unknown_importance(number_forest):
    with pytest.raises(InputError, match="did you mean 'permutation'"):
        number_forest.importance("permutations")


@pytest.mark.parametrize("name", ["number_tree", "class_tree", "number_forest", "class_forest"])
def test_fits_pickle(request, table, name):
    fit = request.getfixturevalue(name)
    again = pickle.loads(pickle.dumps(fit))
    pd.testing.assert_series_equal(again.predict(table), fit.predict(table))
    assert str(again.summary()) == str(fit.summary())


@pytest.mark.parametrize("name", ["number_tree", "class_tree", "number_forest", "class_forest"])
def test_cards_are_short(request, name):
    lines = repr(request.getfixturevalue(name)).split("\n")
    assert 4 <= len(lines) <= 8
    assert lines[0].startswith("Oblique")
    assert all(len(line) <= 80 for line in lines)


REFUSED = {
    "number_tree": ("changes", "confusion_matrix", "mean_rank_error", "surrogates"),
    "class_tree": ("r_squared", "mean_rank_error"),
    "number_forest": ("changes", "confusion_matrix", "kinds", "mean_rank_error", "oob_prob"),
    "class_forest": ("kinds", "r_squared"),
}


@pytest.mark.parametrize(("name", "refused"), REFUSED.items())
def test_what_a_property_refuses_is_absent_and_says_why(request, name, refused):
    fit = request.getfixturevalue(name)
    members = dict(inspect.getmembers(fit))
    for attribute in refused:
        assert not hasattr(fit, attribute)
        assert attribute not in members
        assert getattr(fit, attribute, None) is None
        with pytest.raises(InputError) as refusal:
            getattr(fit, attribute)
        assert "has no" not in str(refusal.value).replace("has no surrogates", "")
    assert hasattr(fit, "fittedvalues")


def test_without_rows_properties_are_absent(table):
    forest = odrf.odrf("y ~ a + b", table, n_trees=3, seed=1)
    classes = odrf.odt("c ~ a", table, seed=1)
    for fit, attribute, words in [
        (forest.without_data(), "resid", "this needs the training rows"),
        (forest.without_data().fit, "draws", "this needs the training rows"),
        (classes.without_data().consistency(), "evidence", "this needs the training rows"),
        (classes.consistency(), "normal_quantiles", "classes have no"),
    ]:
        assert inspect.getmembers(fit)
        assert not hasattr(fit, attribute)
        with pytest.raises(InputError, match=words):
            getattr(fit, attribute)


def functions_of_properties(of_class):
    for owner in of_class.__mro__:
        for member in vars(owner).values():
            if isinstance(member, property):
                yield member.fget
            if isinstance(member, cached_property):
                yield member.func


@pytest.mark.parametrize("of_class", CLASSES, ids=lambda each: each.__name__)
def test_every_property_of_a_public_class_is_absent_where_it_is_refused(of_class):
    # wrapped by what makes an AttributeError of an InputError
    assert all(hasattr(function, "__wrapped__") for function in functions_of_properties(of_class))
