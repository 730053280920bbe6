"""Curves over a variable: levels of a factor are named, rows with an empty cell stand apart."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from odrf.plots.curves import plot_effect, plot_effect_surface, plot_individual
from odrf.plots.shapley import plot_shapley_term
from odrf.statistics.curves import VariablePoints

LEVELS = VariablePoints("plan", np.array(["basic", "$2 & more"]), False, np.array([0.0, 1, 1]))
NUMBER = VariablePoints("age", np.array([20.0, 40, 60]), True, np.array([21.0, 39, 58]))


def words_of(labels):
    return [label.get_text() for label in labels]


def five(*estimate, ends=1.0):
    middle = np.array(estimate)
    return [middle, middle - ends, middle + ends, middle - 2 * ends, middle + 2 * ends]


@pytest.mark.parametrize("given", [True, False])
def test_levels_are_rows_the_first_on_top(given):
    ax = plt.subplots()[1] if given else None
    drawn = plot_effect(LEVELS, {"mean": five(1.0, 3.0)}, "prediction", ax)
    assert ax is None or drawn is ax
    assert words_of(drawn.get_yticklabels()) == ["basic", "$2 & more"]
    (points,) = drawn.lines
    assert (points.get_xdata().tolist(), points.get_ydata().tolist()) == ([1, 3], [1, 0])
    bands = [lines.get_segments() for lines in drawn.collections]
    assert [band[0][:, 0].tolist() for band in bands] == [[-1, 3], [0, 2]]
    assert drawn.get_legend() is None


def test_curves_of_several_classes_over_levels_have_a_legend_and_do_not_meet():
    unknown = five(1.0, 3.0, ends=np.nan)
    ax = plot_effect(LEVELS, {"a": unknown, "b": unknown}, "probability")
    assert words_of(ax.get_legend().get_texts()) == ["a", "b"]
    assert not ax.collections
    first, second = (line.get_ydata() for line in ax.lines[:2])
    assert (first > second).all()


def test_one_point_and_many_rows():
    one = VariablePoints("age", np.array([40.0]), True, np.linspace(0, 80, 1000))
    ax = plot_effect(one, {"mean": five(2.0)}, "prediction", plt.subplots()[1])
    assert ax.lines[0].get_xydata().tolist() == [[40.0, 2.0]]
    assert 0 < len(ax.lines[-1].get_xdata()) < 1000


def test_rows_over_levels_are_lines_between_named_places():
    curves = np.array([[1.0, 2], [3, 6]])
    ax = plot_individual(LEVELS, curves, "prediction", None, plt.subplots()[1])
    assert words_of(ax.get_xticklabels()) == ["basic", "$2 & more"]
    assert not any(label.get_parse_math() for label in ax.get_xticklabels())
    assert ax.lines[0].get_ydata().tolist() == [2, 4]


def test_a_surface_over_two_factors_names_both():
    rows = np.array([[4, 0], [2, 3]])
    ax = plot_effect_surface(
        LEVELS, LEVELS, np.array([[1.0, 2], [3, 4]]), rows, "y", plt.subplots()[1]
    )
    assert words_of(ax.get_xticklabels()) == words_of(ax.get_yticklabels()) == list(LEVELS.values)
    mesh, hatched = ax.collections[:2]
    assert mesh.get_array().tolist() == [[1, 3], [2, 4]]
    (box,) = (path.get_extents() for path in hatched.get_paths())
    assert box.bounds == (-0.5, 0.5, 1, 1)


def test_a_surface_of_one_point_is_as_wide_as_others():
    one = VariablePoints("age", np.array([40.0]), True, np.array([39.0]))
    ax = plot_effect_surface(one, NUMBER, np.ones((1, 3)), np.ones((1, 3), dtype=int), "y")
    assert ax.get_xlim() == (39.5, 40.5)
    assert ax.get_ylim() == (10, 70)


def test_empty_cells_of_a_number_stand_left_of_it():
    column = pd.Series([1.0, np.nan, 3.0], name="age")
    ax = plot_shapley_term(column, np.array([0.5, -1, 2]), "predictions", plt.subplots()[1])
    _, known, empty = ax.lines
    assert known.get_xydata().tolist() == [[1, 0.5], [3, 2]]
    assert empty.get_ydata().tolist() == [-1]
    assert empty.get_xdata()[0] < 1
    assert words_of(ax.get_legend().get_texts()) == [empty.get_label()]


def test_dates_are_dates():
    column = pd.Series(pd.to_datetime(["2024-01-01", "2024-03-01"]), name="day")
    ax = plot_shapley_term(column, np.array([1.0, 2]), "predictions", plt.subplots()[1])
    assert np.array(ax.lines[1].get_xdata()).astype("datetime64[D]").astype(str).tolist() == [
        "2024-01-01",
        "2024-03-01",
    ]


def test_ordered_levels_stand_in_their_order_and_only_the_most_frequent():
    sizes = pd.Series(
        pd.Categorical(["low", "top", "top", None], ["low", "top"], ordered=True), name="size"
    )
    ax = plot_shapley_term(sizes, np.arange(4.0), "predictions")
    assert words_of(ax.get_yticklabels())[:2] == ["low", "top"]
    assert len(ax.get_yticklabels()) == 3
    many = pd.Series([f"level {i}" for i in range(25)], name="many")
    ax = plot_shapley_term(many, np.arange(25.0), "predictions")
    assert len(ax.get_yticklabels()) == 20
    assert "the 20 most frequent levels" in ax.get_xlabel()
