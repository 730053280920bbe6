"""Critical α of splits against their definitions: every subtree's cost compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.pruning.complexity import (
    LOSSES,
    RULES,
    critical_alphas,
    decreases,
    growth_errors,
    nested_subtrees,
    pruned,
    root_losses,
    with_leaves,
)
from problems import noisy, plain, problems
from reference.pruning import all_subtrees, loss_in_leaves
from stumps import stump

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


def alpha_of_share(tree, share):
    """An α: this multiple of the mean decrease of the error per split."""
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
def test_no_subtree_costs_less_than_the_weakest_link_s(case, share):
    problem, tree = case
    alpha = alpha_of_share(tree, share)
    least = cost(problem, pruned(tree, critical_alphas(tree), alpha), alpha)
    children = {node: int(tree.left[node]) for node in np.flatnonzero(tree.left >= 0)}
    for splits in all_subtrees(children):
        kept = np.isin(np.arange(tree.n_nodes), list(splits))
        assert least <= cost(problem, tree.keeping(kept), alpha) + 1e-9


@unhurried
@given(grown(), st.floats(0, 3))
def test_no_earlier_tree_costs_less_than_the_growth_order_s(case, share):
    problem, tree = case
    alpha = alpha_of_share(tree, share)
    chosen = pruned(tree, critical_alphas(tree, "growth"), alpha)
    costs = growth_errors(tree) + alpha * np.arange(1, len(growth_errors(tree)) + 1)
    assert cost(problem, chosen, alpha) == pytest.approx(costs.min(), rel=1e-9, abs=1e-10)


@unhurried
@given(grown(), st.floats(0, 3))
def test_the_weakest_link_never_costs_more_than_the_growth_order(case, share):
    problem, tree = case
    alpha = alpha_of_share(tree, share)
    by_rule = [
        cost(problem, pruned(tree, critical_alphas(tree, rule), alpha), alpha) for rule in RULES
    ]
    assert by_rule[0] <= by_rule[1] + 1e-10


@unhurried
@given(grown(), rules, losses, st.floats(0, 3), st.floats(0, 3))
def test_subtrees_are_nested(case, rule, loss, one, other):
    _, tree = case
    critical = critical_alphas(tree, rule, loss)
    small = pruned(tree, critical, alpha_of_share(tree, max(one, other)), loss)
    large = pruned(tree, critical, alpha_of_share(tree, min(one, other)), loss)
    assert ((large.left >= 0) | (small.left < 0)).all()


@unhurried
@given(grown(), rules, losses)
def test_alpha_0_keeps_every_useful_split_and_an_infinite_alpha_none(case, rule, loss):
    _, tree = case
    critical, decrease = critical_alphas(tree, rule, loss), decreases(tree, loss)
    free = pruned(tree, critical, 0.0, loss)
    assert decreases(free, loss).sum() == pytest.approx(decrease.sum(), rel=1e-9, abs=1e-10)
    smallest = nested_subtrees(tree, rule, loss).leaves[0]
    assert free.leaves()[0] == smallest <= tree.leaves()[0]
    assert pruned(tree, critical, np.inf, loss).leaves()[0] == 1


@unhurried
@given(grown(n_trees=3), rules, losses, st.floats(0, 0.2))
def test_each_tree_of_a_forest_is_pruned_on_its_own(case, rule, loss, alpha):
    _, forest = case
    together = pruned(forest, critical_alphas(forest, rule, loss), alpha, loss)
    for b in range(3):
        tree = forest.tree(b)
        alone = pruned(tree, critical_alphas(tree, rule, loss), alpha, loss)
        np.testing.assert_array_equal(together.tree(b).left, alone.left)


@pytest.mark.parametrize("unit", [2.0**-20, 1.0, 2.0**20])
@pytest.mark.parametrize("rule", RULES)
def test_an_alpha_within_rounding_of_a_critical_one_is_tied_with_it(rule, unit):
    """The tolerance is relative to the error of the root, and a tie goes to the smaller tree."""
    problem = noisy(60, min_leaf=5)
    tree = replace(problem, y=problem.y * unit).grow()
    critical, root = critical_alphas(tree, rule), root_losses(tree)[0]
    splits = tree.left >= 0
    assert splits.sum() > 5
    for alpha in np.unique(critical[splits]):
        tied = pruned(tree, critical, alpha - 0.6e-12 * root)
        assert ((tied.left >= 0) == (critical > alpha)).all()
        below = pruned(tree, critical, alpha - 0.9e-12 * root)
        assert ((below.left >= 0) == (splits & (critical >= alpha))).all()


@pytest.mark.parametrize("weight", [10.0, 10.0 * 2.0**-30])
def test_a_loss_that_grows_by_rounding_alone_does_not_grow(weight):
    """A share of 1e-10 of the root's loss is rounding; more is not."""
    tree = stump({0: 1.0}, 0.5)
    tree = replace(tree, weight=tree.weight / 10 * weight)
    for growth, expected in [(1e-11, 0.0), (0.9e-10, 0.0), (1.1e-10, -2.2e-10), (1e-3, -2e-3)]:
        worse = replace(tree, impurity=2.0 * np.array([1.0, 1.0, 1.0 + growth / 0.6]))
        assert decreases(worse)[0] == pytest.approx(expected, rel=1e-4, abs=0)
    better = replace(tree, impurity=2.0 * np.array([1.0, 1.0, 1.0 - 1e-11 / 0.6]))
    assert decreases(better)[0] == pytest.approx(2e-11, rel=1e-3)


@pytest.mark.parametrize("rule", RULES)
def test_critical_alphas_are_rounded_and_not_negative(rule):
    tree = stump({0: 1.0}, 0.5)
    third = replace(tree, impurity=np.array([2.0, 1.0, 14 / 9]))
    assert critical_alphas(third, rule)[0] == 2 * 0.333333333333
    worse = replace(tree, impurity=np.array([2.0, 2.0, 3.0]))
    assert critical_alphas(worse, rule).tolist() == [0.0, 0.0, 0.0]


def test_a_split_without_gain_is_kept_for_the_splits_below_it():
    # the root's split decreases nothing, the next two everything: y is the parity of two signs
    X = np.array([[0.0, 0.0, 1.0, 1.0, 0.1], [0.0, 1.0, 0.0, 1.0, 0.0]])
    tree = plain(X, [0, 1, 1, 0, 0], n_singles=2).grow()
    for rule in RULES:
        subtrees = nested_subtrees(tree, rule)
        assert subtrees.error[0] == pytest.approx(0, abs=1e-12)
        assert list(subtrees.leaves) == [tree.leaves()[0], 1]
        assert subtrees.alpha[1] == pytest.approx(subtrees.error[1] / (tree.leaves()[0] - 1))


def test_splits_pruned_before_do_not_count():
    tree = plain(np.arange(16.0)[None], np.arange(16) ** 2).grow()
    for rule in RULES:
        cut = with_leaves(tree, 4, rule)
        assert (critical_alphas(cut, rule)[cut.left < 0] == 0).all()
        assert nested_subtrees(cut, rule).leaves[0] == cut.leaves()[0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_tree_without_loss_has_no_split_to_prune(rule, loss):
    data = pd.DataFrame({"a": np.arange(12.0), "y": ["one"] + 11 * ["other"]})
    forest = odrf.odrf("y ~ a", data, n_trees=20, blend=False, seed=1).forest
    lossless = np.repeat(root_losses(forest, loss) == 0, np.diff(forest.root))
    assert 0 < lossless.sum() < len(lossless)
    critical = critical_alphas(forest, rule, loss)
    assert np.isfinite(critical).all() and not critical[lossless].any()
