"""The most important directions of a forest."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf import InputError as InputErrorPixelImportance
from odrf import Patch
from odrf.engine.trees.forest import joined, node_of_terms
from odrf.errors import InputError
from odrf.reports import importance_tests
from odrf.statistics.importance import (
    direction_importance,
    distinct_directions,
    importance_by_tree,
    impurity_importance,
)
from odrf.statistics.importance_tests import knockoff_values
from problems import problems
from stumps import stump


def test_a_direction_and_its_opposite_are_one():
    trees = [
        stump({0: 0.6, 2: -0.8}, 0.5, gain=1.0),
        stump({2: 0.8, 0: -0.6}, 0.1, gain=0.5),
        stump({0: 0.6, 2: 0.8}, 0.1, gain=0.25),
        stump({1: 1.0}, 0.1, gain=0.125),
    ]
    forest = joined(trees, 4)
    found = distinct_directions(forest)
    number = found.of_node[forest.root[:-1]]
    assert number[0] == number[1]
    assert len(set(number)) == len(found.example) == 3
    importance = direction_importance(forest, found)
    np.testing.assert_allclose(importance[number], [0.375, 0.375, 0.0625, 0.03125])
    by_tree = importance_by_tree(forest, found, number[:1])
    np.testing.assert_allclose(by_tree[:, 0], [1.0, 0.5, 0.0, 0.0])


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_sending_empty_cells_left_or_right_are_two_directions():
    trees = [stump({0: 1.0, 1: -1e31}, 0.5), stump({0: 1.0, 1: 1e31}, 0.5), stump({0: 1.0}, 0.5)]
    forest = joined(trees, 3)
    assert len(set(distinct_directions(forest).of_node[forest.root[:-1]])) == 3


def keys(forest):
    """The direction of each split, slowly."""
    node = node_of_terms(forest)
    found = []
    for i in np.flatnonzero(forest.is_split()):
        terms = sorted(zip(forest.index[node == i], forest.coef[node == i], strict=True))
        sign = 1 if terms[0][1] > 0 else -1
        found.append((int(i), tuple((int(j), round(float(sign * c), 3)) for j, c in terms)))
    return found


@settings(deadline=None)
@given(problems(), st.integers(1, 3))
def test_nodes_share_a_number_if_and_only_if_they_share_a_direction(problem, n_trees):
    forest = problem.but(n_sparse=3).grow(n_trees)
    found = distinct_directions(forest)
    assert (found.of_node[~forest.is_split()] == -1).all()
    of_key = {}
    for i, key in keys(forest):
        of_key.setdefault(key, set()).add(int(found.of_node[i]))
    assert sorted(number for numbers in of_key.values() for number in numbers) == list(
        range(len(found.example))
    )
    total = impurity_importance(forest, problem.feature_groups.first).sum()
    assert direction_importance(forest, found).sum() == pytest.approx(total, abs=1e-12)
    every = np.arange(len(found.example))
    mean = importance_by_tree(forest, found, every).mean(axis=0)
    np.testing.assert_allclose(mean, direction_importance(forest, found), atol=1e-12)


@pytest.fixture(scope="module")
def forest():
    data = odrf.simulate.trunk(p=6).sample(300, seed=1)
    return odrf.odrf("y ~ .", data, projection="sparse", n_trees=60, seed=1)


def test_the_table(forest):
    found = forest.projection_importance(top=5)
    table = found.table
    assert table.index.tolist() == [1, 2, 3, 4, 5]
    assert table["importance"].is_monotonic_decreasing
    assert table["share"].between(0, 1).all()
    assert table["trees"].between(0, 1).all()
    assert (table["splits"] >= 60 * table["trees"] - 1e-9).all()
    assert found.coefficients.shape == (6, 5)
    np.testing.assert_allclose(np.linalg.norm(found.coefficients, axis=0), 1, atol=1e-6)
    assert "x1" in table["direction"].iloc[0]
    every = forest.projection_importance(top=10**6)
    assert every.table["share"].sum() == pytest.approx(1)
    assert "Importance of projections" in str(found.summary())


def test_directions_that_matter_come_again_on_halves_of_the_rows(forest):
    table = forest.projection_importance(top=4, resamples=5).table
    assert table["stability"].between(0, 1).all()
    assert table["stability"].max() >= 0.4
    again = forest.projection_importance(top=4, resamples=5).table
    assert again.equals(table)


def test_a_picture_has_a_cell_for_each_coefficient(forest):
    ax = forest.projection_importance(top=7).plot()
    assert ax.images[0].get_array().shape == (6, 7)
    assert ax.get_yticklabels()[0].get_text() == "x1"


def test_a_tree_without_splits_has_no_directions():
    data = odrf.simulate.trunk(p=3).sample(30, seed=1)
    tree = odrf.odt("y ~ .", data, max_depth=0, seed=1)
    assert tree.projection_importance().table.empty


@pytest.mark.parametrize("arguments", [{"top": 0}, {"resamples": -1}, {"top": 2.5}])
def test_numbers_must_be_whole(forest, arguments):
    with pytest.raises(InputError, match="use a whole number"):
        forest.projection_importance(**arguments)


# ------------------------------------------------------------------------------------------------
# How often splits use each pixel, as a result and drawn.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def closed_figures_of_pixel_importance():
    yield
    plt.close("all")


def images(C=1, H=4, W=5, n=60):
    pixels = np.random.default_rng(1).random((n, C, H, W))
    return odrf.from_images(pixels, pixels[:, -1, 0, :2].sum(axis=1), channel_axis=1)


@pytest.mark.usefixtures("closed_figures_of_pixel_importance")
@pytest.mark.parametrize("projection", ["patch", "sparse", "axis", "logistic"])
def test_counts_are_those_of_the_tables_of_splits(projection):
    data = images()
    forest = odrf.odrf("y ~ .", data, projection=projection, n_trees=6, blend=False, seed=1)
    found = forest.pixel_importance()
    splits = pd.concat([forest.tree(i).splits.assign(tree=i) for i in range(6)])
    counts = splits["column"].value_counts()
    assert found.table.index.tolist() == list(data.columns[:-1])
    assert found.table["count"].tolist() == [counts.get(name, 0) for name in found.table.index]
    assert found.n_splits == splits.groupby("tree")["node"].nunique().sum()
    np.testing.assert_allclose(found.table["share"], found.table["count"] / found.n_splits)


@pytest.mark.usefixtures("closed_figures_of_pixel_importance")
def test_pixels_stand_where_they_are():
    found = odrf.odrf("y ~ .", images(C=3), projection="patch", n_trees=5, seed=1)
    found = found.pixel_importance()
    assert found.images.shape == (3, 4, 5)
    assert tuple(found.table.loc["ch2_r3c1", ["channel", "row", "column"]]) == (2, 3, 1)
    assert found.images[2, 3, 1] == found.table.loc["ch2_r3c1", "share"]


@pytest.mark.usefixtures("closed_figures_of_pixel_importance")
def test_the_pixels_that_matter_are_used_most_and_pruned_splits_do_not_count():
    tree = odrf.odt("y ~ .", images(), projection=Patch(height=(1, 2), width=(1, 2)), seed=1)
    small = tree.prune(leaves=2)
    found = small.pixel_importance()
    assert found.n_splits == 1
    assert found.table["count"].max() == 1
    used = found.table[found.table["count"] > 0]
    assert used["row"].min() == 0 and used["column"].min() <= 1
    root = tree.prune(leaves=1).pixel_importance()
    assert root.n_splits == 0
    assert not root.table["share"].any()


@pytest.mark.usefixtures("closed_figures_of_pixel_importance")
def test_the_shape_is_given_or_known_from_patches_or_data():
    data = images(C=2)
    bare = pd.DataFrame(data)
    bare.attrs.clear()
    assert odrf.odt("y ~ .", data, seed=1).pixel_importance().images.shape == (2, 4, 5)
    tree = odrf.odt("y ~ .", bare, projection=Patch((4, 5), channels=2), seed=1)
    assert tree.pixel_importance().images.shape == (2, 4, 5)
    other = tree.pixel_importance(shape=(2, 20), channels=1)
    assert other.images.shape == (1, 2, 20)
    plain = odrf.odt("y ~ .", bare, seed=1)
    with pytest.raises(
        InputErrorPixelImportance, match="does not know the shape of its images: use"
    ):
        plain.pixel_importance()
    with pytest.raises(
        InputErrorPixelImportance, match=r"shape=\(4, 5\) are 20 pixels, .* 40 predictors: use"
    ):
        plain.pixel_importance(shape=(4, 5))


@pytest.mark.usefixtures("closed_figures_of_pixel_importance")
def test_in_words():
    found = odrf.odt("y ~ .", images(C=2), projection="patch", seed=1).pixel_importance()
    text = str(found.summary())
    assert "4 × 5, 2 channels" in text
    lines = repr(found).split("\n")
    assert lines[1].split() == ["Pixels", "4", "×", "5,", "2", "channels"]
    assert lines[2].split() == ["Splits", str(found.n_splits)]


@pytest.mark.usefixtures("closed_figures_of_pixel_importance")
def test_an_image_for_each_channel_on_one_scale():
    found = odrf.odt("y ~ .", images(C=2), projection="patch", seed=1).pixel_importance()
    panels = found.plot_image()
    assert [ax.get_title() for ax in panels] == ["channel 0", "channel 1"]
    for channel, ax in enumerate(panels):
        (image,) = ax.images
        np.testing.assert_allclose(image.get_array(), found.images[channel])
        assert image.get_clim() == (0, found.images.max())
        assert ax.get_aspect() == 1
    with pytest.raises(InputErrorPixelImportance, match="ax holds 1 axes: 2 are drawn on"):
        found.plot_image(ax=panels[0])


@pytest.mark.usefixtures("closed_figures_of_pixel_importance")
def test_one_image_on_axes_of_ones_own():
    found = odrf.odt("y ~ .", images(), projection="patch", seed=1).pixel_importance()
    _, ax = plt.subplots()
    assert found.plot_image(ax=ax) is ax
    assert ax.images[0].get_array().shape == (4, 5)


@pytest.mark.usefixtures("closed_figures_of_pixel_importance")
@pytest.mark.parametrize("C", [1, 3])
def test_a_series_is_a_curve_and_several_are_lines_of_an_image(C):
    found = odrf.odt("y ~ .", images(C=C, H=1, W=20), projection="patch", seed=1)
    found = found.pixel_importance()
    ax = found.plot_image()
    assert ax.get_xlabel() == "point of the series"
    if C == 1:
        np.testing.assert_allclose(ax.lines[0].get_ydata(), found.images[0, 0])
    else:
        np.testing.assert_allclose(ax.images[0].get_array(), found.images[:, 0])


# ------------------------------------------------------------------------------------------------
# Strength and correlation of forests.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def closed():
    yield
    plt.close("all")


@pytest.mark.usefixtures("closed")
def test_by_number_of_trees(number_forest, class_forest):
    for forest, name in ((number_forest, "tree_error"), (class_forest, "strength")):
        found = forest.strength_correlation()
        assert list(found.table.columns) == ["trees", name, "correlation", "bound", "error"]
        assert found.table["trees"].iloc[-1] == 12
        assert found.by == "trees"
        assert 0 < found.table["correlation"].iloc[-1] < 1
    assert number_forest.strength_correlation().table["error"].iloc[-1] == pytest.approx(
        number_forest.oob_error
    )


@pytest.mark.usefixtures("closed")
def test_more_trees_come_near_the_bound_of_numbers(table):
    forest = odrf.odrf("y ~ a + b", table, n_trees=300, blend=False, seed=1)
    last = forest.strength_correlation().table.iloc[-1]
    assert last["error"] < last["tree_error"]
    assert last["error"] == pytest.approx(last["bound"], rel=0.1)


@pytest.mark.usefixtures("closed")
def test_by_size_of_subsets(table):
    forest = odrf.odrf("c ~ a + b + f", table, n_trees=20, seed=1)
    found = forest.strength_correlation(subset_sizes=[1, 3])
    assert found.table["subset_size"].tolist() == ["random", 1, 3]
    assert found.by == "subset_size"
    fixed = odrf.odrf("c ~ a + b + f", table, n_trees=20, subset_size=3, seed=1)
    alone = fixed.strength_correlation().table.iloc[-1]
    np.testing.assert_allclose(found.table.iloc[2, 1:].astype(float), alone.iloc[1:].astype(float))


@pytest.mark.usefixtures("closed")
def test_summary_and_drawing(class_forest, number_forest):
    assert "mean margin" in str(class_forest.strength_correlation().summary())
    assert "section 11" in str(number_forest.strength_correlation().summary())
    panels = class_forest.strength_correlation().plot()
    assert [len(panel.lines) >= 1 for panel in panels] == [True] * 3
    panels = class_forest.strength_correlation([1, 2]).plot()
    assert [text.get_text() for text in panels[0].get_xticklabels()] == ["random", "1", "2"]
    with pytest.raises(InputErrorPixelImportance, match="ax holds 1 axes"):
        class_forest.strength_correlation().plot(ax=plt.subplots()[1])
    assert repr(class_forest.strength_correlation()).startswith("Strength and correlation by trees")


@pytest.mark.usefixtures("closed")
def test_bad_requests(table, class_forest):
    with pytest.raises(InputErrorPixelImportance, match="needs at least 2 trees"):
        odrf.odrf("y ~ a", table, n_trees=1, seed=1).strength_correlation()
    with pytest.raises(InputErrorPixelImportance, match='resample="none" leaves none'):
        odrf.odrf("y ~ a", table, n_trees=3, resample="none", seed=1).strength_correlation()
    with pytest.raises(InputErrorPixelImportance, match="subset_size=9 is above"):
        class_forest.strength_correlation([9])


@pytest.mark.usefixtures("closed")
def test_a_bound_of_infinity_has_a_reason():
    data = pd.DataFrame({"a": range(30), "y": ["u", "v"] * 15})  # a row is unlike its neighbours
    found = odrf.odrf("y ~ a", data, n_trees=12, blend=False, seed=1).strength_correlation()
    assert found.table["strength"].iloc[-1] <= 0 and np.isinf(found.table["bound"].iloc[-1])
    assert "bound is inf where strength is not above 0" in str(found.summary())


@pytest.mark.usefixtures("closed")
def test_without_rows_out_of_bag_it_is_unknown():
    data = pd.DataFrame({"a": range(6), "y": ["u", "v"] * 3})
    fit = odrf.odrf("y ~ a", data, n_trees=3, order=list(range(6)), seed=3)
    found = fit.strength_correlation()
    assert found.table["strength"].isna().all()
    assert "Unknown where too few rows" in str(found.summary())
    shown = str(fit.summary())
    assert "unknown (no row of positive weight is out of bag)" in shown
    assert "Confusion" not in shown


# ------------------------------------------------------------------------------------------------
# What is said if knockoffs select no predictor.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("differences", "advice"),
    [
        ([3.0, 2.0, 1.0, -0.5], "use a larger one, such as the smallest"),
        ([1.0, -2.0], "nor at a larger one"),
    ],
)
def test_a_larger_rate_is_advised_only_if_there_is_one(monkeypatch, differences, advice):
    W = pd.Series(differences)
    names = [f"x{j}" for j in range(len(W))]
    table = pd.DataFrame(
        {"term": names, "estimate": W, "p_adjusted": knockoff_values(W.to_numpy())}
    )
    monkeypatch.setattr(importance_tests, "knockoff_table", lambda fit: table)
    fit = SimpleNamespace(design=SimpleNamespace(predictors=names), call="")
    found = importance_tests.KnockoffSelection(fit, 0.1, lambda fit: fit)
    with pytest.raises(InputError, match=advice):
        found.best()
