"""Drawings of a forest and of a pruning path."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf
from odrf import InputError


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf("diagnosis ~ .", odrf.load_data("breast_cancer"), n_trees=15, seed=1)


def test_both_panels(forest):
    error, importance = forest.plot()
    assert error.figure is importance.figure
    np.testing.assert_array_equal(error.lines[0].get_ydata(), forest.error_path)
    np.testing.assert_array_equal(error.lines[0].get_xdata(), np.arange(1, 16))
    assert error.get_ylabel() == "out-of-bag error rate"
    names = [label.get_text() for label in importance.get_yticklabels()]
    assert names == list(forest.importance().index[:15])
    assert "first 15 of 30" in importance.get_xlabel()
    top = dict(zip(importance.lines[0].get_ydata(), importance.lines[0].get_xdata(), strict=True))
    assert top[14] == forest.importance()["share"].iloc[0]


@pytest.mark.parametrize("kind", ["error", "importance"])
def test_one_kind_on_given_axes(forest, kind):
    _, ax = plt.subplots()
    assert forest.plot(kind, ax=ax) is ax
    assert ax.lines


def test_both_kinds_on_given_axes(forest):
    _, axes = plt.subplots(2, 1)
    drawn = forest.plot(ax=axes)
    assert list(drawn) == list(axes)


def test_bad_kind_and_axes(forest):
    with pytest.raises(InputError, match="kind='tree' is not known: use one of 'error'"):
        forest.plot("tree")
    with pytest.raises(InputError, match="ax holds 1 axes: kind=None draws on two"):
        forest.plot(ax=plt.subplots()[1])


@pytest.mark.parametrize("function", [odrf.odrf, odrf.odbt, odrf.graf])
@pytest.mark.parametrize("n_trees", [1, 3, 5])
def test_what_is_counted_has_whole_ticks(function, n_trees):
    fit = function("cultivar ~ flavanoids + hue", odrf.load_data("wine"), n_trees=n_trees, seed=1)
    growth, _ = fit.plot()
    growth.figure.canvas.draw()
    ticks = growth.get_xticks()
    assert (ticks == np.rint(ticks)).all()
