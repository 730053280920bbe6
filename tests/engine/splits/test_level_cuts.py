"""Cuts along one factor against all cuts of its projection, by definition."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nodes import CRITERIA, described, samples
from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import INDICATORS, PLAIN, feature_groups_of
from odrf.engine.numeric import streams
from odrf.engine.rows import Rows
from odrf.engine.splits.factor_splits import (
    best_cut_of_levels,
    factor_of,
    level_sums_for,
    random_cut_of_levels,
)
from odrf.engine.splits.impurity import Node
from reference.impurity import cuts, gain
from reference.randomness import Stream


@kernel
def factor(place, columns, c, size):
    """Call what only kernels can call."""
    return factor_of(place, columns, c, size, place)


class Case(NamedTuple):
    """A node whose rows have levels of factor 1, a direction along it, and its projection."""

    rows: Rows
    node: Node
    columns: NDArray[np.int64]
    theta: NDArray[np.float32]
    levels: Any
    values: NDArray[np.float32]
    weights: NDArray

    @property
    def left(self) -> NDArray | None:
        """Scratch for the classes, None where a moment is enough."""
        return None if self.node.factor > 0 else np.empty(len(self.node.value))


@st.composite
def cases(draw: st.DrawFn, criterion: int) -> Case:
    """Levels of few and of many rows, with equal coefficients among those of the direction."""
    _, y, w, counts, n_classes = draw(samples())
    n, L = len(y), draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    level = rng.integers(draw(st.sampled_from([0, 1])), L + 1, n)
    size = draw(st.integers(1, L))
    chosen = rng.permutation(L)[:size]
    theta = rng.choice([-0.5, 0.0, 0.25, 1.0, 0.3], size).astype(np.float32)
    values = np.zeros(n, dtype=np.float32)
    for k, coefficient in zip(chosen, theta, strict=True):
        values[level == k + 1] = coefficient
    node = described(y, w, counts, criterion, n_classes)
    copied = draw(st.booleans())
    at = np.arange(n) if copied else rng.permutation(n)
    codes = np.zeros((2, n), dtype=np.int32)
    codes[1, at] = level
    rows = Rows(
        np.empty((1, n), dtype=np.float32), at.astype(np.int32), y, w, node.counts, copied,
        node.unit, codes, np.array([0, *[-2] * L], dtype=np.int32),
        np.arange(L + 1, dtype=np.int32), np.zeros(L + 1, dtype=np.float32),
    )  # fmt: skip
    groups = feature_groups_of(
        np.array([0, 1, 1 + L]), np.array([PLAIN, INDICATORS], dtype=np.int8)
    )
    scratch = level_sums_for(groups, len(node.value))
    return Case(rows, node, 1 + chosen[None, :], theta[None, :], scratch, values, w)


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(deadline=None)
@given(st.data(), st.integers(1, 9))
def test_the_best_of_all_cuts_is_found(criterion, data, min_leaf):
    case = data.draw(cases(criterion))
    node, size = case.node, case.theta.shape[1]
    found, threshold = best_cut_of_levels(
        case.rows, 0, 1, node, case.columns, case.theta, 0, size, case.left, case.levels, min_leaf
    )
    all_cuts = list(cuts(case.values, node.counts, min_leaf))
    gains = [gain(node.y, case.weights, left, criterion) for left in all_cuts]
    assert found == pytest.approx(max(gains, default=0.0), abs=1e-12)
    if found > 1e-12:
        left = case.values <= threshold
        assert gain(node.y, case.weights, left, criterion) == pytest.approx(found, abs=1e-12)
    assert not case.levels.slot.any()


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 9), st.integers(0, 2**32))
def test_the_best_of_the_same_random_cuts_is_found(criterion, data, n_thresholds, min_leaf, seed):
    case = data.draw(cases(criterion))
    node, values, state = case.node, case.values, streams(seed, 0, 1)[0]
    found, threshold = random_cut_of_levels(
        state, case.rows, 0, 1, node, case.columns, case.theta, 0, case.theta.shape[1], case.left,
        n_thresholds, case.levels, min_leaf,
    )  # fmt: skip
    stream, best = Stream(streams(seed, 0, 1)[0]), 0.0
    for _ in range(n_thresholds):
        drawn = np.float32(values.min() + np.float32(stream.uniform()) * np.ptp(values))
        left = values <= drawn
        if min(node.counts[left].sum(), node.counts[~left].sum()) >= min_leaf:
            best = max(best, gain(node.y, case.weights, left, criterion))
    assert state.tolist() == stream.state
    assert found == pytest.approx(best, abs=1e-12)
    if found > 1e-12:
        left = values <= threshold
        assert gain(node.y, case.weights, left, criterion) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [([1, 2], 0), ([3], 1), ([0], -1), ([1, 3], -1), ([1, 0, 2], -1), ([], -1)],
)
def test_a_direction_is_along_a_factor_if_all_its_columns_are(columns, expected):
    place = np.array([0, -1, -1, -2], dtype=np.int32)
    padded = np.array([[*columns, 0]], dtype=np.int64)
    assert factor(place, padded, 0, len(columns)) == expected
    assert factor(place[:0], padded, 0, len(columns)) == -1
