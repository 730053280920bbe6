"""The critical α of branches against cutting the weakest link again and again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.trees.forest import pool_branches
from reference.pruning import weakest_links


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
