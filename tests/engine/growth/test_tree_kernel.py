"""Growth against Algorithm 1 written out with lists, split by split."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

from odrf.engine.growth.forest_growth import grow_one
from odrf.engine.settings import NO_PENALTY
from odrf.engine.splits.criteria import ORDINAL
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaf_nodes
from problems import Problem, noisy, problems
from reference.absent_levels import factor_alone, settled
from reference.forests import direction, goes_left
from reference.growing import PERFECT, ROUNDING, FirstBest, Split, best_split, grow, score
from reference.impurity import gain, impurity
from reference.randomness import Stream


@dataclass
class Following:
    """Check every split of the engine's tree against the candidates and take it as it is.

    Any of several best splits will do.  A split may be better than the best of the twin only
    by cutting between values that are equal but for rounding, or along an undetermined θ.
    """

    problem: Problem
    forest: Forest

    def dense(self, columns, theta):
        expanded = np.zeros(len(self.problem.X))
        expanded[columns] = theta
        return expanded

    def is_taken(self, number, node, candidate):
        """Whether the engine's split is along this candidate."""
        columns, theta, _ = candidate
        chosen = self.dense(*direction(self.forest, number))
        if theta is None:
            return set(np.flatnonzero(chosen)) <= set(columns)
        expected = self.dense(columns, theta)
        return np.allclose(chosen, expected, atol=1e-6) or np.allclose(
            chosen, self.settled(number, node, columns, expected), atol=1e-6
        )

    def settled(self, number, node, columns, theta):
        """A candidate such that absent levels go where they go in the engine, if it can be."""
        factor = factor_alone(self.problem.feature_groups, columns)
        if factor is None:
            return theta
        X, forest = self.problem.X[:, node.rows], self.forest
        goes = goes_left(X, *direction(forest, number), forest.threshold[number])
        present, left = (X[factor][:, rows].any(axis=1) for rows in (slice(None), goes))
        theta = theta.copy()
        if (left & X[factor][:, ~goes].any(axis=1)).any() or left[present].all():
            return theta
        theta[factor], _ = settled(theta[factor], present, left, forest.threshold[number] >= 0)
        return theta

    def absent_levels_go_with_the_larger_side(self, number, node, columns, left):
        """Check where a row of another level would go, unless both sides have equal weight."""
        if factor_alone(self.problem.feature_groups, columns) is None:
            return
        heavier = node.w[left].sum() - node.w[~left].sum()
        if abs(heavier) > 1e-9 * node.w.sum():
            assert (self.forest.threshold[number] >= 0) == (heavier > 0)

    def ends(self, number, node, candidate):
        """Decided by the gain in the engine, which rounding may have made perfect."""
        forest, (columns, theta, _) = self.forest, candidate
        if self.problem.settings.penalty != NO_PENALTY or theta is None:
            return False
        index, _ = direction(forest, number)
        return (
            forest.gain[number] * candidate.reliability**2 >= PERFECT * forest.impurity[number]
            and set(index) <= set(columns)
            and self.is_taken(number, node, candidate)
        )

    def split(self, number, node):
        X, options, forest = self.problem.X, self.problem.settings, self.forest
        best = best_split(node, X, options)
        best_score = best.score if best else 0.0
        if forest.order[number] == 0:
            assert best_score <= 1e-9
            return None
        columns, theta = direction(forest, number)
        left = goes_left(X[:, node.rows], columns, theta, forest.threshold[number])
        found = gain(node.y, node.w, left, options.criterion)
        assert forest.gain[number] == pytest.approx(found, rel=1e-9, abs=1e-12)
        assert min(node.counts[left].sum(), node.counts[~left].sum()) >= options.min_leaf
        self.absent_levels_go_with_the_larger_side(number, node, columns, left)
        along = [c for c in node.candidates if self.is_taken(number, node, c)]
        assert along
        undetermined = any(c.theta is None for c in along)
        reached = max(score(node, found * c.reliability**2, c.columns, options) for c in along)
        if undetermined and options.penalty != NO_PENALTY:  # for an unknown number of coefficients
            return Split(reached, found, left)
        assert reached >= best_score - 1e-9 * max(1.0, abs(best_score))
        if reached > best_score + 1e-9 * max(1.0, abs(best_score)):
            values = self.dense(columns, theta) @ X[:, node.rows]
            assert undetermined or values[~left].min() - values[left].max() < ROUNDING
        return Split(reached, found, left)


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


def grows_as_the_twin(problem: Problem) -> None:
    """Check every split, node and random number of the problem's tree."""
    forest = problem.grow()
    stream = Stream(problem.streams()[0])
    nodes = grow(
        problem.X, problem.y, problem.weights, problem.feature_groups, problem.sampling,
        problem.settings, stream, Following(problem, forest),
    )  # fmt: skip

    assert forest.left.tolist() == [node.left for node in nodes]
    assert forest.order.tolist() == [node.order for node in nodes]
    assert forest.depth().tolist() == [node.depth for node in nodes]
    assert forest.count.tolist() == [node.counts.sum() for node in nodes]
    np.testing.assert_allclose(forest.weight, [node.w.sum() for node in nodes], rtol=1e-12)
    impurities = [impurity(node.y, node.w, problem.settings.criterion) for node in nodes]
    np.testing.assert_allclose(forest.impurity, impurities, rtol=1e-9, atol=1e-14)
    if problem.settings.n_classes == 1:
        value = [[np.average(node.y, weights=node.w)] for node in nodes]
    else:
        classes = np.arange(problem.settings.n_classes)
        value = [[np.average(node.y == k, weights=node.w) for k in classes] for node in nodes]
    np.testing.assert_allclose(forest.value, value, rtol=1e-12, atol=1e-14)

    # Which of several tied splits won must not show in how many random numbers were used.
    state = problem.streams()[0]
    grow_one(*problem.growth, state, True)
    assert state.tolist() == stream.state


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
