"""Drawings of pruning paths show the table they are of."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf
from odrf import InputError


@pytest.fixture(scope="module")
def tree():
    return odrf.odt("mpg ~ .", odrf.load_data("auto_mpg"), alpha=None, missing="drop", seed=1)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("rule", ["min", "1se"])
def test_held_out_errors(tree, rule):
    path = tree.pruning_path(cv=4)
    ax = path.plot(rule=rule)
    curve, limit, mark = ax.lines[-3:]
    np.testing.assert_array_equal(curve.get_ydata(), path.table["xerror"])
    np.testing.assert_array_equal(curve.get_xdata(), np.log2(path.table["leaves"]))
    best = path.table.iloc[path.row("min")]
    assert limit.get_ydata()[0] == pytest.approx(best["xerror"] + best["xstd"])
    assert mark.get_ydata() == path.table["xerror"][path.row(rule)]
    leaves = path.table["leaves"][path.row(rule)]
    name = {"min": "Smallest error", "1se": "1-SE rule"}[rule]
    assert words(ax) == ["smallest + 1 standard error", f"{name}: {leaves} leaves"]


def test_standard_errors_are_bars_or_a_band(tree):
    assert len(tree.pruning_path(cv=4).table) > 40
    assert tree.pruning_path(cv=4).plot().collections
    few = tree.prune(leaves=9).pruning_path(cv=4)
    ax = few.plot()
    (bars,) = [part for part in ax.collections if hasattr(part, "get_segments")]
    lengths = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(lengths, 2 * few.table["xstd"])


def test_the_axes_name_sizes_and_alpha(tree):
    path = tree.pruning_path(cv=4)
    ax = path.plot()
    (top,) = ax.child_axes
    sizes = [float(label.get_text()) for label in top.get_xticklabels()]
    assert {sizes[0], sizes[-1]} == {1.0, float(path.table["leaves"].max())}
    assert len(ax.get_xticklabels()) == len(sizes) <= 9


def test_training_errors_where_nothing_was_held_out(tree):
    path = tree.pruning_path("growth", cv=None)
    every, chosen = path.plot().lines
    assert len(every.get_ydata()) == tree.n_leaves[0]
    np.testing.assert_array_equal(chosen.get_xdata(), path.table["leaves"])
    np.testing.assert_array_equal(chosen.get_ydata(), path.table["error"])
    (alone,) = tree.pruning_path(cv=None).plot().lines
    assert len(alone.get_ydata()) == len(tree.pruning_path(cv=None).table)


def test_given_axes_and_unknown_rules(tree):
    given = plt.subplots()[1]
    path = tree.pruning_path(cv=3)
    assert path.plot(ax=given) is given
    with pytest.raises(InputError, match="rule='2se' is not known"):
        path.plot(rule="2se")


def test_a_forest_s_path():
    data = odrf.load_data("auto_mpg")
    path = odrf.odrf("mpg ~ .", data, missing="drop", n_trees=10, seed=1).pruning_path()
    ax = path.plot()
    np.testing.assert_array_equal(ax.lines[-3].get_ydata(), path.table["error"])
    assert "out-of-bag" in ax.get_ylabel()


def test_a_tree_without_splits(tree):
    root = tree.prune(leaves=1)
    assert root.pruning_path(cv=None).plot() is not None
    assert root.pruning_path(cv=3).plot() is not None
