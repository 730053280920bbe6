"""Best-first growth against its definition, split by split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from following import Following, grows_as_the_twin
from odrf.engine.growth import tree_builder
from odrf.engine.growth.tree_builder import grow_one
from odrf.engine.growth.tree_kernel import NODE
from odrf.engine.splits.impurity import SQUARED_ERROR
from odrf.engine.trees.routing import leaf_nodes
from odrf.projections.regression import LDA, LEAST_SQUARES
from problems import noisy, problems
from reference.best_first import BestOpen, decrease, grow_best_first
from reference.randomness import Stream


class FollowingBest(Following):
    """Follow the engine in which split is made next, and check that none decreases more."""

    def chosen(self, nodes, open_splits, leaves):
        number = int(np.flatnonzero(self.forest.order == leaves)[0])
        most = max(decrease(nodes[i], split) for i, split in open_splits.items())
        assert decrease(nodes[number], open_splits[number]) >= most * (1 - 1e-9) - 1e-12
        return number


@settings(max_examples=200, deadline=None)
@given(problems(max_rows=72))
def test_the_split_with_the_largest_decrease_is_made_next(problem):
    # in a full tree no open split is left
    full = problem.but(best_first=True, max_leaves=1000)
    grows_as_the_twin(full, grow_best_first, FollowingBest)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_fewer_leaves_are_the_beginning_of_the_same_tree(problem):
    problem = problem.but(best_first=True)
    full = problem.but(max_leaves=1000).grow()
    for t_n in range(1, min(int(full.leaves()[0]), 9) + 1):
        tree = problem.but(max_leaves=t_n).grow()
        n, made = tree.n_nodes, full.order < t_n
        assert tree.leaves().tolist() == [t_n]
        for name in ("order", "gain"):
            assert (
                getattr(tree, name).tolist() == np.where(made, getattr(full, name), 0)[:n].tolist()
            )
        assert np.isnan(tree.threshold).tolist() == (tree.left < 0).tolist()
        assert tree.value.tobytes() == full.value[:n].tobytes()
        assert (np.diff(tree.start)[tree.left < 0] == 0).all()
        begun = full.keeping((full.left >= 0) & made)
        assert (leaf_nodes(tree, problem.X, 1) == leaf_nodes(begun, problem.X, 1)).all()


def test_without_ties_the_twin_grows_the_same_tree_alone():
    problem = noisy(n=150, n_projections=3, max_leaves=12, min_leaf=5, n_singles=2, best_first=True)
    forest = problem.grow()
    nodes = grow_best_first(
        problem.X, problem.y, problem.weights, problem.feature_groups, problem.sampling,
        problem.settings, Stream(problem.streams()[0]), BestOpen(problem.X, problem.settings),
    )  # fmt: skip
    assert forest.left.tolist() == [node.left for node in nodes]
    assert forest.order.tolist() == [node.order for node in nodes]
    assert forest.count.tolist() == [node.counts.sum() for node in nodes]
    breadth_first = problem.but(best_first=False).grow()
    assert breadth_first.depth().max() < forest.depth().max()


def test_growth_in_many_calls_gives_the_same_tree(monkeypatch):
    problem = noisy(n=400, n_projections=3, n_singles=5, best_first=True, max_leaves=60)
    once = grow_one(*problem.growth, problem.streams()[0], True)
    monkeypatch.setattr(tree_builder, "BUDGET", NODE)
    often = grow_one(*problem.growth, problem.streams()[0], False)
    for name in ("left", "threshold", "start", "index", "coef", "value", "gain", "order"):
        assert getattr(once, name).tobytes() == getattr(often, name).tobytes()


@pytest.mark.parametrize("best_first", [False, True])
@pytest.mark.parametrize("exact_rows", [64, 10**9])
@pytest.mark.parametrize("n_thresholds", [0, 3])
def test_every_leaf_has_the_least_weight(best_first, exact_rows, n_thresholds):
    rng = np.random.default_rng(3)
    problem = noisy(
        n=600, n_projections=2, n_singles=5, best_first=best_first, exact_rows=exact_rows,
        n_thresholds=n_thresholds,
    )  # fmt: skip
    weights = rng.uniform(0.1, 2.0, 600)
    problem = type(problem)(**{**vars(problem), "weights": weights})
    free = problem.grow()
    held = problem.but(min_weight=7.5).grow()
    assert problem.settings.criterion == SQUARED_ERROR
    assert free.weight[free.is_leaf()].min() < 7.5 <= held.weight[held.is_leaf()].min()
    assert held.leaves()[0] > 20


@settings(max_examples=100, deadline=None)
@given(problems(max_rows=72))
def test_splits_are_the_best_of_those_with_enough_weight(problem):
    # of a numeric response; criteria of classes do not read the weight
    numbers = problem.but(criterion=SQUARED_ERROR, n_classes=1, min_weight=2.0)
    if numbers.settings.family == LDA:
        numbers = numbers.but(family=LEAST_SQUARES)
    grows_as_the_twin(numbers)
