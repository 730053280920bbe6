"""Class weights: case weights by class, in all functions that fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError

FORMULA = "c ~ a + b"
SMALL = {
    odrf.odt: {"max_leaves": 4},
    odrf.odrf: {"n_trees": 12},
    odrf.graf: {"n_trees": 5},
    odrf.odbt: {"n_trees": 3},
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(11)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    score = data["a"] + rng.normal(size=90)
    data["c"] = np.select([score < -1.5, score < 1], ["low", "mid"], "top")
    data["w"] = rng.uniform(0.5, 2, 90)
    return data


@pytest.mark.parametrize("function", SMALL, ids=lambda function: function.__name__)
def test_they_multiply_case_weights(function, table):
    given = {"low": 3.0, "top": 0.5}
    by_class = table["c"].map(given).fillna(1.0)
    options = {"seed": 1, **SMALL[function]}
    fit = function(FORMULA, table, weights="w", class_weights=given, **options)
    same = function(FORMULA, table, weights=table["w"] * by_class, **options)
    assert fit.predict(type="prob").equals(same.predict(type="prob"))
    assert "Class weights" in str(fit.summary()) and "low 3, mid 1, top 0.5" in str(fit.summary())
    assert "low 3, mid 1, top 0.5" in repr(fit)
    assert "Class weights" not in f"{same.summary()} {same!r}"


def test_balanced_classes_weigh_alike_and_together_as_before(table):
    tree = odrf.odt(FORMULA, table, weights="w", class_weights="balanced", max_leaves=4, seed=1)
    totals = pd.Series(tree.fit.data.weights).groupby(table["c"]).sum()
    assert totals.tolist() == pytest.approx([table["w"].sum() / 3] * 3)
    assert tree.nodes["P(mid)"][0] == pytest.approx(1 / 3)
    assert "class_weights='balanced'" in tree.call


def test_errors_are_those_of_the_reweighted_rows(table):
    plain = odrf.odrf(FORMULA, table, n_trees=30, seed=1)
    even = odrf.odrf(FORMULA, table, n_trees=30, class_weights="balanced", seed=1)
    known = even.oob_prediction.notna()
    wrong = (even.oob_prediction != table["c"])[known]
    assert even.oob_error == pytest.approx(wrong.groupby(table["c"][known]).mean().mean(), abs=0.02)
    assert even.confusion_matrix["error"].max() < plain.confusion_matrix["error"].max()


def test_a_class_without_weight_is_none(table):
    weights = np.where(table["c"] == "low", 0.0, 1.0)
    tree = odrf.odt(FORMULA, table, weights=weights, class_weights="balanced", seed=1)
    assert tree.classes.tolist() == ["mid", "top"]
    top = (table["c"] == "top")[table["c"] != "low"].to_numpy()
    assert tree.fit.data.weights[top].sum() == pytest.approx(weights.sum() / 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lo": 2}, "class_weights names 'lo', which is not a class .* did you mean 'low'"),
        ({"low": 0}, "class_weights\\['low'\\]=0: use a positive number"),
        ({"low": True}, "use a positive number"),
        ({"low": np.inf}, "use a positive number"),
        ("even", "class_weights='even': use None, 'balanced' or a mapping"),
        ([1, 2, 3], "use None, 'balanced' or a mapping"),
    ],
)
def test_what_cannot_be_class_weights(given, message, table):
    with pytest.raises(InputError, match=message):
        odrf.odt(FORMULA, table, class_weights=given)


def test_a_number_in_quotes_is_told_from_the_class(table):
    data = table.assign(c=(table["c"] == "low").astype(int))
    with pytest.raises(InputError, match=r"names '1', which is not a .* 0, 1; did you mean 1\?"):
        odrf.odt(FORMULA, data, kind="classification", class_weights={"1": 2})


@pytest.mark.parametrize("function", SMALL, ids=lambda function: function.__name__)
def test_numbers_have_no_classes(function, table):
    with pytest.raises(InputError, match="class_weights= needs classes, but 'a' is numeric"):
        function("a ~ b", table, class_weights="balanced")


def test_tuning_out_of_bag_needs_one_population(table):
    grid = {"class_weights": [None, "balanced"]}
    with pytest.raises(InputError, match="grid names 'class_weights': out-of-bag errors"):
        odrf.tune(FORMULA, table, grid, n_trees=10)
    found = odrf.tune(FORMULA, table, grid, model=odrf.odt, method="cv", cv=3)
    assert found.table["error"].notna().all()


def test_forests_combine_if_they_weigh_alike(table):
    one, other = (
        odrf.odrf(FORMULA, table, n_trees=5, seed=seed, class_weights=weights)
        for seed, weights in ((1, "balanced"), (2, None))
    )
    with pytest.raises(InputError, match="case weights"):
        one.combine(other)
    assert one.grow(2).fit.data.class_weights is one.fit.data.class_weights
