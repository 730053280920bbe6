"""A tree on rotated columns is the tree of the table rotated beforehand, and routes rows alike."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings

from odrf.engine.growth.tree_builder import grow_one
from odrf.engine.numeric import streams
from odrf.engine.resamples import draw_counts, estimation_counts
from odrf.engine.trees.routing import leaf_nodes
from odrf.projections.mixture import Mixture, Share
from odrf.projections.rotation import PrincipalComponents, Rotated, Rotation, draw_rotation
from problems import plain, problems


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


def product(X, matrix):
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
    beforehand = plain(product(problem.X, matrix), problem.y, problem.weights)
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
