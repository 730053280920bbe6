"""Impurities and gains against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nodes import CRITERIA, described, samples
from odrf.engine.compiling import kernel
from odrf.engine.factors import NO_FACTORS
from odrf.engine.numeric import streams
from odrf.engine.rows import Rows
from odrf.engine.splits.impurity import (
    ENTROPY,
    GINI,
    ORDINAL,
    among_present,
    class_gain,
    counted,
    counts_gain,
    describe,
    impurity,
    is_allowed,
    moment_gain,
    node_moments,
    present_classes_for,
    whole_logs,
)
from odrf.engine.splits.thresholds import random_cut
from reference.impurity import gain
from reference.impurity import impurity as twin_impurity

quick = settings(deadline=None)


@kernel
def describe_numbers(rows, value, moments, criterion):
    """Return what of a node Python can be given: a kernel's arrays are not counted."""
    node = describe(rows, 0, len(rows.y), value, moments, value, criterion, 0.0)
    return node.weight, node.n_rows, node.impurity, node.factor, node.unit


@quick
@given(samples(), st.sampled_from([GINI, ENTROPY, ORDINAL]))
def test_impurity_of_shares_is_that_of_the_twin(sample, criterion):
    _, y, w, _, n_classes = sample
    shares = np.array([w[y == k].sum() for k in range(n_classes)]) / w.sum()
    assert impurity(shares, criterion) == pytest.approx(twin_impurity(y, w, criterion), abs=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(sample=samples())
def test_a_node_is_described_as_its_rows_are(criterion, sample):
    _, y, w, counts, n_classes = sample
    expected = described(y, w, counts, criterion, n_classes)
    n, value, moments = len(y), np.empty(len(expected.value)), np.empty(len(y))
    rows = Rows(
        np.empty((1, n), dtype=np.float32), np.arange(n, dtype=np.int32), y, w,
        counts.astype(np.int32), True, bool((w == counts).all()),
        *NO_FACTORS, np.empty(0, dtype=np.float32),
    )  # fmt: skip
    weight, n_rows, node_impurity, factor, unit = describe_numbers(rows, value, moments, criterion)
    assert weight == pytest.approx(expected.weight)
    assert (n_rows, unit) == (expected.n_rows, expected.unit)
    assert factor == pytest.approx(expected.factor)
    assert node_impurity == pytest.approx(expected.impurity, abs=1e-12)
    assert node_impurity > 0 or np.ptp(y) == 0
    np.testing.assert_allclose(value, expected.value, rtol=1e-12, atol=1e-15)
    if factor > 0:
        np.testing.assert_allclose(moments, expected.moments, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(sample=samples(), seed=st.integers(0, 2**32))
def test_gains_are_those_of_the_definition(criterion, sample, seed):
    _, y, w, counts, n_classes = sample
    node = described(y, w, counts, criterion, n_classes)
    left = np.random.default_rng(seed).random(len(y)) < 0.5
    left_weight = w[left].sum()
    if not is_allowed(left_weight, counts[left].sum(), node.weight, node.n_rows, 1, node.lightest):
        assert left.all() or not left.any()
        return
    if node.factor > 0:
        second, baseline = node_moments(node)
        found = moment_gain(
            node.moments[left].sum(), left_weight, node.weight, second, criterion, node.logs
        )
        found = node.factor * (found - baseline)
    else:
        parts = np.bincount(y[left].astype(int), weights=w[left], minlength=n_classes)
        found = class_gain(parts, left_weight, node.value, node.weight, criterion)
    assert found == pytest.approx(gain(y, w, left, criterion), abs=1e-12)


@quick
@given(samples(), st.sampled_from([GINI, ENTROPY]), st.integers(0, 2**32), st.integers(0, 50))
def test_gains_from_counts_are_those_of_the_definition(sample, criterion, seed, n_logs):
    _, y, _, counts, n_classes = sample
    left = np.random.default_rng(seed).random(len(y)) < 0.5
    assume(left.any() and not left.all())
    sides = [
        [counts[side & (y == k)].sum() for k in range(n_classes)]
        for side in (left, ~left, left | ~left)
    ]
    logs = whole_logs(criterion, n_logs)
    adds = [sum(counted(float(number), criterion, logs) for number in side) for side in sides]
    n_left, n = float(sum(sides[0])), float(counts.sum())
    found = counts_gain(adds[0], adds[1], n_left, n, criterion, logs)
    shared = adds[2] / n if criterion == GINI else adds[2] - counted(n, criterion, logs)
    expected = gain(y, counts.astype(float), left, criterion)
    assert (found - shared) / n == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_logs", [None, 8])
@quick
@given(number=st.floats(-1e300, 1e300) | st.floats(-20, 20) | st.integers(-20, 20).map(float))
def test_a_term_is_looked_up_only_within_the_table(number, n_logs):
    surrounded = np.full(100, np.nan)
    logs = surrounded[50:50] if n_logs is None else surrounded[50 : 51 + n_logs]
    if n_logs is not None:
        logs[:] = whole_logs(ENTROPY, n_logs)
        assume(number == np.rint(number) or not 0 <= number < n_logs + 1)
    expected = number * np.log(number) if number > 0 else 0.0
    assert counted(number, ENTROPY, logs) == pytest.approx(expected, rel=1e-12)


def test_a_side_needs_rows_and_more_weight_than_rounding_has():
    assert is_allowed(1.0, 2, 3.0, 5, 2, 1e-12)
    assert not is_allowed(1.0, 2, 3.0, 5, 3, 1e-12)
    assert not is_allowed(1.0, 3, 3.0, 5, 3, 1e-12)
    assert not is_allowed(1e-12, 2, 3.0, 5, 1, 1e-12)
    assert not is_allowed(3.0 - 1e-12, 2, 3.0, 5, 1, 1e-12)
    assert not is_allowed(1.0, 2, 3.0, 5, 2, 1.5)


# ------------------------------------------------------------------------------------------------
# Cuts among the classes that a node has, against cuts among all classes.
# ------------------------------------------------------------------------------------------------


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
