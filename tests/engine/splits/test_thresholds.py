"""Random cuts against the definition, and the sampler of their thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from nodes import CRITERIA, described, samples
from odrf.engine.numeric import streams
from odrf.engine.splits.impurity import SQUARED_ERROR
from odrf.engine.splits.thresholds import random_cut
from problems import noisy
from reference.impurity import gain
from reference.randomness import Stream


def best(values, y, w, counts, criterion, n_classes, n_thresholds, min_leaf, seed):
    """Call the kernel as a node does; return its answer and its stream."""
    node, state = described(y, w, counts, criterion, n_classes), streams(seed, 0, 1)[0]
    left = None if node.factor > 0 else np.empty(len(node.value))
    table = np.empty((4, max(2, n_classes)))
    return random_cut(state, values, left, table, node, n_thresholds, min_leaf), state.tolist()


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(deadline=None)
@given(samples(), st.integers(1, 4), st.integers(1, 9), st.integers(0, 2**32))
def test_the_best_of_the_same_cuts_is_found(criterion, sample, n_thresholds, min_leaf, seed):
    values, y, w, counts, n_classes = sample
    (found, threshold), state = best(
        values, y, w, counts, criterion, n_classes, n_thresholds, min_leaf, seed
    )
    stream, gains = Stream(streams(seed, 0, 1)[0]), [(0.0, 0.0)]
    for _ in range(n_thresholds):
        drawn = np.float32(values.min() + np.float32(stream.uniform()) * np.ptp(values))
        left = values <= drawn
        if min(counts[left].sum(), counts[~left].sum()) >= min_leaf:
            gains.append((gain(y, w, left, criterion), drawn))
    assert state == stream.state
    assert found == pytest.approx(max(gains)[0], abs=1e-12)
    if found > 1e-12:
        assert gain(y, w, values <= threshold, criterion) == pytest.approx(found, abs=1e-12)


def test_equal_values_have_no_cut():
    ones = np.ones(5)
    (found, _), _ = best(
        np.full(5, np.float32(0.3)),
        np.arange(5.0),
        ones,
        ones.astype(int),
        SQUARED_ERROR,
        1,
        3,
        1,
        0,
    )
    assert found == 0.0


def test_thresholds_of_roots_are_uniform_between_the_ends():
    problem = noisy(n=400, n_singles=1, n_thresholds=1, max_leaves=2)
    forest = problem.grow(3000)
    threshold = forest.threshold[forest.left >= 0]
    column = forest.index
    low, high = problem.X.min(axis=1)[column], problem.X.max(axis=1)[column]
    # Cuts that leave a side too small, or gain nothing, are not made: few of 400 rows' worth.
    assert len(threshold) > 2950
    assert kstest((threshold - low) / (high - low), "uniform").pvalue > 0.001
