"""Pruning against its definition: every τ compared, every subtree's error counted again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.routing import leaf_nodes
from odrf.engine.sampling import ALL_ROWS, Sampling
from odrf.pruning import growth_errors, growth_path, prune_to_alpha, prune_to_leaves
from problems import plain, problems


@st.composite
def grown(draw, n_trees=1):
    """A problem without resampling, and its trees."""
    problem = replace(draw(problems()), sampling=Sampling(ALL_ROWS, 1.0))
    return problem, problem.grow(n_trees)


def loss_in_leaves(problem, tree):
    """The training error of the leaves' means or majorities, leaf by leaf."""
    leaf = leaf_nodes(tree, problem.X, 1)[:, 0]
    loss = 0.0
    for node in np.unique(leaf):
        y, weights = problem.y[leaf == node], problem.weights[leaf == node]
        if weights.sum() == 0:
            continue
        if tree.value.shape[1] == 1:
            loss += np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
        else:
            loss += weights.sum() - np.bincount(y.astype(int), weights).max()
    return loss / problem.weights.sum()


def cheapest(error, alpha):
    """The smallest τ that minimises R(τ) + α·τ, rounding aside."""
    cost = error + alpha * np.arange(1, len(error) + 1)
    return 1 + int(np.argmax(cost <= cost.min() + 1e-11 * error[0]))


@given(grown())
def test_errors_are_those_of_the_subtrees(case):
    problem, tree = case
    (errors,) = growth_errors(tree)
    counted = [
        loss_in_leaves(problem, prune_to_leaves(tree, leaves + 1)) for leaves in range(len(errors))
    ]
    np.testing.assert_allclose(errors, counted, rtol=1e-9, atol=1e-10)
    assert len(errors) == tree.leaves()[0]


@given(grown(), st.floats(0, 2))
def test_alpha_chooses_the_cheapest_subtree(case, share):
    _, tree = case
    (errors,) = growth_errors(tree)
    alpha = share * (errors[0] - errors.min()) / len(errors)
    assert prune_to_alpha(tree, alpha).leaves()[0] == cheapest(errors, alpha)


@given(grown())
def test_path_lists_what_any_alpha_chooses(case):
    _, tree = case
    (errors,) = growth_errors(tree)
    path = growth_path(tree)
    assert path.alpha[0] == 0
    assert path.leaves[-1] == 1
    np.testing.assert_array_equal(path.error, errors[path.leaves - 1])
    assert (np.diff(path.alpha) > 0).all()
    assert (np.diff(path.leaves) < 0).all()
    assert (np.diff(path.error) > 0).all()
    until = np.append(path.alpha[1:], path.alpha[-1] + 1.0)
    for first, last, leaves in zip(path.alpha, until, path.leaves, strict=True):
        assert cheapest(errors, (first + last) / 2) == leaves
        assert prune_to_alpha(tree, first).leaves()[0] == leaves
        assert prune_to_alpha(tree, (first + last) / 2).leaves()[0] == leaves


@given(grown(), st.floats(0, 1), st.floats(0, 1))
def test_subtrees_are_nested(case, one, other):
    _, tree = case
    small = prune_to_alpha(tree, max(one, other)).left >= 0
    large = prune_to_alpha(tree, min(one, other)).left >= 0
    assert (large | ~small).all()


@given(grown(n_trees=3), st.floats(0, 0.2))
def test_each_tree_of_a_forest_is_pruned_on_its_own(case, alpha):
    _, forest = case
    pruned = prune_to_alpha(forest, alpha)
    for b in range(3):
        alone = prune_to_alpha(forest.tree(b), alpha)
        np.testing.assert_array_equal(pruned.tree(b).left, alone.left)


def test_hull_passes_over_a_split_that_pays_only_later():
    # the root's split gains nothing, the next two everything: y is the parity of two signs
    X = np.array([[0.0, 0.0, 1.0, 1.0, 0.1], [0.0, 1.0, 0.0, 1.0, 0.0]])
    tree = plain(X, [0, 1, 1, 0, 0], n_singles=2).grow()
    (errors,) = growth_errors(tree)
    path = growth_path(tree)
    assert errors[-1] == pytest.approx(0, abs=1e-12)
    assert 2 not in path.leaves
    assert list(path.leaves) == [tree.leaves()[0], 1]
    assert path.alpha[1] == pytest.approx(errors[0] / (tree.leaves()[0] - 1))


def test_pruned_tree_keeps_its_numbering():
    tree = plain(np.arange(8.0)[None], np.arange(8) ** 2).grow()
    pruned = prune_to_leaves(tree, 3)
    np.testing.assert_array_equal(pruned.order, tree.order)
    np.testing.assert_array_equal(np.sort(pruned.order[pruned.left >= 0]), [1, 2])
    (errors,) = growth_errors(pruned)
    np.testing.assert_allclose(errors, growth_errors(tree)[0][:3])
