"""Impurity importance: shared by coefficients, conserved over the tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.trees.forest import joined
from odrf.statistics.importance import impurity_importance
from problems import problems
from reference.importance import shares
from stumps import stump


def test_a_split_is_shared_by_the_size_of_its_coefficients():
    importance = impurity_importance(stump({2: 0.6, 0: -0.8}, 0.1, gain=0.7), np.arange(4))
    np.testing.assert_allclose(importance, [0.4, 0.0, 0.3])


@pytest.mark.parametrize(
    ("levels", "range_"),
    [([0.6, 0.0], 0.6), ([0.3, 0.6], 0.6), ([-0.1, -0.4], 0.4), ([-0.2, 0.4], 0.6)],
)
def test_a_factor_counts_by_the_range_of_its_coefficients(levels, range_):
    terms = {column: coef for column, coef in enumerate((-0.8, *levels)) if coef}
    importance = impurity_importance(stump(terms, 0.1, gain=0.7), np.array([0, 1, 3]))
    np.testing.assert_allclose(importance, np.array([0.8, range_]) * 0.7 / (0.8 + range_))


def test_a_forest_has_the_mean_over_its_trees():
    forest = joined([stump({0: 1.0}, 0.5, gain=1.0), stump({1: 1.0}, 0.5, gain=0.5)], 2)
    np.testing.assert_allclose(impurity_importance(forest, np.arange(3)), [0.5, 0.25])


def test_splits_switched_off_do_not_count():
    tree = stump({0: 1.0}, 0.5)
    pruned = tree.keeping(np.zeros(3, dtype=bool))
    assert impurity_importance(tree, np.arange(2)) == pytest.approx([1.0])
    assert impurity_importance(pruned, np.arange(2)) == pytest.approx([0.0])


def test_a_tree_without_weight_or_splits_has_no_importance():
    tree = stump({0: 1.0}, 0.5).keeping(np.zeros(3, dtype=bool))
    with np.errstate(all="raise"):
        importance = impurity_importance(replace(tree, weight=np.zeros(3)), np.arange(2))
    assert importance == pytest.approx([0.0])


@settings(deadline=None)
@given(problems(), st.integers(1, 3))
def test_importances_add_up_to_the_impurity_removed(problem, n_trees):
    forest = problem.grow(n_trees)
    leaf = np.where(forest.is_leaf(), forest.weight * forest.impurity, 0.0)
    root = forest.root[:-1]
    removed = forest.impurity[root] - np.add.reduceat(leaf, root) / forest.weight[root]
    importance = impurity_importance(forest, problem.feature_groups.first)
    assert importance.shape == problem.feature_groups.types.shape
    assert (importance >= 0).all()
    assert importance.sum() == pytest.approx(removed.mean(), abs=1e-9)


@settings(deadline=None)
@given(problems())
def test_every_split_is_shared_as_by_the_definition(problem):
    tree, first = problem.grow(), problem.feature_groups.first
    predictor, P = np.repeat(np.arange(len(first) - 1), np.diff(first)), len(first) - 1
    expected = np.zeros(P)
    for node in np.flatnonzero(tree.is_split()):
        terms = slice(*tree.start[node : node + 2])
        decrease = tree.weight[node] * tree.gain[node] / tree.weight[0]
        expected += decrease * shares(predictor[tree.index[terms]], tree.coef[terms], P)
    np.testing.assert_allclose(impurity_importance(tree, first), expected, atol=1e-12)


@settings(deadline=None)
@given(problems())
def test_weights_have_no_unit(problem):
    tree, first = problem.grow(), problem.feature_groups.first
    heavier = replace(tree, weight=4 * tree.weight)
    np.testing.assert_allclose(
        impurity_importance(heavier, first), impurity_importance(tree, first), rtol=1e-12
    )
