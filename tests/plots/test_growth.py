"""Drawings of errors along the growth show the table they are of."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf


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
