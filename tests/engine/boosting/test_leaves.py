"""Leaf values against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.boosting.losses import (
    LeafRows,
    Poisson,
    huber_values,
    median_values,
    newton_values,
    weighted_quantile,
)
from reference import boosting as twin


@st.composite
def leaf_rows(draw):
    """Some rows in up to five leaves, ties among the residuals, whole or other weights."""
    seed, n = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 30))
    rng = np.random.default_rng([seed, n])
    residuals = rng.integers(-4, 5, n) / 2 if rng.random() < 0.5 else rng.normal(size=n)
    weights = rng.integers(1, 4, n) * (1.0 if rng.random() < 0.5 else 0.1)
    return LeafRows(
        rng.integers(0, 5, n), 5, residuals, rng.normal(size=n), rng.random(n) + 0.1, weights
    )


@given(rows=leaf_rows(), l2=st.sampled_from([0.0, 1.0, 7.5]))
def test_newton_steps(rows, l2):
    for leaf, value in enumerate(newton_values(rows, l2)):
        in_leaf = rows.leaf == leaf
        negative_gradient = sum(
            -w * g for w, g in zip(rows.weights[in_leaf], rows.first[in_leaf], strict=True)
        )
        curvature = sum(
            w * h for w, h in zip(rows.weights[in_leaf], rows.second[in_leaf], strict=True)
        )
        assert value == pytest.approx(
            negative_gradient / (curvature + l2) if in_leaf.any() else 0.0, abs=1e-12
        )


@given(rows=leaf_rows())
def test_medians(rows):
    found = median_values(rows)
    for leaf in range(5):
        in_leaf = rows.leaf == leaf
        if not in_leaf.any():
            assert found[leaf] == 0.0
            continue
        # tenths add up with rounding: as whole numbers they do not
        whole = np.rint(rows.weights[in_leaf] * 10).tolist()
        assert found[leaf] == twin.median(rows.residuals[in_leaf].tolist(), whole)


def test_a_leaf_of_little_weight_has_the_median_of_its_own_rows():
    residuals, ones = np.array([1.0, 5.0, 9.0]), np.ones(3)
    rows = LeafRows(np.array([0, 1, 2]), 3, residuals, ones, ones, np.array([1.0, 1e-13, 1.0]))
    assert median_values(rows).tolist() == residuals.tolist()


@given(rows=leaf_rows(), delta=st.sampled_from([0.0, 0.3, 100.0]))
def test_huber_steps(rows, delta):
    for leaf, value in enumerate(huber_values(rows, delta)):
        in_leaf = rows.leaf == leaf
        if not in_leaf.any():
            assert value == 0.0
            continue
        weights, residuals = rows.weights[in_leaf], rows.residuals[in_leaf]
        centre = twin.median(residuals.tolist(), np.rint(weights * 10).tolist())
        clipped = [max(-delta, min(delta, r - centre)) for r in residuals]
        expected = centre + np.average(clipped, weights=weights)
        assert value == pytest.approx(expected, abs=1e-12)


@given(
    values=st.lists(st.integers(-5, 5), min_size=1, max_size=20),
    share=st.sampled_from([0.25, 0.5, 0.9, 1.0]),
    seed=st.integers(0, 99),
)
def test_quantiles_of_weighted_rows_are_those_of_rows_written_out(values, share, seed):
    weights = np.random.default_rng(seed).integers(1, 4, len(values))
    found = weighted_quantile(np.array(values, dtype=float), weights.astype(float), share)
    assert found == twin.quantile([float(v) for v in values], weights.tolist(), share)


def test_poisson_steps_stop_at_the_mean_of_the_leaf():
    y, mean = np.array([10.0, 30.0, 0.0]), np.array([0.1, 0.1, 2.0])
    rows = LeafRows(np.array([0, 0, 1]), 2, y, mean - y, mean, np.ones(3))
    up, down = Poisson().leaf_values(rows, 0.0)
    assert mean[0] * np.exp(up) == pytest.approx(20.0)
    assert down == pytest.approx(-1.0)
