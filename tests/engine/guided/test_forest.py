"""Guided trees as flat arrays, and as the rest of the engine reads them."""

from __future__ import annotations

import pickle
from dataclasses import fields

import numpy as np
from hypothesis import given, settings

from guided_problems import guided_problems, sampled
from odrf import simulate
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.guided.growth import joined_guided
from odrf.engine.trees.routing import leaf_nodes
from reference.forests import direction


@settings(max_examples=60, deadline=None)
@given(guided_problems())
def test_training_rows_reach_the_leaves_that_counted_them(problem):
    guided = problem.grow(n_trees=3)
    forest = guided.unshared
    rows = problem.weights > 0
    leaves = leaf_nodes(forest, problem.X[:, rows], 1)
    counts = np.bincount(leaves.ravel(), minlength=forest.n_nodes)
    assert counts[forest.is_leaf()].tolist() == guided.count[guided.left < 0].tolist()
    weight = np.bincount(
        leaves.ravel(), weights=np.repeat(problem.weights[rows], 3), minlength=forest.n_nodes
    )
    assert weight[forest.is_leaf()].tolist() == guided.weight[guided.left < 0].tolist()


@settings(max_examples=60, deadline=None)
@given(guided_problems())
def test_each_region_has_the_plane_that_divides_it(problem):
    guided = problem.grow(n_trees=3)
    forest = guided.unshared
    for region in range(forest.n_nodes):
        b = np.searchsorted(guided.root, region, side="right") - 1
        columns, theta = direction(forest, region)
        if guided.left[region] < 0:
            assert (columns, theta, guided.rank[region]) == ([], [], 0)
            assert np.isnan(forest.threshold[region])
            continue
        of_tree = slice(guided.first_column[b], guided.first_column[b + 1])
        assert columns == guided.columns[of_tree].tolist()
        rank = guided.rank[region] - 1
        at = guided.first_coef[b] + rank * len(columns)
        assert theta == guided.coef[at : at + len(columns)].tolist()
        assert forest.threshold[region] == guided.threshold[guided.first_plane[b] + rank]
    assert forest.order.tolist() == guided.rank.tolist()


@settings(max_examples=40, deadline=None)
@given(guided_problems())
def test_what_a_plane_divides_is_conserved(problem):
    forest = problem.grow(n_trees=2).unshared
    split = np.flatnonzero(forest.left >= 0)
    left = forest.left[split]
    assert (left > split).all()
    assert (forest.count[left] + forest.count[left + 1] == forest.count[split]).all()
    assert (np.minimum(forest.count[left], forest.count[left + 1]) > 0).all()
    np.testing.assert_allclose(forest.weight[left] + forest.weight[left + 1], forest.weight[split])
    total = forest.weight * forest.impurity
    lost = total[split] - total[left] - total[left + 1]
    np.testing.assert_allclose(forest.weight[split] * forest.gain[split], lost, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(guided_problems())
def test_sizes_are_the_numbers_of_section_4_4(problem):
    guided = problem.grow(n_trees=3)
    for b in range(3):
        regions = slice(guided.root[b], guided.root[b + 1])
        left, plane = guided.left[regions], guided.plane[regions]
        TW, M = len(set(plane[plane >= 0].tolist())), guided.n_columns[b]
        TNL, TL = (left >= 0).sum(), (left < 0).sum()
        assert guided.n_planes[b] == TW  # each divides something
        assert guided.sizes[b] == TW * (M + 1) + 3 * TNL + TL
        assert (guided.n_inner[b], guided.n_leaves[b]) == (TNL, TL)


def same(one: GuidedForest, other: GuidedForest) -> bool:
    return all(
        getattr(one, field.name).tobytes() == getattr(other, field.name).tobytes()
        and getattr(one, field.name).dtype == getattr(other, field.name).dtype
        for field in fields(GuidedForest)
    )


@settings(max_examples=25, deadline=None)
@given(guided_problems())
def test_threads_change_no_bit(problem):
    assert same(problem.grow(n_trees=5, n_jobs=2), problem.grow(n_trees=5))


@settings(max_examples=25, deadline=None)
@given(guided_problems())
def test_a_forest_is_its_trees_joined(problem):
    few, more = problem.grow(n_trees=2), problem.grow(n_trees=4)
    assert same(joined_guided([few], 1), few)
    m, planes = few.root[2], few.first_plane[2]
    assert few.left.tolist() == more.left[:m].tolist()
    assert few.threshold.tobytes() == more.threshold[:planes].tobytes()
    twice = joined_guided([few, more], 2)
    assert twice.n_trees == 6
    moved = [
        (few.left, m, twice.left[m:], more.left),
        (few.plane, planes, twice.plane[m:], more.plane),
    ]
    for unchanged, by, found, before in moved:
        assert len(unchanged) == m
        assert found.tolist() == np.where(before < 0, -1, before + by).tolist()
    for name in ("root", "first_plane", "first_column", "first_coef"):
        first, others = getattr(few, name), getattr(more, name)
        assert getattr(twice, name).tolist() == [*first, *(first[-1] + others[1:])]
    for name in ("count", "weight", "impurity", "value", "threshold", "columns", "coef"):
        both = np.concatenate([getattr(few, name), getattr(more, name)])
        assert getattr(twice, name).tobytes() == both.tobytes()


def test_what_is_derived_is_not_pickled():
    guided = sampled(simulate.hypercube(3), 60, 1).grow(n_trees=2)
    before = pickle.dumps(guided)
    assert guided.unshared.n_nodes == len(guided.left)
    assert pickle.dumps(guided) == before
    assert same(pickle.loads(before), guided)
