"""Plots of one point, of infinite, missing, equal and very large values, and of odd names."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from legible import faults_of
from odrf import plots
from odrf.errors import InputError
from odrf.plots.style import PlainNumbers, draw_panels
from odrf.statistics.curves import VariablePoints

pytestmark = pytest.mark.filterwarnings("error")

ONE = VariablePoints("age", np.array([40.0]), True, np.array([39.0, 41]))
AGES = VariablePoints("age", np.array([20.0, 40, 60]), True, np.array([21.0, 39, 58]))
MANY = VariablePoints("town", np.array([f"town {k}" for k in range(30)]), False, np.arange(30.0))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def legend_of(ax):
    return [text.get_text().strip() for text in ax.get_legend().get_texts()]


def estimates(*rows):
    return pd.DataFrame(rows, columns=["estimate", "conf_low", "conf_high"])


@pytest.mark.parametrize("at", [(1234567, 1234568), (1e12, 1e12 + 1), (0.5, 0.5 + 1e-10)])
def test_different_ticks_have_different_numbers(at):
    numbers = PlainNumbers()
    numbers.set_locs(at)
    assert len({numbers(x) for x in at}) == 2


def test_negative_losses_are_seen():
    path = pd.DataFrame({"training": [0.5, -1.0, -2.0], "validation": [0.6, -0.5, -1.0]})
    low, high = plots.fits.plot_loss(path, 2, "weibull").get_ylim()
    assert low < -2
    assert high > 0.6


def test_infinite_estimates_and_ends_are_at_the_edge():
    table = estimates((1.0, 0.5, 2.0), (np.inf, np.nan, np.nan), (1.5, 0.5, np.inf))
    ax = plots.effects.plot_effects(pd.DataFrame({"term": ["a", "b", "c"]}), table, "ratios", 1.0)
    low, high = ax.get_xlim()
    assert low < 0.5 and 2 < high < 3
    (arrow,) = (line for line in ax.lines if line.get_marker() == ">" and len(line.get_xdata()))
    assert arrow.get_xydata().tolist() == [[high, 1]]
    drawn = [part for lines in ax.collections for part in lines.get_segments() if len(part)]
    ends = [part[:, 0].tolist() for part in drawn]
    assert [0.5, 2.0] in ends and [0.5, high] in ends


def test_labels_of_estimates_are_numbers_without_errors_of_rounding():
    labels = pd.DataFrame({"term": "a", "bmi": [0.1 + 0.2, np.nan]})
    ax = plots.effects.plot_effects(labels, estimates((1.0, 0, 2), (2.0, 1, 3)), "slopes")
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["bmi = 0.3", "bmi = missing"]


def test_a_band_at_one_point_is_seen():
    middle = np.array([2.0])
    curve = [middle, middle - 1, middle + 1, middle - 2, middle + 2]
    ax = plots.curves.plot_effect(ONE, {"mean": curve}, "prediction")
    drawn = [lines.get_segments()[0][:, 1].tolist() for lines in ax.collections]
    assert drawn == [[0, 4], [1, 3]]


def test_a_tree_of_one_leaf_has_room_on_the_axis_of_its_size():
    table = pd.DataFrame({"leaves": [1], "train": 0.1, "test": 0.2, "std_error": 0.1})
    ax = plots.pruning.plot_growth(table, "leaves", 0, "smallest", 1, "error", "rows out of bag")
    assert ax.get_xlim() == (0.5, 2.0)


def test_areas_below_chance_are_on_the_axes():
    table = pd.DataFrame({"auc": [0.2], "conf_low": np.nan, "conf_high": np.nan}, index=[1.0])
    assert plots.survival.plot_areas_along_time(table, 1.0).get_ylim()[0] < 0.2


def test_a_decision_curve_without_benefit():
    benefit = pd.DataFrame({"class": "a", "threshold": [0.1, 0.5], "benefit": 0.0, "all": -1.0})
    low, high = plots.checks.plot_benefit(benefit).get_ylim()
    assert low < 0 < high


def test_the_area_below_precision_is_the_average_precision():
    thresholds = pd.DataFrame(
        {"class": "a", "sensitivity": [0.5, 1], "specificity": [1, 0.0], "precision": [1, 0.1]}
    )
    average = ("a", "average precision", 0.55, np.nan, np.nan)
    columns = ["class", "measure", "estimate", "conf_low", "conf_high"]
    ax = plots.checks.plot_thresholds(
        thresholds, pd.DataFrame([average], columns=columns), "precision"
    )
    (line,) = ax.lines
    assert line.get_drawstyle() == "steps-pre"  # each step is as high as its right end
    assert np.isclose(np.sum(np.diff(line.get_xdata()) * line.get_ydata()[1:]), 0.55)


def test_values_of_an_option_far_apart_are_each_a_number():
    table = pd.DataFrame({"error": [0.2, 0.3, 0.4], "std_error": 0.01})
    ax = plots.evaluation.plot_option("min_leaf", pd.Series([5, 1, 600]), table, "error rate")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "5", "600"]
    ax = plots.evaluation.plot_option(
        "l2", pd.Series([0, 1, 2]), table, "error rate", plt.subplots()[1]
    )
    assert faults_of(ax.figure) == []


def test_errors_of_0_are_drawn_on_a_linear_axis():
    index = pd.MultiIndex.from_product([["_a", "b"], [10, 20]], names=["model", "n"])
    table = pd.DataFrame({"error": [0.2, 0.0, 0.3, 0.1], "std_error": 0.01}, index=index)
    law = pd.DataFrame({"n": [10, 200], "error": [0.2, 0.1], "conf_low": 0.0, "conf_high": 0.3})
    ax = plots.evaluation.plot_learning(table, {"_a": law, "b": law}, "error rate")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    assert {"_a", "b"} <= set(legend_of(ax))


def test_names_that_begin_with_an_underscore_are_in_legends():
    at = np.linspace(0, 1, 5)
    assert legend_of(plots.checks.plot_maps(at, {"_a": at, "b": at})) == ["_a", "b"]
    rows = pd.DataFrame({"first": [0.0, 1], "second": [0.0, 1], "y": ["_a", "b"]})
    assert legend_of(plots.proximity.plot_row_map(rows, "y", ["_a", "b"], (0.5, 0.3))) == [
        "_a",
        "b",
    ]
    curves = {"_a": [at[1:]] * 5}
    assert legend_of(plots.survival.plot_survival_bands(at[1:], curves)) == ["_a"]


def test_names_of_several_lines_are_in_one():
    ax = plots.importance.plot_importance(pd.Series([1.0, 0.5], index=["a\nb", ""]), "share")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a b", ""]
    assert faults_of(ax.figure) == []


def test_legends_of_many_names_stay_on_the_figure():
    names = [f"class {k}" for k in range(30)]
    rows = pd.DataFrame({"first": np.arange(30.0), "second": np.arange(30.0), "y": names})
    assert faults_of(plots.proximity.plot_row_map(rows, "y", names, (0.5, 0.3)).figure) == []


def test_rows_without_the_colouring_value_are_grey_and_further_levels_are_counted():
    curves = np.arange(6.0).reshape(2, 3)
    ax = plots.curves.plot_individual(AGES, curves, "y", pd.Series([1.0, np.nan], name="bmi"))
    lines = ax.collections[0]
    lines.update_scalarmappable()
    assert lines.get_edgecolor()[1, 3] > 0
    towns = pd.Series([f"town {k}" for k in range(14)] + [None], name="town")
    ax = plots.curves.plot_individual(AGES, np.zeros((15, 3)), "y", towns)
    assert legend_of(ax)[-2:] == ["and 2 more", "empty"]


def test_thirty_levels_do_not_overlap():
    assert faults_of(plots.curves.plot_individual(MANY, np.zeros((2, 30)), "y", None).figure) == []
    surface = np.arange(900.0).reshape(30, 30)
    ax = plots.curves.plot_effect_surface(MANY, MANY, surface, np.ones((30, 30), dtype=int), "y")
    assert faults_of(ax.figure) == []


def test_only_ranked_terms_have_a_bar_of_colours():
    towns = pd.DataFrame({"town": ["x", "y"]})
    assert len(plots.shapley.plot_shapley_swarm(towns, np.zeros((2, 1)), "y").figure.axes) == 1
    ages = towns.assign(age=[20.0, 30.0])[["age", "town"]]
    assert len(plots.shapley.plot_shapley_swarm(ages, np.zeros((2, 2)), "y").figure.axes) == 2


def test_a_level_called_empty_is_no_empty_cell():
    column = pd.Series(["empty", None], name="state")
    ax = plots.shapley.plot_shapley_term(column, np.array([1.0, 2]), "y")
    assert {label.get_text() for label in ax.get_yticklabels()} == {"empty", "(empty)"}


@pytest.mark.parametrize("sizes", [[3, 1, 9], ["random", 3, 1]])
def test_sizes_of_subsets_rise(sizes):
    table = pd.DataFrame(
        {"subset_size": sizes, "strength": 0.5, "correlation": 0.2, "bound": 0.4, "error": 0.1}
    )
    ax = plots.fits.plot_strength(table)[0]
    rising = [
        str(size) for size in sorted(sizes, key=lambda size: -1 if size == "random" else size)
    ]
    assert [label.get_text() for label in ax.get_xticklabels()] == rising


def test_at_most_forty_directions_and_regions_are_drawn_and_it_is_said():
    coefficients = pd.DataFrame(np.ones((2, 50)), columns=range(1, 51))
    ax = plots.importance.plot_projections(coefficients, pd.Series(np.full(50, 0.02)))
    assert len(ax.get_xticklabels()) == 40
    assert "first 40 of 50" in ax.get_xlabel()
    coverage = pd.DataFrame({"region": map(str, range(50)), "coverage": 0.9})
    coverage = coverage.assign(conf_low=0.8, conf_high=1.0)
    ax = plots.checks.plot_check(pd.DataFrame(), coverage, 0.9, "coverage")
    assert "first 40 of 50 regions" in " ".join(ax.get_xlabel().split())


def test_no_figure_stays_open_if_a_plot_cannot_be_drawn():
    def refused(panel):
        raise InputError("no importances")

    with pytest.raises(InputError):
        draw_panels({"error": lambda panel: panel.plot([1]), "importance": refused}, None, None)
    assert plt.get_fignums() == []
