"""Drawings of guided forests."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf
from odrf import InputError
from odrf.plots.fits import plot_guided_growth


@pytest.fixture(scope="module")
def forest():
    return odrf.graf("diagnosis ~ .", odrf.load_data("breast_cancer"), n_trees=15, seed=1)


def test_the_curve_is_the_mean_and_the_band_most_trees(forest):
    growth = forest.growth
    ax = plot_guided_growth(growth)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), growth.index)
    np.testing.assert_array_equal(line.get_ydata(), growth["mean"])
    (band,) = ax.collections
    ends = band.get_paths()[0].vertices
    for planes in (1, 5, len(growth) - 2):
        at = np.unique(ends[ends[:, 0] == planes, 1])
        low, high = growth.loc[planes, ["low", "high"]]
        np.testing.assert_allclose([at[0], at[-1]], [low, high], atol=1e-12)
    assert ax.get_xlim() == (0, growth.index[-1])
    assert ax.get_ylim()[0] == 0
    assert ax.get_xlabel() == "planes of a tree (mean, 80 % of the trees)"
    assert ax.get_ylabel() == "impurity left, as a share"
    ax.figure.canvas.draw()


def test_both_panels(forest):
    growth, importance = forest.plot()
    assert growth.figure is importance.figure
    np.testing.assert_array_equal(growth.lines[0].get_ydata(), forest.growth["mean"])
    names = [label.get_text() for label in importance.get_yticklabels()]
    assert names == list(forest.importance().index[:15])
    assert "first 15 of 30" in importance.get_xlabel()


@pytest.mark.parametrize("kind", ["growth", "importance"])
def test_one_kind_on_given_axes(forest, kind):
    _, ax = plt.subplots()
    assert forest.plot(kind, ax=ax) is ax
    assert bool(ax.collections)
    assert forest.plot(kind).figure is not ax.figure


def test_both_kinds_on_given_axes(forest):
    _, axes = plt.subplots(2, 1)
    assert list(forest.plot(ax=axes)) == list(axes)


def test_bad_kind_and_axes(forest):
    with pytest.raises(InputError, match="kind='error' is not known: use one of 'growth'"):
        forest.plot("error")
    with pytest.raises(InputError, match="ax holds 1 axes: kind=None draws on two"):
        forest.plot(ax=plt.subplots()[1])
    with pytest.raises(InputError, match="ax holds 2 axes"):
        forest.plot("growth", ax=plt.subplots(1, 2)[1])


# ------------------------------------------------------------------------------------------------
# Drawings of a forest and of a pruning path.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forest_of_forest():
    return odrf.odrf("diagnosis ~ .", odrf.load_data("breast_cancer"), n_trees=15, seed=1)


def test_both_panels_of_forest(forest_of_forest):
    error, importance = forest_of_forest.plot()
    assert error.figure is importance.figure
    np.testing.assert_array_equal(error.lines[0].get_ydata(), forest_of_forest.error_path)
    np.testing.assert_array_equal(error.lines[0].get_xdata(), np.arange(1, 16))
    assert error.get_ylabel() == "out-of-bag error rate"
    names = [label.get_text() for label in importance.get_yticklabels()]
    assert names == list(forest_of_forest.importance().index[:15])
    assert "first 15 of 30" in importance.get_xlabel()
    top = dict(zip(importance.lines[0].get_ydata(), importance.lines[0].get_xdata(), strict=True))
    assert top[14] == forest_of_forest.importance()["share"].iloc[0]


@pytest.mark.parametrize("kind", ["error", "importance"])
def test_one_kind_on_given_axes_of_forest(forest_of_forest, kind):
    _, ax = plt.subplots()
    assert forest_of_forest.plot(kind, ax=ax) is ax
    assert ax.lines


def test_both_kinds_on_given_axes_of_forest(forest_of_forest):
    _, axes = plt.subplots(2, 1)
    drawn = forest_of_forest.plot(ax=axes)
    assert list(drawn) == list(axes)


def test_bad_kind_and_axes_of_forest(forest_of_forest):
    with pytest.raises(InputError, match="kind='tree' is not known: use one of 'error'"):
        forest_of_forest.plot("tree")
    with pytest.raises(InputError, match="ax holds 1 axes: kind=None draws on two"):
        forest_of_forest.plot(ax=plt.subplots()[1])


@pytest.mark.parametrize("function", [odrf.odrf, odrf.odbt, odrf.graf])
@pytest.mark.parametrize("n_trees", [1, 3, 5])
def test_what_is_counted_has_whole_ticks(function, n_trees):
    fit = function("cultivar ~ flavanoids + hue", odrf.load_data("wine"), n_trees=n_trees, seed=1)
    growth, _ = fit.plot()
    growth.figure.canvas.draw()
    ticks = growth.get_xticks()
    assert (ticks == np.rint(ticks)).all()
