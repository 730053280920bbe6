"""Strength and correlation of forests."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_by_number_of_trees(number_forest, class_forest):
    for forest, name in ((number_forest, "tree_error"), (class_forest, "strength")):
        found = forest.strength_correlation()
        assert list(found.table.columns) == ["trees", name, "correlation", "bound", "error"]
        assert found.table["trees"].iloc[-1] == 12
        assert found.by == "trees"
        assert 0 < found.table["correlation"].iloc[-1] < 1
    assert number_forest.strength_correlation().table["error"].iloc[-1] == pytest.approx(
        number_forest.oob_error
    )


def test_more_trees_come_near_the_bound_of_numbers(table):
    forest = odrf.odrf("y ~ a + b", table, n_trees=300, blend=False, seed=1)
    last = forest.strength_correlation().table.iloc[-1]
    assert last["error"] < last["tree_error"]
    assert last["error"] == pytest.approx(last["bound"], rel=0.1)


def test_by_size_of_subsets(table):
    forest = odrf.odrf("c ~ a + b + f", table, n_trees=20, seed=1)
    found = forest.strength_correlation(subset_sizes=[1, 3])
    assert found.table["subset_size"].tolist() == ["random", 1, 3]
    assert found.by == "subset_size"
    fixed = odrf.odrf("c ~ a + b + f", table, n_trees=20, subset_size=3, seed=1)
    alone = fixed.strength_correlation().table.iloc[-1]
    np.testing.assert_allclose(found.table.iloc[2, 1:].astype(float), alone.iloc[1:].astype(float))


def test_summary_and_drawing(class_forest, number_forest):
    assert "mean margin" in str(class_forest.strength_correlation().summary())
    assert "section 11" in str(number_forest.strength_correlation().summary())
    panels = class_forest.strength_correlation().plot()
    assert [len(panel.lines) >= 1 for panel in panels] == [True] * 3
    panels = class_forest.strength_correlation([1, 2]).plot()
    assert [text.get_text() for text in panels[0].get_xticklabels()] == ["random", "1", "2"]
    with pytest.raises(InputError, match="ax holds 1 axes"):
        class_forest.strength_correlation().plot(ax=plt.subplots()[1])
    assert repr(class_forest.strength_correlation()).startswith("Strength and correlation by trees")


def test_bad_requests(table, class_forest):
    with pytest.raises(InputError, match="needs at least 2 trees"):
        odrf.odrf("y ~ a", table, n_trees=1, seed=1).strength_correlation()
    with pytest.raises(InputError, match='resample="none" leaves none'):
        odrf.odrf("y ~ a", table, n_trees=3, resample="none", seed=1).strength_correlation()
    with pytest.raises(InputError, match="subset_size=9 is above"):
        class_forest.strength_correlation([9])


def test_a_bound_of_infinity_has_a_reason():
    data = pd.DataFrame({"a": range(30), "y": ["u", "v"] * 15})  # a row is unlike its neighbours
    found = odrf.odrf("y ~ a", data, n_trees=12, blend=False, seed=1).strength_correlation()
    assert found.table["strength"].iloc[-1] <= 0 and np.isinf(found.table["bound"].iloc[-1])
    assert "bound is inf where strength is not above 0" in str(found.summary())


def test_without_rows_out_of_bag_it_is_unknown():
    data = pd.DataFrame({"a": range(6), "y": ["u", "v"] * 3})
    fit = odrf.odrf("y ~ a", data, n_trees=3, order=list(range(6)), seed=3)
    found = fit.strength_correlation()
    assert found.table["strength"].isna().all()
    assert "Unknown where too few rows" in str(found.summary())
    shown = str(fit.summary())
    assert "unknown (no row of positive weight is out of bag)" in shown
    assert "Confusion" not in shown
