"""Candidates of a node: how they are drawn, feature groups that stay together, factors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import BASIS, INDICATORS, PLAIN, feature_groups_of
from odrf.engine.directions.subsets import draw_classes, draw_up_to
from odrf.engine.directions.subsets import draw_subset_size as drawn_size
from odrf.engine.numeric import streams
from odrf.engine.resamples import draw_counts, estimation_counts
from odrf.engine.splits.impurity import ENTROPY, GINI, SQUARED_ERROR
from odrf.engine.trees.routing import leaf_nodes
from odrf.projections.mixture import Mixture, Share
from odrf.projections.regression import LDA, LEAST_SQUARES, LOGISTIC
from odrf.projections.rotation import PrincipalComponents, Rotated, Rotation, draw_rotation
from problems import cart, grow_one, indicators, plain, problems
from reference.impurity import gain
from reference.randomness import largest_subset


@kernel
def draw_subset_size(state, rows, subset_size, n_predictors):
    """Call what only kernels can call."""
    return drawn_size(state, rows, subset_size, n_predictors)


def roots(problem, n_trees=3000):
    """Return the columns of the root's split in many trees of one split each."""
    forest = problem.but(max_leaves=2).grow(n_trees)
    return [forest.tree(b).index.tolist() for b in range(n_trees)]


def noise(n, p, **settings):
    rng = np.random.default_rng(5)
    return plain(rng.random((p, n)), rng.normal(size=n), **settings)


@pytest.mark.parametrize("rows", [1, 2, 31, 32, 33, 242, 243, 244, 1024, 3125, 7776, 10**10])
def test_the_largest_size_is_exact_at_perfect_powers(rows):
    state = streams(0, 0, 1)[0]
    expected = largest_subset(rows) if rows < 10**10 else 10**4
    sizes = [draw_subset_size(state, rows, 0, 10**6) for _ in range(40 * min(expected, 100))]
    assert max(sizes) <= expected
    assert rows > 10**4 or max(sizes) == expected
    assert max(draw_subset_size(state, rows, 0, 3) for _ in range(99)) == min(expected, 3)
    assert draw_subset_size(state, rows, 7, 10) == 7


def test_sizes_are_uniform_up_to_the_power_of_32_rows():
    sizes = Counter(len(columns) for columns in roots(noise(32, 6, n_singles=0, n_projections=1)))
    assert sorted(sizes) == [1, 2, 3, 4]
    assert chisquare(list(sizes.values())).pvalue > 0.001


def test_sizes_are_uniform_up_to_the_number_of_predictors():
    sizes = Counter(len(columns) for columns in roots(noise(300, 3, n_singles=0, n_projections=1)))
    assert sorted(sizes) == [1, 2, 3]
    assert chisquare(list(sizes.values())).pvalue > 0.001


def test_subsets_of_a_size_are_equally_likely():
    problem = noise(30, 5, n_singles=0, n_projections=1, subset_size=2)
    pairs = Counter(tuple(sorted(columns)) for columns in roots(problem))
    assert sorted(pairs) == list(combinations(range(5), 2))
    assert chisquare(list(pairs.values())).pvalue > 0.001


def test_singles_are_equally_likely():
    columns = Counter(columns[0] for columns in roots(noise(30, 5, n_singles=1)))
    assert sorted(columns) == [0, 1, 2, 3, 4]
    assert chisquare(list(columns.values())).pvalue > 0.001


def test_one_class_or_a_group_is_set_apart():
    state = streams(6, 0, 1)[0]
    y, a = np.array([0.0, 1.0, 1.0, 3.0]), np.array([5.0, 1.0, 2.0, 2.0])
    chosen, weight, draws = np.empty(4, dtype=bool), np.empty(4), Counter()
    for _ in range(12_000):
        assert draw_classes(state, y, a, 4, weight, chosen)
        draws[tuple(chosen.tolist())] += 1
    # Half the time a class by weight (.5, .3, .2), half any of six proper groups, never class 2.
    chances = {}
    for group in product([False, True], repeat=3):
        if 0 < sum(group) < 3:
            by_weight = np.dot(group, [0.5, 0.3, 0.2]) if sum(group) == 1 else 0.0
            chances[group[0], group[1], False, group[2]] = by_weight / 2 + 1 / 12
    assert draws.keys() == chances.keys()
    expected = 12_000 * np.array(list(chances.values()))
    assert chisquare([draws[group] for group in chances], expected).pvalue > 0.001


@pytest.mark.parametrize("y", [[0, 3, 3], [1, 0, 1]])
def test_of_two_classes_the_second_is_set_apart_without_a_draw(y):
    state = streams(6, 0, 1)[0]
    before = state.copy()
    chosen = np.empty(4, dtype=bool)
    assert draw_classes(state, np.array(y, dtype=float), np.ones(3), 3, np.empty(4), chosen)
    assert np.flatnonzero(chosen).tolist() == [max(y)]
    assert (state == before).all()


def test_ordered_classes_are_parted_where_they_are_most_impure():
    state = streams(6, 0, 1)[0]
    y, a = np.array([0.0, 1.0, 1.0, 3.0]), np.array([5.0, 1.0, 2.0, 2.0])
    chosen, weight, draws = np.empty(5, dtype=bool), np.empty(5), Counter()
    for _ in range(12_000):
        assert draw_up_to(state, y, a, 4, weight, chosen)
        draws[int(chosen.sum())] += 1
        assert chosen[: chosen.sum()].all()
    # F = .5, .8, .8, 1, 1: up to class 1 and up to class 2 part the rows alike.
    expected = np.array([0.25, 0.16, 0.16]) / 0.57
    assert sorted(draws) == [1, 2, 3]
    assert chisquare([draws[k] for k in (1, 2, 3)], 12_000 * expected).pvalue > 0.001
    assert not draw_up_to(state, np.full(3, 2.0), np.ones(3), 3, weight, chosen)


def mixed(n, **settings):
    """A plain predictor, a factor of three levels, a basis of two columns."""
    rng = np.random.default_rng(7)
    grid = rng.random(n)
    X = np.vstack([rng.random((1, n)), indicators(rng.integers(0, 3, n), 3), [grid, grid**2]])
    feature_groups = feature_groups_of(
        np.array([0, 1, 4, 6]), np.array([PLAIN, INDICATORS, BASIS], dtype=np.int8)
    )
    return cart(X, rng.normal(size=n), feature_groups, **settings)


def test_the_columns_of_a_predictor_move_together():
    predictors = [{0}, {1, 2, 3}, {4, 5}]
    for columns in roots(mixed(200, n_singles=0, n_projections=2, subset_size=2), 200):
        assert len(columns) == len(set(columns))
        whole = sum(block <= set(columns) for block in predictors)
        # a factor is left out where its levels differ by no more than chance
        assert whole == 2 or (whole == 1 and predictors[1].isdisjoint(columns))
        assert whole == sum(not block.isdisjoint(columns) for block in predictors)
    for columns in roots(mixed(200, n_singles=2), 200):
        assert set(columns) in predictors


@pytest.mark.parametrize("family", [LOGISTIC, LEAST_SQUARES, LDA])
def test_stored_coefficients_are_not_zero(family):
    """Also where a chosen column is constant or a level has no row in the node."""
    rng = np.random.default_rng(8)
    levels = rng.integers(0, 3, 60)
    X = np.vstack([rng.random((2, 60)), np.zeros((1, 60)), indicators(levels, 4)])
    feature_groups = feature_groups_of(
        np.array([0, 1, 2, 3, 7]), np.array([0, 0, 0, INDICATORS], dtype=np.int8)
    )
    y = (X[0] + levels / 3 + rng.normal(size=60) / 5 > 1).astype(float)
    problem = cart(
        X, y, feature_groups, criterion=GINI, n_classes=2, family=family, n_projections=6
    )
    forest = problem.grow(20)
    assert (forest.coef != 0).all()


@settings(deadline=None)
@given(
    n_levels=st.integers(2, 6),
    n=st.integers(2, 40),
    criterion=st.sampled_from([SQUARED_ERROR, GINI, ENTROPY]),
    seed=st.integers(0, 2**32),
)
def test_a_factor_is_split_into_the_best_of_all_its_partitions(n_levels, n, criterion, seed):
    rng = np.random.default_rng(seed)
    levels, w = rng.integers(0, n_levels, n), rng.uniform(0.2, 2.0, n)
    y = rng.normal(size=n) if criterion == SQUARED_ERROR else rng.integers(0, 2, n).astype(float)
    feature_groups = feature_groups_of(
        np.array([0, n_levels]), np.array([INDICATORS], dtype=np.int8)
    )
    n_classes = 1 if criterion == SQUARED_ERROR else 2
    tree = cart(
        indicators(levels, n_levels), y, feature_groups, w,
        criterion=criterion, n_classes=n_classes, max_leaves=2,
    ).grow()  # fmt: skip

    sides = [np.array(side)[levels] for side in product([False, True], repeat=n_levels)]
    gains = [gain(y, w, side, criterion) for side in sides if side.any() and not side.all()]
    assert tree.gain[0] == pytest.approx(max([0.0, *gains]), rel=1e-9, abs=1e-12)


# ------------------------------------------------------------------------------------------------
# A tree on rotated columns is the tree of the table rotated beforehand, and routes rows alike.
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given(Rotated):
    """A matrix that is known beforehand."""

    rows: tuple[tuple[float, ...], ...]

    def n_default(self, table):
        return table.p

    def rotation(self, state, rows, settings):
        return np.array(self.rows, dtype=np.float32)


def orthogonal(p, zeros):
    matrix = np.zeros((p, p))
    for columns in np.array_split(np.random.default_rng(p).permutation(p), 2 if zeros else 1):
        block = np.empty((len(columns), len(columns)))
        draw_rotation(streams(5, 0, 1)[0], block)
        matrix[np.ix_(columns, columns)] = block
    return matrix.astype(np.float32)


def product_of_rotated_columns(X, matrix):
    """X rotated: term by term, in float32, in the order of the columns."""
    out = np.zeros_like(X)
    for j, row in enumerate(out):
        for coefficient, column in zip(matrix[:, j], X, strict=True):
            row += coefficient * column
    return out


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("zeros", [True, False])
@settings(max_examples=30, deadline=None)
@given(problem=problems(max_rows=72))
def test_it_is_the_tree_of_the_table_that_was_rotated_beforehand(zeros, copied, problem):
    p = len(problem.X)
    matrix = orthogonal(p, zeros)
    n_singles = 1 + problem.seed % p
    beforehand = plain(product_of_rotated_columns(problem.X, matrix), problem.y, problem.weights)
    recipe = problem.settings._replace(n_singles=n_singles, n_sparse=0, n_projections=0)
    beforehand = replace(beforehand, settings=recipe, sampling=problem.sampling, seed=problem.seed)
    mixture = Mixture((Share(Given(tuple(map(tuple, matrix.tolist()))), n_singles),))
    trees = []
    for one, tried in ((problem, mixture), (beforehand, recipe.mixture)):
        data = one.X, one.y, one.weights, one.feature_groups, one.sampling
        trees.append(grow_one(*data, recipe.settings, tried, problem.streams()[0], copied))
    rotated, expected = trees
    for name in ("left", "threshold", "value", "gain", "order", "weight"):
        assert getattr(rotated, name).tobytes() == getattr(expected, name).tobytes(), name
    splits = np.flatnonzero(np.diff(expected.start))
    assert (np.diff(rotated.start) > 0).tolist() == (np.diff(expected.start) > 0).tolist()
    for node, column in zip(splits, expected.index, strict=True):
        at = slice(rotated.start[node], rotated.start[node + 1])
        kept = np.flatnonzero(matrix[:, column])
        assert rotated.index[at].tolist() == kept.tolist()
        assert rotated.coef[at].tobytes() == matrix[kept, column].tobytes()


@pytest.mark.parametrize("family", [Rotation(), PrincipalComponents()])
@settings(max_examples=40, deadline=None)
@given(problem=problems(max_rows=72))
def test_every_row_ends_where_it_was_in_growth(family, problem):
    mixture = Mixture((Share(family, len(problem.X)),))
    state = problem.streams()[0]
    data = problem.X, problem.y, problem.weights, problem.feature_groups, problem.sampling
    tree = grow_one(*data, problem.settings.settings, mixture, state, True)
    counts = draw_counts(problem.streams()[0], problem.weights, problem.sampling)
    leaves = leaf_nodes(tree, problem.X, 1)[:, 0]
    reached = np.bincount(leaves, counts, minlength=len(tree.left))
    ends = tree.left < 0
    assert reached[ends].tolist() == tree.count[ends].tolist()


@pytest.mark.parametrize("family", [Rotation(), PrincipalComponents()])
@settings(max_examples=40, deadline=None)
@given(problem=problems(max_rows=72))
def test_rows_that_fill_an_honest_tree_end_where_they_were_counted(family, problem):
    mixture = Mixture((Share(family, len(problem.X)),))
    sampling = problem.sampling._replace(honest=True)
    data = problem.X, problem.y, problem.weights, problem.feature_groups, sampling
    tree = grow_one(*data, problem.settings.settings, mixture, problem.streams()[0], True)
    counts = estimation_counts(problem.streams()[0], problem.weights, sampling)
    leaves = leaf_nodes(tree, problem.X, 1)[:, 0]
    reached = np.bincount(leaves, counts, minlength=len(tree.left))
    ends = tree.left < 0
    assert reached[ends].tolist() == tree.count[ends].tolist()


def test_ties_and_doubled_rows_part_nowhere():
    rng = np.random.default_rng(2)
    X = np.repeat(rng.integers(0, 3, (6, 40)) / 2, 5, axis=1)
    problem = plain(X, rng.integers(0, 2, 200))
    mixture = Mixture((Share(Rotation(), 6),))
    data = problem.X, problem.y, problem.weights, problem.feature_groups, problem.sampling
    tree = grow_one(*data, problem.settings.settings, mixture, problem.streams()[0], True)
    leaves = leaf_nodes(tree, problem.X, 1)[:, 0].reshape(40, 5)
    assert (leaves == leaves[:, :1]).all()
    assert np.bincount(leaves.ravel(), minlength=len(tree.left))[tree.left < 0].tolist() == (
        tree.count[tree.left < 0].tolist()
    )
