"""Cuts among the classes that a node has, against cuts among all classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes import described, samples
from odrf.engine.compiling import kernel
from odrf.engine.numeric import streams
from odrf.engine.splits.impurity import ENTROPY, GINI, ORDINAL, among_present, present_classes_for
from odrf.engine.splits.thresholds import random_cut


@kernel
def cuts(state, again, values, left, present, table, node, n_thresholds, min_leaf):
    """The best random cut among all classes; among those present; and how many these are."""
    cut = random_cut(state, values, left, table, node, n_thresholds, min_leaf)
    few, short = among_present(node, left, present)
    return cut, random_cut(again, values, short, table, few, n_thresholds, min_leaf), len(short)


@pytest.mark.parametrize("criterion", [GINI, ENTROPY, ORDINAL])
@settings(deadline=None)
@given(samples(), st.permutations(range(12)), st.integers(1, 7), st.integers(0, 2**32))
def test_gains_are_the_same_without_absent_classes(criterion, sample, names, n_thresholds, seed):
    values, codes, w, counts, _ = sample
    K = len(names)
    y = np.array(names, dtype=float)[codes.astype(int)]
    node, left, table = described(y, w, counts, criterion, K), np.empty(K), np.empty((4, K + 1))
    state = streams(seed, 0, 1)[0]
    found, expected, n_present = cuts(
        state, state.copy(), values, left, present_classes_for(len(y), K), table, node,
        n_thresholds, 1,
    )  # fmt: skip
    assert found == expected
    assert n_present == (K if criterion == ORDINAL else len(np.unique(y)))
