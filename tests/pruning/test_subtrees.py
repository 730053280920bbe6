"""Nested subtrees: what each α chooses, and trees of a given size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.pruning.complexity import (
    LOSSES,
    RULES,
    critical_alphas,
    growth_errors,
    nested_subtrees,
    pruned,
    with_leaves,
)
from problems import plain, problems
from reference.pruning import loss_in_leaves

rules = st.sampled_from(RULES)
losses = st.sampled_from(LOSSES)
unhurried = settings(deadline=None, max_examples=60)


@st.composite
def grown(draw):
    """A problem without resampling, and its tree."""
    problem = replace(draw(problems()), sampling=Sampling(ALL_ROWS, 1.0))
    return problem, problem.grow()


@unhurried
@given(grown())
def test_errors_along_the_growth_are_those_of_the_subtrees(case):
    problem, tree = case
    errors = growth_errors(tree)
    counted = [
        loss_in_leaves(problem, with_leaves(tree, leaves + 1, "growth"))
        for leaves in range(len(errors))
    ]
    np.testing.assert_allclose(errors, counted, rtol=1e-9, atol=1e-10)
    assert len(errors) == tree.leaves()[0]


@unhurried
@given(grown(), rules)
def test_errors_on_the_path_are_those_of_the_subtrees(case, rule):
    problem, tree = case
    critical, subtrees = critical_alphas(tree, rule), nested_subtrees(tree, rule)
    for alpha, error in zip(subtrees.alpha, subtrees.error, strict=True):
        counted = loss_in_leaves(problem, pruned(tree, critical, alpha))
        assert error == pytest.approx(counted, rel=1e-9, abs=1e-10)


@unhurried
@given(grown(), rules, losses)
def test_the_path_lists_the_subtree_of_every_alpha(case, rule, loss):
    _, tree = case
    critical, path = critical_alphas(tree, rule, loss), nested_subtrees(tree, rule, loss)
    assert path.alpha[0] == 0
    assert path.leaves[-1] == 1
    assert (np.diff(path.alpha) > 0).all()
    assert (np.diff(path.leaves) < 0).all()
    assert (np.diff(path.error) > 0).all()
    until = np.append(path.alpha[1:], path.alpha[-1] + 1.0)
    for first, last, leaves in zip(path.alpha, until, path.leaves, strict=True):
        assert pruned(tree, critical, first, loss).leaves()[0] == leaves
        assert pruned(tree, critical, (first + last) / 2, loss).leaves()[0] == leaves


@unhurried
@given(grown(), rules, losses)
def test_a_tree_of_each_size_is_the_largest_that_there_is(case, rule, loss):
    _, tree = case
    sizes = set(nested_subtrees(tree, rule, loss).leaves.tolist())
    for leaves in range(1, int(tree.leaves()[0]) + 1):
        found = int(with_leaves(tree, leaves, rule, loss).leaves()[0])
        largest = max(size for size in sizes if size <= leaves)
        assert found == (leaves if rule == "growth" else largest)


def test_a_pruned_tree_keeps_its_numbering():
    tree = plain(np.arange(8.0)[None], np.arange(8) ** 2).grow()
    cut = with_leaves(tree, 3, "growth")
    np.testing.assert_array_equal(cut.order, tree.order)
    np.testing.assert_array_equal(np.sort(cut.order[cut.left >= 0]), [1, 2])
    np.testing.assert_allclose(growth_errors(cut), growth_errors(tree)[:3])
