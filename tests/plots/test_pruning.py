"""Drawings of pruning paths show the table they are of."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.plots.pruning import plot_growth


@pytest.fixture(scope="module")
def tree():
    return odrf.odt("mpg ~ .", odrf.load_data("auto_mpg"), alpha=None, missing="drop", seed=1)


@pytest.fixture
def closed():
    yield
    plt.close("all")


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
def test_standard_errors_are_bars_or_a_band(tree):
    assert len(tree.pruning_path(cv=4).table) > 40
    assert tree.pruning_path(cv=4).plot().collections
    few = tree.prune(leaves=9).pruning_path(cv=4)
    ax = few.plot()
    (bars,) = [part for part in ax.collections if hasattr(part, "get_segments")]
    lengths = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(lengths, 2 * few.table["xstd"])


@pytest.mark.usefixtures("closed")
def test_the_axes_name_sizes_and_alpha(tree):
    path = tree.pruning_path(cv=4)
    ax = path.plot()
    (top,) = ax.child_axes
    sizes = [float(label.get_text()) for label in top.get_xticklabels()]
    assert {sizes[0], sizes[-1]} == {1.0, float(path.table["leaves"].max())}
    assert len(ax.get_xticklabels()) == len(sizes) <= 9


@pytest.mark.usefixtures("closed")
def test_training_errors_where_nothing_was_held_out(tree):
    path = tree.pruning_path("growth", cv=None)
    every, chosen = path.plot().lines
    assert len(every.get_ydata()) == tree.n_leaves[0]
    np.testing.assert_array_equal(chosen.get_xdata(), path.table["leaves"])
    np.testing.assert_array_equal(chosen.get_ydata(), path.table["error"])
    (alone,) = tree.pruning_path(cv=None).plot().lines
    assert len(alone.get_ydata()) == len(tree.pruning_path(cv=None).table)


@pytest.mark.usefixtures("closed")
def test_given_axes_and_unknown_rules(tree):
    given = plt.subplots()[1]
    path = tree.pruning_path(cv=3)
    assert path.plot(ax=given) is given
    with pytest.raises(InputError, match="rule='2se' is not known"):
        path.plot(rule="2se")


@pytest.mark.usefixtures("closed")
def test_a_forest_s_path():
    data = odrf.load_data("auto_mpg")
    path = odrf.odrf("mpg ~ .", data, missing="drop", n_trees=10, seed=1).pruning_path()
    ax = path.plot()
    np.testing.assert_array_equal(ax.lines[-3].get_ydata(), path.table["error"])
    assert "out-of-bag" in ax.get_ylabel()


@pytest.mark.usefixtures("closed")
def test_a_tree_without_splits(tree):
    root = tree.prune(leaves=1)
    assert root.pruning_path(cv=None).plot() is not None
    assert root.pruning_path(cv=3).plot() is not None


# ------------------------------------------------------------------------------------------------
# Drawings of errors along the growth show the table they are of.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["odt", "odrf"])
def fit(request):
    options = {"odt": {}, "odrf": {"n_trees": 12}}[request.param]
    data = odrf.load_data("diabetes")
    return getattr(odrf, request.param)("progression ~ .", data, seed=1, **options)


@pytest.mark.parametrize("along", ["leaves", "depth"])
def test_curves_and_marks(fit, along):
    path = fit.growth_path(along=along)
    ax = path.plot(rule="min")
    train, test, mark, present = ax.lines
    for line, name in ((train, "train"), (test, "test")):
        np.testing.assert_array_equal(line.get_xdata(), path.table[along])
        np.testing.assert_array_equal(line.get_ydata(), path.table[name])
    assert mark.get_xdata() == path.best_size("min")
    assert mark.get_ydata() == path.table["test"].min()
    assert present.get_xdata()[0] == path.size
    (band,) = ax.collections
    highest = (path.table["test"] + path.table["std_error"]).max()
    assert band.get_paths()[0].get_extents().ymax == pytest.approx(highest)
    assert ax.get_xscale() == {"leaves": "log", "depth": "linear"}[along]
    assert ax.get_xlabel() == (along if fit.forest.n_trees == 1 else f"{along} of a tree at most")
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    sizes = {"leaves": "{} leaves", "depth": "depth {}"}[along]
    assert words[0] == "training rows"
    assert words[1] == f"{path.by}, ± 1 standard error"
    best, present_size = sizes.format(path.best_size("min")), sizes.format(path.size)
    assert words[2:] == [f"Smallest error: {best}", f"this fit: {present_size}"]


def test_given_axes_and_a_tree_without_splits():
    given = plt.subplots()[1]
    data = odrf.load_data("breast_cancer")
    stump = odrf.odt("diagnosis ~ .", data, max_leaves=1, seed=1).growth_path(cv=3)
    assert stump.plot(ax=given) is given
    assert given.get_ylabel() == "error rate"
    assert given.get_legend().get_texts()[-1].get_text() == "this fit: 1 leaf"
    given.figure.canvas.draw()


@pytest.mark.parametrize("leaves", [40, 3000, 60_000, 2**22])
def test_numbers_of_leaves_are_whole_and_do_not_overlap(leaves):
    at = np.unique(np.geomspace(1, leaves, 30).astype(int))
    table = pd.DataFrame({"leaves": at, "train": 1 / at, "test": 1 / at, "std_error": 0.0})
    ax = plot_growth(table, "leaves", 3, "Smallest error", leaves, "Error", "10-fold")
    ax.figure.canvas.draw()
    shown = [tick.label1 for tick in ax.xaxis.get_major_ticks() if tick.label1.get_visible()]
    assert len(shown) > 3 and all(tick.get_text().isdigit() for tick in shown)
    ends = [(box.x0, box.x1) for box in (tick.get_window_extent() for tick in shown)]
    assert all(one[1] < other[0] for one, other in pairwise(ends))
