"""Axis-parallel trees and forests against those of R's ranger and randomForest.

The numbers are from ``forests.R``; the rows that trees draw, which it reads, from ``own_draws.py``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf
from independent.own_draws import AXIS, CASES, NEW, ROWS, first_rows, grown
from resampled import all_counts


def read(name):
    return pd.read_csv(Path(__file__).with_name(f"{name}.csv"))


forest_of = cache(grown)


@pytest.mark.parametrize("table", CASES)
def test_rows_drawn_are_those_that_ranger_was_given(table):
    """If they are not: run both scripts again."""
    forest, _ = forest_of(table)
    assert (read(f"draws_{table}") == all_counts(forest.fit.draws).T).all(axis=None)


@pytest.mark.parametrize("table", CASES)
def test_predictions_of_new_rows_and_out_of_bag_are_those_of_ranger(table):
    forest, new = forest_of(table)
    if forest.kind == "regression":
        ours = {"out of bag": forest.oob_prediction, "new": forest.predict(new)}
    else:
        probabilities = {"out of bag": forest.oob_prob, "new": forest.predict(new, type="prob")}
        ours = {rows: p["malignant"] for rows, p in probabilities.items()}
    theirs = read("ranger_predictions").query("table == @table").groupby("rows")["value"]
    assert theirs.size().to_dict() == {"out of bag": ROWS, "new": NEW}
    for rows, values in theirs:
        np.testing.assert_allclose(ours[rows], values, rtol=1e-12)


@pytest.mark.parametrize("table", CASES)
def test_impurity_importances_are_those_of_ranger(table):
    """Theirs are sums over the rows of a tree, ours means."""
    forest, _ = forest_of(table)
    theirs = read("ranger_importances").query("table == @table").set_index("predictor")
    ours = ROWS * forest.importance("impurity")["importance"]
    pd.testing.assert_series_equal(
        ours.sort_index(), theirs["importance"].sort_index(), check_names=False, rtol=1e-12
    )


@pytest.mark.parametrize("size", [20, 50])
def test_a_tree_without_resampling_is_that_of_random_forest(size):
    """They do not split nodes of at most so many rows: there, a row's way down ends."""
    data = first_rows("diabetes", ROWS + NEW)
    tree = odrf.odt(CASES["diabetes"], data.iloc[:ROWS], alpha=None, **AXIS)
    nodes, way = tree.nodes, tree.predict(data.iloc[ROWS:], type="leaf").to_numpy()
    above = nodes["parent"].to_numpy(dtype=float, na_value=0).astype(int)
    while (small := nodes["count"].to_numpy()[above[way]] <= size).any():
        way = np.where(small, above[way], way)
    theirs = read("random_forest_tree").query("size == @size")["value"]
    np.testing.assert_allclose(nodes["value"].to_numpy()[way], theirs, rtol=1e-12)


@pytest.mark.parametrize("table", CASES)
def test_errors_and_importances_of_forests_are_those_of_both_up_to_chance(table):
    """Out-of-bag errors and permutation importances of 500 trees that try 3 of 7 predictors.

    Theirs were grown with twenty seeds.  By chance, ours is four standard deviations off once in
    10,000 times.  Four of an error are 3 % of it for numbers and 16 to 20 % for classes: an error
    that is wrong by half as much again is found with a probability of 98 %.
    """
    data = first_rows(table, 400)
    forest = odrf.odrf(CASES[table], data, n_trees=500, n_singles=3, blend=False, **AXIS)
    ours = forest.importance("permutation")["importance"].to_dict() | {"error": forest.oob_error}
    for line in read("forests").query("table == @table").itertuples():
        # their mean over twenty seeds varies, too
        limit = 4 * line.deviation * np.sqrt(1 + 1 / 20)
        assert abs(ours[line.what] - line.mean) <= limit, line
