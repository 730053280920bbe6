"""Prices of splits against their definitions: every subtree's cost compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.rows.sampling import ALL_ROWS, Sampling
from odrf.pruning.complexity import (
    LOSSES,
    RULES,
    decreases,
    pruned,
    root_losses,
    split_prices,
)
from odrf.pruning.subtrees import growth_errors, nested_subtrees, with_leaves
from problems import noisy, plain, problems
from reference.pruning import all_subtrees, loss_in_leaves

rules = st.sampled_from(RULES)
losses = st.sampled_from(LOSSES)
unhurried = settings(deadline=None, max_examples=60)


@st.composite
def grown(draw, n_trees=1, max_leaves=1000):
    """A problem without resampling, and its trees."""
    problem = replace(draw(problems()), sampling=Sampling(ALL_ROWS, 1.0))
    problem = problem.but(max_leaves=min(max_leaves, problem.settings.max_leaves))
    return problem, problem.grow(n_trees)


def cost(problem, tree, alpha):
    return loss_in_leaves(problem, tree) + alpha * int(tree.leaves()[0])


def price_of_a_leaf(tree, share):
    """A share, maybe above 1, of what the splits lower the error by on average."""
    return share * decreases(tree).sum() / max(int(tree.leaves()[0]) - 1, 1)


@unhurried
@given(grown(), st.integers(1, 30))
def test_decreases_add_up_to_the_error_removed(case, leaves):
    problem, tree = case
    some = with_leaves(tree, min(leaves, int(tree.leaves()[0])), "growth")
    left = root_losses(some)[0] - decreases(some).sum()
    assert left == pytest.approx(loss_in_leaves(problem, some), rel=1e-9, abs=1e-10)


@unhurried
@given(grown(max_leaves=7), st.floats(0, 3))
def test_no_subtree_is_cheaper_than_the_weakest_link_s(case, share):
    problem, tree = case
    alpha = price_of_a_leaf(tree, share)
    least = cost(problem, pruned(tree, split_prices(tree), alpha), alpha)
    children = {node: int(tree.left[node]) for node in np.flatnonzero(tree.left >= 0)}
    for splits in all_subtrees(children):
        kept = np.isin(np.arange(tree.n_nodes), list(splits))
        assert least <= cost(problem, tree.keeping(kept), alpha) + 1e-9


@unhurried
@given(grown(), st.floats(0, 3))
def test_no_earlier_tree_is_cheaper_than_the_growth_order_s(case, share):
    problem, tree = case
    alpha = price_of_a_leaf(tree, share)
    chosen = pruned(tree, split_prices(tree, "growth"), alpha)
    costs = growth_errors(tree) + alpha * np.arange(1, len(growth_errors(tree)) + 1)
    assert cost(problem, chosen, alpha) == pytest.approx(costs.min(), rel=1e-9, abs=1e-10)


@unhurried
@given(grown(), st.floats(0, 3))
def test_the_weakest_link_is_never_dearer_than_the_growth_order(case, share):
    problem, tree = case
    alpha = price_of_a_leaf(tree, share)
    by_rule = [
        cost(problem, pruned(tree, split_prices(tree, rule), alpha), alpha) for rule in RULES
    ]
    assert by_rule[0] <= by_rule[1] + 1e-10


@unhurried
@given(grown(), rules, losses, st.floats(0, 3), st.floats(0, 3))
def test_subtrees_are_nested(case, rule, loss, one, other):
    _, tree = case
    prices = split_prices(tree, rule, loss)
    small = pruned(tree, prices, price_of_a_leaf(tree, max(one, other)), loss)
    large = pruned(tree, prices, price_of_a_leaf(tree, min(one, other)), loss)
    assert ((large.left >= 0) | (small.left < 0)).all()


@unhurried
@given(grown(), rules, losses)
def test_a_free_leaf_is_kept_if_it_is_of_use_and_none_at_any_price(case, rule, loss):
    _, tree = case
    prices, decrease = split_prices(tree, rule, loss), decreases(tree, loss)
    free = pruned(tree, prices, 0.0, loss)
    assert decreases(free, loss).sum() == pytest.approx(decrease.sum(), rel=1e-9, abs=1e-10)
    smallest = nested_subtrees(tree, rule, loss).leaves[0]
    assert free.leaves()[0] == smallest <= tree.leaves()[0]
    assert pruned(tree, prices, np.inf, loss).leaves()[0] == 1


@unhurried
@given(grown(n_trees=3), rules, losses, st.floats(0, 0.2))
def test_each_tree_of_a_forest_is_pruned_on_its_own(case, rule, loss, alpha):
    _, forest = case
    together = pruned(forest, split_prices(forest, rule, loss), alpha, loss)
    for b in range(3):
        tree = forest.tree(b)
        alone = pruned(tree, split_prices(tree, rule, loss), alpha, loss)
        np.testing.assert_array_equal(together.tree(b).left, alone.left)


@pytest.mark.parametrize("unit", [2.0**-20, 1.0, 2.0**20])
@pytest.mark.parametrize("rule", RULES)
def test_an_alpha_within_rounding_of_a_price_is_tied_with_it(rule, unit):
    """The tolerance is relative to the error of the root, and a tie goes to the smaller tree."""
    problem = noisy(60, min_leaf=5)
    tree = replace(problem, y=problem.y * unit).grow()
    prices, root = split_prices(tree, rule), root_losses(tree)[0]
    splits = tree.left >= 0
    assert splits.sum() > 5
    for price in np.unique(prices[splits]):
        tied = pruned(tree, prices, price - 0.6e-12 * root)
        assert ((tied.left >= 0) == (prices > price)).all()
        below = pruned(tree, prices, price - 0.9e-12 * root)
        assert ((below.left >= 0) == (splits & (prices >= price))).all()


def test_a_split_that_pays_only_later_is_kept_with_those_it_is_for():
    # the root's split gains nothing, the next two everything: y is the parity of two signs
    X = np.array([[0.0, 0.0, 1.0, 1.0, 0.1], [0.0, 1.0, 0.0, 1.0, 0.0]])
    tree = plain(X, [0, 1, 1, 0, 0], n_singles=2).grow()
    for rule in RULES:
        subtrees = nested_subtrees(tree, rule)
        assert subtrees.error[0] == pytest.approx(0, abs=1e-12)
        assert list(subtrees.leaves) == [tree.leaves()[0], 1]
        assert subtrees.alpha[1] == pytest.approx(subtrees.error[1] / (tree.leaves()[0] - 1))


def test_what_was_cut_before_counts_no_more():
    tree = plain(np.arange(16.0)[None], np.arange(16) ** 2).grow()
    for rule in RULES:
        cut = with_leaves(tree, 4, rule)
        assert (split_prices(cut, rule)[cut.left < 0] == 0).all()
        assert nested_subtrees(cut, rule).leaves[0] == cut.leaves()[0]
