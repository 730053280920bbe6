"""Impurities and gains against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes import CRITERIA, described, samples
from odrf.engine.impurity import (
    ENTROPY,
    GINI,
    SQUARED_ERROR,
    class_gain,
    impurity,
    is_allowed,
    moment_gain,
)
from reference.impurity import gain
from reference.impurity import impurity as twin_impurity

quick = settings(deadline=None)


@quick
@given(samples(), st.sampled_from([GINI, ENTROPY]))
def test_impurity_of_shares_is_that_of_the_twin(sample, criterion):
    _, y, w, _, n_classes = sample
    shares = np.array([w[y == k].sum() for k in range(n_classes)]) / w.sum()
    assert impurity(shares, criterion) == pytest.approx(twin_impurity(y, w, criterion), abs=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(sample=samples())
def test_a_node_is_described_as_its_rows_are(criterion, sample):
    _, y, w, counts, n_classes = sample
    node = described(y, w, counts, criterion, n_classes)
    assert node.weight == pytest.approx(w.sum())
    assert node.n_rows == counts.sum()
    assert node.impurity == pytest.approx(twin_impurity(y, w, criterion), abs=1e-12)
    assert node.impurity > 0 or np.ptp(y) == 0
    if criterion == SQUARED_ERROR:
        np.testing.assert_allclose(node.value, np.average(y, weights=w), rtol=1e-12, atol=1e-15)
    else:
        shares = [np.average(y == k, weights=w) for k in range(n_classes)]
        np.testing.assert_allclose(node.value, shares, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(sample=samples(), seed=st.integers(0, 2**32))
def test_gains_are_those_of_the_definition(criterion, sample, seed):
    _, y, w, counts, n_classes = sample
    node = described(y, w, counts, criterion, n_classes)
    left = np.random.default_rng(seed).random(len(y)) < 0.5
    left_weight = w[left].sum()
    if not is_allowed(left_weight, counts[left].sum(), node.weight, node.n_rows, 1):
        assert left.all() or not left.any()
        return
    if node.factor > 0:
        shift = node.moments[left].sum()
        found = node.factor * moment_gain(shift, left_weight, node.weight)
    else:
        parts = np.bincount(y[left].astype(int), weights=w[left], minlength=n_classes)
        found = class_gain(parts, left_weight, node.value, node.weight, criterion)
    assert found == pytest.approx(gain(y, w, left, criterion), abs=1e-12)


def test_a_side_needs_rows_and_more_weight_than_rounding_has():
    assert is_allowed(1.0, 2, 3.0, 5, 2)
    assert not is_allowed(1.0, 2, 3.0, 5, 3)
    assert not is_allowed(1.0, 3, 3.0, 5, 3)
    assert not is_allowed(1e-12, 2, 3.0, 5, 1)
    assert not is_allowed(3.0 - 1e-12, 2, 3.0, 5, 1)
