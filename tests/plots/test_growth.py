"""Drawings of errors along the growth show the table they are of."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.plots.pruning import plot_growth


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
