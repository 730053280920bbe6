"""Out-of-bag importances against their definition, row by row, and under no relation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from nothing_matters import unrelated
from odrf.errors import InputError
from odrf.statistics import importance as held_out_importance
from odrf.statistics.importance import out_of_bag_importance
from reference.importance import judged_by_definition, own_response


def by_definition(forest, X, y, first, draws):
    """Follow every out-of-bag row through every tree, and note what each split adds."""
    target, importance, n_used = own_response(forest, y), np.zeros(len(first) - 1), 0
    centred = target - np.average(target, axis=0, weights=draws.weights)
    for b in range(forest.n_trees):
        rows, tree = np.flatnonzero(draws.unseen(b) & (draws.weights > 0)), forest.tree(b)
        n_used += len(rows) > 0
        importance += judged_by_definition(
            tree, X, centred, draws.weights, rows, first, tree.value, lambda _: slice(None)
        )
    return importance / n_used


@pytest.mark.parametrize("formula", ["body_mass_g ~ .", "species ~ ."])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_its_definition(formula, weighted):
    data = odrf.load_data("penguins").dropna().iloc[::4]
    weights = np.arange(len(data)) % 3 if weighted else None
    fit = odrf.odrf(formula, data, weights=weights, n_trees=7, seed=2).fit
    arguments = fit.forest, fit.data.X, fit.data.y, fit.design.first, fit.draws
    np.testing.assert_allclose(
        out_of_bag_importance(*arguments), by_definition(*arguments), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("at_once", [1, 100])
def test_sums_of_a_few_trees_at_a_time_are_the_same(monkeypatch, at_once):
    """Those of all trees would take as much memory as the trees."""
    fit = odrf.odrf("species ~ .", odrf.load_data("penguins").dropna(), n_trees=7, seed=2).fit
    arguments = fit.forest, fit.data.X, fit.data.y, fit.design.first, fit.draws
    expected, largest = out_of_bag_importance(*arguments), []
    trees = type(fit.forest).trees

    def recorded(forest, begin, end):
        part = trees(forest, begin, end)
        largest.append(part.value.size if part.n_trees > 1 else 0)
        return part

    monkeypatch.setattr(type(fit.forest), "trees", recorded)
    monkeypatch.setattr(held_out_importance, "SUMS_AT_ONCE", at_once)
    assert np.array_equal(out_of_bag_importance(*arguments), expected)
    assert len(largest) > 1
    assert max(largest) <= at_once


@pytest.mark.weekly
@pytest.mark.parametrize("classes", [False, True])
def test_no_kind_of_predictor_leads_where_none_matters(classes):
    tables = []
    for seed in range(12):
        data = unrelated(150, np.random.default_rng(seed))
        if classes:
            data["y"] = np.where(data["y"] > 0, "yes", "no")
        tables.append(odrf.odrf("y ~ .", data, n_trees=40, seed=seed).importance()["importance"])
    importance = pd.concat(tables, axis=1)
    z = importance.mean(axis=1) / (importance.std(axis=1) / np.sqrt(importance.shape[1]))
    assert z.abs().max() < 3.5, z
    assert importance.idxmax().value_counts().max() <= 7


def test_it_is_what_summary_and_plot_show_first():
    fit = odrf.odrf("cultivar ~ .", odrf.load_data("wine"), n_trees=30, seed=1)
    table = fit.importance()
    pd.testing.assert_frame_equal(table, fit.importance(type="out_of_bag"))
    assert table["share"].clip(lower=0).sum() == pytest.approx(1)
    assert "impurity removed, out of bag" in str(fit.summary())
    assert "impurity removed, out of bag" in fit.plot("importance").get_xlabel()


def test_without_rows_out_of_bag_other_trees_are_judged_by_rows_held_out():
    data = odrf.load_data("wine")
    fit = odrf.odrf("cultivar ~ .", data, n_trees=5, resample="none", seed=1)
    pd.testing.assert_frame_equal(fit.importance(), fit.importance(type="held_out"))
    with pytest.raises(InputError, match="Out-of-bag importances need"):
        fit.importance(type="out_of_bag")
    with pytest.raises(InputError, match="out_of_bag"):
        odrf.odt("cultivar ~ .", data).importance(type="out_of_bag")
