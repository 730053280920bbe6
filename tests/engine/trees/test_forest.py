"""The arrays of a forest: joining, taking apart, switching splits off."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine import memory
from odrf.engine.trees import concatenate
from odrf.engine.trees import forest as forest_arrays
from odrf.engine.trees.concatenate import FOLLOWING
from odrf.engine.trees.forest import ARRAYS, Forest, LazyArrays, concatenated, joined, pool_branches
from problems import noisy, problems
from reference.pruning import weakest_links


def assert_same(one: Forest, other: Forest) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def one_by_one(trees, n_trees: int) -> Forest:
    """Join trees as large ones are joined."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest_arrays, "TOGETHER", -1)
        return joined(trees, n_trees)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_trees_taken_apart_join_again(problem):
    forest = problem.grow(4)
    trees = [forest.tree(b) for b in range(4)]
    assert_same(joined(trees, 16), forest)
    assert_same(joined(trees, 1), forest)
    assert_same(one_by_one(trees, 4), forest)
    assert_same(one_by_one(trees, 16), forest)
    if forest.surrogates is None:
        assert_same(concatenated(trees), forest)
        assert_same(concatenated([joined(trees[:3], 3), trees[3]]), forest)
        kept = one_by_one(trees, 4).in_memory()
        for together in (concatenated(trees), joined(trees, 16)):
            assert {name: getattr(array, "dtype", None) for name, array in kept.items()} == {
                name: getattr(array, "dtype", None) for name, array in together.in_memory().items()
            }
    assert_same(joined([joined(trees[:1], 9), joined(iter(trees[1:]), 3)], 2), forest)
    assert forest.n_nodes == sum(tree.n_nodes for tree in trees)
    assert forest.leaves().tolist() == [tree.is_leaf().sum() for tree in trees]


@settings(max_examples=40, deadline=None)
@given(problems())
def test_the_arrays_hang_together(problem):
    forest = problem.grow(3)
    split = forest.left >= 0
    assert (forest.order > 0).tolist() == split.tolist()
    assert (np.diff(forest.start) > 0).tolist() == split.tolist()
    assert np.isnan(forest.threshold).tolist() == (~split).tolist()
    assert (forest.gain > 0).tolist() == split.tolist()
    assert forest.start[-1] == len(forest.index) == len(forest.coef)
    for b in range(3):
        tree = forest.tree(b)
        order = tree.order[tree.order > 0]
        assert order.tolist() == list(range(1, len(order) + 1))
        assert tree.n_nodes == 2 * len(order) + 1
        assert tree.leaves()[0] == len(order) + 1
        depth = tree.depth()
        assert (np.diff(depth) >= 0).all()
        assert (depth[tree.left[tree.left >= 0]] == depth[tree.left >= 0] + 1).all()


def test_a_forest_shares_no_memory_between_its_trees():
    forest = noisy(n=50).grow(2)
    before = forest.tree(1).threshold.copy()
    forest.threshold[: forest.root[1]] = -1.0
    np.testing.assert_array_equal(forest.tree(1).threshold, before)


@settings(max_examples=20, deadline=None)
@given(problems())
def test_children_know_their_parents(problem):
    forest = problem.grow(2)
    parents = forest.parents()
    assert np.flatnonzero(parents < 0).tolist() == forest.root[:-1].tolist()
    for node in np.flatnonzero(forest.left >= 0):
        assert parents[forest.left[node]] == parents[forest.left[node] + 1] == node
    cut = forest.keeping(forest.order > 1).parents()
    gone = forest.left[forest.order == 1]
    assert (cut[gone] == -1).all()
    assert (cut[gone + 1] == -1).all()


def test_splits_switched_off_hide_what_is_below_them():
    tree = noisy(n=50).grow()
    stump = tree.keeping(tree.order == 1)
    assert stump.leaves().tolist() == [2]
    assert np.flatnonzero(stump.is_leaf()).tolist() == [1, 2]
    assert stump.depth()[:3].tolist() == [0, 1, 1]
    assert (stump.depth()[3:] == -1).all()
    assert tree.keeping(tree.order < 0).leaves().tolist() == [1]
    assert_same(tree.keeping(tree.order > 0), tree)


@settings(max_examples=40, deadline=None)
@given(problems(), st.data())
def test_arrays_that_follow_are_kept_once_they_do_not(problem, data):
    forest = problem.grow(4)
    trees = [replace(forest.tree(b)) for b in range(4)]
    odd = data.draw(st.integers(0, 3))
    for name in data.draw(st.sets(st.sampled_from(sorted(FOLLOWING)))):
        trees[odd] = replace(trees[odd], **{name: 3 * getattr(trees[odd], name)})
    for join in (joined, one_by_one):
        together = join((tree.lean() for tree in trees), 16)
        for b in range(4):
            assert_same(together.tree(b), trees[b])
            assert_same(trees[b].lean(), trees[b])
        assert_same(pickle.loads(pickle.dumps(together)), together)


def test_weights_and_ranks_are_not_kept_until_they_are_asked_for():
    forest = noisy(n=60).grow(3)
    assert not set(FOLLOWING) & set(forest.in_memory())
    before, every = forest.nbytes, forest.every(lambda make: make())
    assert forest.nbytes == before
    assert every["weight"].tolist() == forest.count.tolist() == forest.weight.tolist()
    assert forest.nbytes == before + forest.weight.nbytes
    cut = forest.keeping(forest.order == 1)
    assert cut.order is forest.order and cut.leaves().tolist() == [2, 2, 2]


def test_more_terms_than_32_bits_number_are_counted_in_64(monkeypatch):
    forest = noisy(n=60).grow(3)
    trees = [forest.tree(b) for b in range(3)]
    monkeypatch.setattr(memory, "MOST_PLACES", len(trees[0].index) + 3)
    monkeypatch.setattr(concatenate, "require_numbers", lambda *_: None)
    for join in (joined, one_by_one):
        wide = join(trees, 16)
        assert wide.start.dtype == np.int64 and trees[0].start.dtype == np.int32
        assert_same(wide, forest)


def test_a_field_that_another_thread_has_read_meanwhile_is_returned():
    forest = noisy(n=60).grow(2)
    # a thread that finds no field asks so; by then the other one may have set it
    assert LazyArrays.__getattr__(forest, "left") is forest.left


# ------------------------------------------------------------------------------------------------
# The critical α of branches against cutting the weakest link again and again.
# ------------------------------------------------------------------------------------------------


@st.composite
def trees(draw):
    """Left children of a tree's nodes (-1 at leaves), and what each split lowers the loss by."""
    left, leaves = [-1], [0]
    for _ in range(draw(st.integers(0, 25))):
        node = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        left[node] = len(left)
        leaves += [len(left), len(left) + 1]
        left += [-1, -1]
    value = st.floats(0, 1) if draw(st.booleans()) else st.integers(0, 3).map(float)
    return np.array(left), np.array([draw(value) if child >= 0 else 0.0 for child in left])


def alphas(left, decrease):
    alpha = np.full(len(left), np.nan)
    pool_branches(left, decrease, alpha, *(np.zeros(len(left), dtype=np.int64) for _ in range(5)))
    return alpha


@settings(deadline=None)
@given(trees())
def test_alphas_are_those_of_the_weakest_links(case):
    left, decrease = case
    children = {node: int(left[node]) for node in np.flatnonzero(left >= 0)}
    expected = np.zeros(len(left))
    for split, alpha in weakest_links(children, dict(enumerate(decrease))).items():
        expected[split] = alpha
    np.testing.assert_allclose(alphas(left, decrease), expected, rtol=1e-12, atol=1e-14)


@settings(deadline=None)
@given(trees())
def test_no_split_has_a_larger_alpha_than_the_one_above(case):
    left, decrease = case
    alpha = alphas(left, decrease)
    for node in np.flatnonzero(left >= 0):
        assert alpha[left[node]] <= alpha[node]
        assert alpha[left[node] + 1] <= alpha[node]


@pytest.mark.parametrize("rises", [True, False])
def test_a_long_chain_takes_no_longer_than_a_bushy_tree(rises):
    # a rescan of the branch below each split would take 10^10 steps
    m = 200_001
    left = np.where(np.arange(m) % 2 == 0, np.arange(m) + 1, -1)
    left[-1] = -1
    decrease = np.where(left >= 0, np.arange(m, dtype=float), 0.0)
    decrease = decrease if rises else np.where(left >= 0, m - decrease, 0.0)
    alpha = alphas(left, decrease)
    if rises:
        assert alpha[0] == pytest.approx(decrease[left >= 0].mean())
        assert np.ptp(alpha[left >= 0]) == 0
    else:
        np.testing.assert_array_equal(alpha, decrease)
