"""Curves over a variable: levels of a factor are named, rows with a missing value stand apart."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.plots.curves import plot_effect, plot_effect_surface, plot_individual
from odrf.plots.evaluation import groups_alike, plot_ranks
from odrf.plots.pruning import plot_growth
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


# ------------------------------------------------------------------------------------------------
# Critical-difference diagrams.
# ------------------------------------------------------------------------------------------------


RANKS = pd.Series([2.4, 1.0, 4.0, 1.5], list("cadb"))


def test_bars_join_ranks_within_the_difference():
    assert groups_alike(RANKS, 1.0) == [(1.0, 1.5), (1.5, 2.4)]
    assert groups_alike(RANKS, 1.5) == [(1.0, 2.4)]
    assert groups_alike(RANKS, 0.1) == []
    assert groups_alike(RANKS, 9.0) == [(1.0, 4.0)]


def test_the_diagram_shows_ranks_bars_and_the_difference():
    ax = plot_ranks(RANKS, 1.0, base="b")
    words = [text.get_text() for text in ax.texts]
    for label in ("a  1.00", "b  1.50", "2.40  c", "4.00  d", "critical difference 1.00"):
        assert any(label in text for text in words)
    (highlighted,) = [text for text in ax.texts if text.get_fontweight() == "bold"]
    assert "b" in highlighted.get_text()
    bars = [tuple(line.get_xdata()) for line in ax.lines if line.get_linewidth() > 4]
    assert bars == [(1.0, 1.5), (1.5, 2.4)]


def test_labels_do_not_meet():
    ax = plot_ranks(pd.Series(np.linspace(1, 9, 9), list("abcdefghi")), 2.0)
    rows = [(text.get_ha(), text.get_position()[1]) for text in ax.texts if "  " in text.get_text()]
    assert len(set(rows)) == 9
    assert min(row for _, row in rows) > ax.get_ylim()[0]


@pytest.mark.parametrize("difference", [0.3, 3.0])
def test_two_methods_and_a_difference_beyond_the_scale(difference):
    ax = plot_ranks(pd.Series([1.2, 1.8], ["a", "b"]), difference)
    assert ax.get_xlim()[1] >= 1 + difference


def test_given_axes():
    given = plt.subplots()[1]
    assert plot_ranks(RANKS, 1.0, ax=given) is given
    assert len(plt.get_fignums()) == 1


# ------------------------------------------------------------------------------------------------
# Drawings of pruning paths show the table they are of.
# ------------------------------------------------------------------------------------------------


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
    assert len(every.get_ydata()) == tree.n_leaves
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
