"""Every plot can be read, with few and many predictors, long names and ten classes."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf
from legible import faint_texts, faults_of
from odrf.reports.checks import PLOTS
from shown import MANY, SIZES, data_with, reports_of, results_of, studies_of

pytestmark = [
    pytest.mark.filterwarnings("error"),
    # of an old matplotlib beside a new pyparsing
    pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning"),
]

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


@pytest.mark.parametrize("size", [(4.5, 3.0), (2.0, 1.5)])
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_trees_in_small_axes(size, kind):
    _, ax = plt.subplots(figsize=size)
    results_of(MANY)[f"tree of {kind}"].plot(ax=ax)
    assert faults_of(ax.figure) == []


@pytest.mark.parametrize("height", [1.6, 2.4])
def test_labels_of_low_figures(height):
    reports = reports_of(MANY)
    for name in ("pruning path of numbers", "forest path of classes", "elimination for numbers"):
        _, ax = plt.subplots(figsize=(5, height), layout="constrained")
        reports[name].plot(ax=ax)
        assert faults_of(ax.figure) == [], name


def test_one_direction_and_no_direction():
    data = odrf.load_data("diabetes")
    stump = odrf.odt("progression ~ bmi", data, max_leaves=2, seed=1)
    assert faults_of(stump.projection_importance().plot().figure) == []
    root = odrf.odt("progression ~ bmi", data, max_leaves=1, seed=1)
    ax = root.projection_importance().plot()
    assert [text.get_text() for text in ax.texts] == ["no splits"]


def test_only_columns_of_the_directions_are_drawn():
    importance = results_of(MANY)["forest of numbers"].projection_importance(top=3)
    taking_part = (importance.coefficients != 0).any(axis=1).sum()
    assert len(importance.plot().get_yticklabels()) == min(taking_part, 40) < MANY


@pytest.mark.parametrize(
    "name", ["friedman1", "friedman2", "rings", "trunk", "impulse", "orthant", "circle", "bars"]
)
def test_simulated_problems(name):
    ax = getattr(odrf.simulate, name)().plot()
    assert faults_of(ax.figure) == []


@pytest.mark.parametrize("problem", ["impulse", "circle"])
def test_pixels(problem):
    data = getattr(odrf.simulate, problem)().sample(60, seed=1)
    pixels = odrf.odrf("y ~ .", data, n_trees=3, seed=1).pixel_importance()
    assert faults_of(pixels.plot_image().figure) == []
    repr(pixels), pixels._repr_html_()
