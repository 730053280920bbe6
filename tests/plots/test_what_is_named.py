"""Plots name what they show: axes, groups, weights, and what all estimates have in common."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import plots, simulate
from odrf.plots.style import line_of

pytestmark = pytest.mark.usefixtures("few_pilots")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def names_beside(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_what_estimates_have_in_common_is_in_the_title():
    data = simulate.friedman1().sample(120, seed=1)
    data["half"] = np.where(data["x5"] > 0.5, "upper", "lower")
    fit = odrf.odrf("y ~ x1 + x2 + half", data, n_trees=5, seed=1)
    by_half = fit.comparisons("x1", contrast=(0, 1), by="half").plot()
    assert by_half.get_title() == "Comparisons: differences; x1, 1 - 0"
    assert names_beside(by_half) == ["half = lower", "half = upper"]
    several = fit.comparisons(["x1", "x2"], contrast=(0, 1)).plot()
    assert several.get_title() == "Comparisons: differences; 1 - 0"
    assert names_beside(several) == ["x1", "x2"]


def test_tests_of_importance_have_the_plain_names():
    data = simulate.friedman1(p=5).sample(120, seed=1)
    ax = odrf.odrf("y ~ .", data, n_trees=5, seed=1).plot("importance", type="conditional")
    assert set(names_beside(ax)) == {"x1", "x2", "x3", "x4", "x5"}


def test_lines_of_many_classes_differ():
    assert len({line_of(k) for k in range(24)}) == 24


def test_groups_at_risk_are_named():
    data = odrf.load_data("gbsg2")
    fit = odrf.odrf("Surv(time, event) ~ nodes + age", data, n_trees=5, seed=1)
    texts = [text.get_text() for text in fit.plot("curves").texts]
    assert {"at risk", "lowest", "2", "3", "highest"} <= set(texts)


def test_pixels_have_rows_and_columns():
    bars = simulate.bars(6).sample(60, seed=1)
    ax = odrf.odrf("y ~ .", bars, n_trees=3, seed=1).pixel_importance().plot_image()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column", "row")


def test_few_values_of_an_option_are_each_a_tick():
    table = pd.DataFrame({"error": [0.2, 0.3, 0.4], "std_error": 0.01})
    ax = plots.plot_option("min_leaf", pd.Series([5, 1, 60]), table, "error rate")
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "5", "60"]
    assert not ax.xaxis.get_minorticklocs().size


def test_rings_are_round():
    assert simulate.rings().plot().get_aspect() == 1.0


def test_sizes_of_a_forest_are_means():
    data = simulate.friedman1().sample(80, seed=1)
    path = odrf.odrf("y ~ .", data, n_trees=5, seed=1).pruning_path()
    (top,) = path.plot().child_axes
    assert top.get_xlabel() == "leaves, mean of the trees"


def test_leaves_are_counted_in_whole_numbers():
    data = simulate.friedman1().sample(80, seed=1)
    panels = odrf.odt("y ~ .", data, max_leaves="sqrt", seed=1).consistency().plot()
    ticks = panels[2].get_yticks()
    assert (ticks == ticks.round()).all()


def test_a_surrogate_of_classes_counts_each_row_once():
    data = odrf.load_data("penguins")
    tree = odrf.odrf("species ~ .", data, n_trees=5, seed=1).surrogate(max_leaves=4).tree
    counts = tree.nodes["count"]
    assert counts[0] == len(data) == counts[tree.nodes["leaf"]].sum()
