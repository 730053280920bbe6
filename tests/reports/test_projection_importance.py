"""The most important directions of a forest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf.engine.trees.forest import joined
from odrf.errors import InputError
from odrf.statistics.importance import (
    direction_importance,
    distinct_directions,
    importance_by_tree,
    impurity_importance,
)
from odrf.text.splits import node_of_terms
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
