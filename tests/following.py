"""Check a grown tree against a twin that follows it, split by split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from odrf.engine.kernel_params import NO_PENALTY
from odrf.engine.trees.forest import Forest
from problems import Problem, grow_one
from reference.absent_levels import factor_alone, settled
from reference.forests import direction, goes_left
from reference.growing import PERFECT, ROUNDING, Node, Split, best_split, grow, score
from reference.impurity import gain, impurity
from reference.randomness import Stream

Growing = Callable[..., list[Node]]


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


def grows_as_the_twin(
    problem: Problem, grow: Growing = grow, following: type[Following] = Following
) -> None:
    """Check every split, node and random number of the problem's tree."""
    forest = problem.grow()
    stream = Stream(problem.streams()[0])
    nodes = grow(
        problem.X, problem.y, problem.weights, problem.feature_groups, problem.sampling,
        problem.settings, stream, following(problem, forest),
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
