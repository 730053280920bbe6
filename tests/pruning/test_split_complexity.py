"""Subtrees by split complexity against all subtrees, and against weakest links cut one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.pruning.complexity import (
    LOG_RANK,
    critical_alphas,
    decreases,
    nested_subtrees,
    pruned,
    with_split_statistics,
)
from problems import problems
from reference.pruning import all_subtrees, weakest_links

unhurried = settings(deadline=None, max_examples=60)


@st.composite
def told_trees(draw, max_leaves=8):
    """A tree, and statistics of its splits: ties and zeros among them."""
    problem = draw(problems())
    tree = problem.but(max_leaves=min(max_leaves, problem.settings.max_leaves)).grow(1)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    known = [rng.chisquare(1, tree.n_nodes) * 9, rng.integers(0, 5, tree.n_nodes) * 1.0]
    return tree, known[draw(st.integers(0, 1))]


def children_of(tree):
    return {int(node): int(tree.left[node]) for node in np.flatnonzero(tree.left >= 0)}


@unhurried
@given(told_trees(), st.floats(0, 12))
def test_no_subtree_has_a_larger_split_complexity(case, alpha):
    tree, statistic = case
    told, children = with_split_statistics(tree, statistic), children_of(tree)
    kept = pruned(told, critical_alphas(told, loss=LOG_RANK), alpha, LOG_RANK).is_split()
    found = statistic[kept].sum() - alpha * kept.sum()
    for splits in all_subtrees(children):
        other = sum(statistic[node] - alpha for node in splits)
        assert other <= found + 1e-9


@unhurried
@given(told_trees())
def test_splits_go_with_the_weakest_links(case):
    tree, statistic = case
    told, children = with_split_statistics(tree, statistic), children_of(tree)
    gone = weakest_links(children, dict(enumerate(statistic)))
    critical = critical_alphas(told, loss=LOG_RANK)
    for node in children:
        assert critical[node] == pytest.approx(gone[node], abs=1e-9)


@unhurried
@given(told_trees())
def test_the_error_is_the_sum_over_the_splits_left_out(case):
    tree, statistic = case
    told, splits = with_split_statistics(tree, statistic), tree.is_split()
    assert decreases(told, LOG_RANK) == pytest.approx(np.where(splits, statistic, 0), abs=1e-9)
    path = nested_subtrees(told, loss=LOG_RANK)
    for alpha, leaves, error in zip(path.alpha, path.leaves, path.error, strict=True):
        kept = splits & (path.critical > alpha)
        assert leaves == kept.sum() + 1
        assert error == pytest.approx(statistic[splits & ~kept].sum(), abs=1e-9)


@unhurried
@given(told_trees(), st.floats(0, 12))
def test_a_pruned_tree_has_the_statistics_of_the_splits_that_are_left(case, alpha):
    tree, statistic = case
    told = with_split_statistics(tree, statistic)
    critical = critical_alphas(told, loss=LOG_RANK)
    smaller = tree.keeping(critical > alpha)
    again = with_split_statistics(smaller, statistic)
    kept = smaller.is_split()
    assert again.impurity[0] == pytest.approx(statistic[kept].sum())
    # what was pruned leaves the links of the rest as they are
    assert critical_alphas(again, loss=LOG_RANK)[kept] == pytest.approx(critical[kept])
