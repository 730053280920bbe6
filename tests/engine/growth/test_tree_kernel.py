"""Growth against Algorithm 1 written out with lists, split by split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

from following import grows_as_the_twin
from odrf.engine.splits.impurity import ORDINAL
from odrf.engine.trees.routing import leaf_nodes
from problems import noisy, problems
from reference.growing import FirstBest, grow
from reference.randomness import Stream


@settings(max_examples=200, deadline=None)
@given(problems(max_rows=72))
def test_every_split_is_the_best_of_the_same_candidates(problem):
    grows_as_the_twin(problem)


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72))
def test_ordered_classes_are_split_so_too(problem):
    assume(problem.settings.n_classes > 1)
    ordinal = replace(problem, settings=problem.settings._replace(criterion=ORDINAL))
    grows_as_the_twin(ordinal)
    assert ordinal.grow().ordered and not problem.grow().ordered


def test_without_ties_the_twin_grows_the_same_tree_alone():
    problem = noisy(n=150, n_projections=3, max_leaves=15, min_leaf=5, n_singles=2)
    forest = problem.grow()
    nodes = grow(
        problem.X, problem.y, problem.weights, problem.feature_groups, problem.sampling,
        problem.settings, Stream(problem.streams()[0]), FirstBest(problem.X, problem.settings),
    )  # fmt: skip
    assert len(nodes) > 20
    assert forest.left.tolist() == [node.left for node in nodes]
    assert forest.count.tolist() == [node.counts.sum() for node in nodes]
    value = [np.average(node.y, weights=node.w) for node in nodes]
    np.testing.assert_allclose(forest.value[:, 0], value, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_what_a_split_divides_is_conserved(problem):
    forest = problem.grow()
    split = np.flatnonzero(forest.left >= 0)
    left = forest.left[split]
    assert (forest.count[left] + forest.count[left + 1] == forest.count[split]).all()
    mass = forest.weight
    sums = mass[:, None] * forest.value
    total = mass * forest.impurity
    np.testing.assert_allclose(mass[left] + mass[left + 1], mass[split])
    np.testing.assert_allclose(sums[left] + sums[left + 1], sums[split], atol=1e-9)
    np.testing.assert_allclose(
        total[left] + total[left + 1] + mass[split] * forest.gain[split], total[split], atol=1e-9
    )
    removed = np.sum(mass[split] * forest.gain[split])
    assert total[0] - total[forest.is_leaf()].sum() == pytest.approx(removed, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_a_smaller_budget_gives_the_beginning_of_the_same_tree(problem):
    full = problem.but(max_leaves=1000).grow()
    for t_n in range(1, min(int(full.leaves()[0]), 9) + 1):
        tree = problem.but(max_leaves=t_n).grow()
        n = tree.n_nodes
        assert tree.leaves().tolist() == [t_n]
        assert tree.order.tolist() == np.where(full.order[:n] < t_n, full.order[:n], 0).tolist()
        assert tree.value.tobytes() == full.value[:n].tobytes()
        begun = full.keeping((full.left >= 0) & (full.order < t_n))
        assert (leaf_nodes(tree, problem.X, 1) == leaf_nodes(begun, problem.X, 1)).all()
