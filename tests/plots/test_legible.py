"""Every plot can be read, with few and many predictors, long names and ten classes."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from legible import faint_texts, faults_of
from odrf import plots, simulate
from odrf.plots.style import line_of, text_width
from odrf.reports.checks import PLOTS
from shown import MANY, SIZES, data_with, reports_of, results_of, studies_of

# inches: a page is no wider
WIDEST = 20.5
CASES = [(results_of, p) for p in SIZES] + [(reports_of, p) for p in SIZES if p != MANY]
CASES += [(studies_of, MANY), pytest.param(reports_of, MANY, marks=pytest.mark.weekly)]
# No line or axis of these drawings is that of a predictor: they are the same for 3 and for 50.
OF_NO_PREDICTOR = (
    "pruning path", "training path", "forest path", "growth", "strength", "consistency", "map",
    "proximity", "partial", "surface", "accumulated", "curves", "averages", "predictive check",
    "calibrat", "discrimination", "areas",
)  # fmt: skip


def drawings(name, shown, p):
    """The functions that draw a result or report."""
    if name.startswith("sensitivity"):
        numeric = data_with(p, "numbers").select_dtypes("number").columns[:2]
        return {} if p == 3 else {"rows": lambda: shown.plot(*numeric)}
    if not hasattr(type(shown), "plot"):
        return {}
    draw = {"plot": shown.plot}
    if name.startswith("Shapley"):
        draw |= {kind: partial(shown.plot, kind) for kind in ("row", "term")}
    elif name.startswith("predictive"):
        draw |= {kind: partial(shown.plot, kind) for kind in PLOTS}
    elif hasattr(shown, "importance"):
        draw["importance"] = lambda: shown.plot("importance")
    return draw


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning")
@pytest.mark.parametrize("group, p", CASES, ids=lambda value: getattr(value, "__name__", value))
def test_texts_neither_overlap_nor_leave_the_figure(group, p):
    faults = {}
    for name, shown in group(p).items():
        if p != MANY and name.startswith(OF_NO_PREDICTOR):
            continue
        for kind, draw in drawings(name, shown, p).items():
            figure = np.ravel(draw())[0].figure
            found = faults_of(figure)
            if figure.get_figwidth() > WIDEST:
                found.append(f"{figure.get_figwidth()} inches wide")
            if found:
                faults[f"{name}, {kind}"] = found
            plt.close(figure)
    assert faults == {}


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning")
@pytest.mark.parametrize(
    "group, p", [(results_of, 3), (reports_of, 3), (studies_of, MANY)],
    ids=lambda value: getattr(value, "__name__", value),
)  # fmt: skip
def test_texts_can_be_read_on_a_dark_background(group, p):
    faint = {}
    with plt.style.context("dark_background"):
        for name, shown in group(p).items():
            for kind, draw in drawings(name, shown, p).items():
                figure = np.ravel(draw())[0].figure
                if found := faint_texts(figure):
                    faint[f"{name}, {kind}"] = found
                plt.close(figure)
    assert faint == {}


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning")
@pytest.mark.parametrize("size", [(4.5, 3.0), (2.0, 1.5)])
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_trees_in_small_axes(size, kind):
    _, ax = plt.subplots(figsize=size)
    results_of(MANY)[f"tree of {kind}"].plot(ax=ax)
    assert faults_of(ax.figure) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning")
@pytest.mark.parametrize("height", [1.6, 2.4])
def test_labels_of_low_figures(height):
    reports = reports_of(MANY)
    for name in ("pruning path of numbers", "forest path of classes", "elimination for numbers"):
        _, ax = plt.subplots(figsize=(5, height), layout="constrained")
        reports[name].plot(ax=ax)
        assert faults_of(ax.figure) == [], name


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning")
def test_one_direction_and_no_direction():
    data = odrf.load_data("diabetes")
    stump = odrf.odt("progression ~ bmi", data, max_leaves=2, seed=1)
    assert faults_of(stump.projection_importance().plot().figure) == []
    root = odrf.odt("progression ~ bmi", data, max_leaves=1, seed=1)
    ax = root.projection_importance().plot()
    assert [text.get_text() for text in ax.texts] == ["no splits"]


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning")
def test_only_columns_of_the_directions_are_drawn():
    importance = results_of(MANY)["forest of numbers"].projection_importance(top=3)
    taking_part = (importance.coefficients != 0).any(axis=1).sum()
    assert len(importance.plot().get_yticklabels()) == min(taking_part, 40) < MANY


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning")
@pytest.mark.parametrize(
    "name", ["friedman1", "friedman2", "rings", "trunk", "impulse", "orthant", "circle", "bars"]
)
def test_simulated_problems(name):
    ax = getattr(odrf.simulate, name)().plot()
    assert faults_of(ax.figure) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning")
@pytest.mark.parametrize("problem", ["impulse", "circle"])
def test_pixels(problem):
    data = getattr(odrf.simulate, problem)().sample(60, seed=1)
    pixels = odrf.odrf("y ~ .", data, n_trees=3, seed=1).pixel_importance()
    assert faults_of(pixels.plot_image().figure) == []
    repr(pixels), pixels._repr_html_()


# ------------------------------------------------------------------------------------------------
# Plots name what they show: axes, groups, weights, and what all estimates have in common.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def closed():
    yield
    plt.close("all")


def names_beside(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
def test_tests_of_importance_have_the_plain_names():
    data = simulate.friedman1(p=5).sample(120, seed=1)
    ax = odrf.odrf("y ~ .", data, n_trees=5, seed=1).plot("importance", type="conditional")
    assert set(names_beside(ax)) == {"x1", "x2", "x3", "x4", "x5"}


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
def test_lines_of_many_classes_differ():
    assert len({line_of(k) for k in range(24)}) == 24


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
def test_groups_at_risk_are_named():
    data = odrf.load_data("gbsg2")
    fit = odrf.odrf("Surv(time, event) ~ nodes + age", data, n_trees=5, seed=1)
    texts = [text.get_text() for text in fit.plot("curves").texts]
    assert {"at risk", "lowest", "2", "3", "highest"} <= set(texts)


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
def test_pixels_have_rows_and_columns():
    bars = simulate.bars(6).sample(60, seed=1)
    ax = odrf.odrf("y ~ .", bars, n_trees=3, seed=1).pixel_importance().plot_image()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column", "row")


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
def test_few_values_of_an_option_are_each_a_tick():
    table = pd.DataFrame({"error": [0.2, 0.3, 0.4], "std_error": 0.01})
    ax = plots.evaluation.plot_option("min_leaf", pd.Series([5, 1, 60]), table, "error rate")
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "5", "60"]
    assert not ax.xaxis.get_minorticklocs().size


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
def test_rings_are_round():
    assert simulate.rings().plot().get_aspect() == 1.0


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
def test_sizes_of_a_forest_are_means():
    data = simulate.friedman1().sample(80, seed=1)
    path = odrf.odrf("y ~ .", data, n_trees=5, seed=1).pruning_path()
    (top,) = path.plot().child_axes
    assert top.get_xlabel() == "leaves, mean of the trees"


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
def test_leaves_are_counted_in_whole_numbers():
    data = simulate.friedman1().sample(80, seed=1)
    panels = odrf.odt("y ~ .", data, max_leaves="sqrt", seed=1).consistency().plot()
    ticks = panels[2].get_yticks()
    assert (ticks == ticks.round()).all()


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.usefixtures("closed")
def test_a_surrogate_of_classes_counts_each_row_once():
    data = odrf.load_data("penguins")
    tree = odrf.odrf("species ~ .", data, n_trees=5, seed=1).surrogate(max_leaves=4).tree
    counts = tree.nodes["count"]
    assert counts[0] == len(data) == counts[tree.nodes["leaf"]].sum()


# ------------------------------------------------------------------------------------------------
# Widths of texts.
# ------------------------------------------------------------------------------------------------


def test_a_text_is_measured_in_the_font_of_the_settings():
    widths = []
    for family in ("sans-serif", "monospace", "sans-serif"):
        with plt.rc_context({"font.family": family}):
            widths.append(text_width("illicit millilitres", 10.0))
    assert widths[0] == widths[2] < widths[1]
