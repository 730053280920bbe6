"""Kernels of trees of lines against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.lines.cuts import write_cuts
from odrf.engine.lines.hinges import write_hinges, write_risks
from odrf.engine.lines.leaf_lines import LeafLines
from odrf.engine.lines.moments import RIDGE, write_line, write_moments, write_plane
from reference import lines as twin

LEAST, PRICE, MOST = 1e-9, 1.5, 6
seeds = given(seed=st.integers(0, 2**32 - 1))


def problem(seed, n=40, q=4):
    """Predictors (n, q), a response that bends, and whole weights."""
    rng = np.random.default_rng(seed)
    Z = rng.random((n, q)).astype(np.float32)
    y = np.abs(Z[:, 0] + Z[:, 1] - 1.0) + 0.3 * Z[:, 2] + 0.1 * rng.normal(size=n)
    return Z, y, rng.integers(1, 4, n).astype(float)


def moments_of(Z, y, weights):
    n, q = Z.shape
    M = np.empty((q + 2, q + 2))
    write_moments(Z, np.arange(n), np.arange(q), y, weights, np.empty(q + 2), M)
    return M


def scratch(q):
    return np.empty((q + 2, q + 2)), np.empty(q + 2, dtype=np.bool_), np.empty(q + 2)


def line_of(M, n, most=MOST):
    S, used, line = scratch(len(M) - 2)
    found = np.empty(3)
    write_line(M, n, LEAST, PRICE, most, S, used, line, found)
    return found, line[: len(M) - 1]


@seeds
def test_moments_are_sums_of_products(seed):
    Z, y, weights = problem(seed)
    expected = twin.moments(Z.astype(float), y, weights)
    np.testing.assert_allclose(moments_of(Z, y, weights), expected, rtol=1e-10)


@seeds
def test_moments_are_those_of_some_rows_and_columns(seed):
    Z, y, weights = problem(seed)
    rows, columns = np.array([3, 8, 9, 30]), np.array([2, 0])
    M = np.empty((4, 4))
    write_moments(Z, rows, columns, y, weights, np.empty(4), M)
    some = Z[np.ix_(rows, columns)].astype(float)
    np.testing.assert_allclose(M, twin.moments(some, y[rows], weights[rows]), rtol=1e-10)


@seeds
def test_the_best_line_is_that_of_the_forward_path(seed):
    Z, y, weights = problem(seed)
    found, line = line_of(moments_of(Z, y, weights), len(y))
    risk, error, expected = twin.best_line(Z.astype(float), y, weights, LEAST, PRICE, MOST)
    assert found[0] == pytest.approx(risk, rel=1e-7)
    assert found[1] == pytest.approx(error, rel=1e-7)
    assert found[2] == np.count_nonzero(expected[1:])
    np.testing.assert_allclose(line, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_a_line_has_no_more_terms_than_allowed(most):
    Z, y, weights = problem(1)
    found, line = line_of(moments_of(Z, y + 5 * Z @ np.arange(1, 5), weights), len(y), most)
    assert found[2] == np.count_nonzero(line[1:]) == most


def test_a_line_of_fewer_rows_than_predictors_has_finite_coefficients():
    Z, y, weights = problem(2, n=6, q=12)
    found, line = line_of(moments_of(Z, y, weights), 6, 12)
    assert np.isfinite(found).all()
    assert np.isfinite(line).all()
    assert found[2] <= 3


def test_constant_and_repeated_predictors_are_left_out():
    Z, y, weights = problem(3)
    Z[:, 1] = 0.5
    Z[:, 3] = Z[:, 0]
    y = y + 3 * Z[:, 0]
    _, line = line_of(moments_of(Z, y, weights), len(y))
    assert line[2] == 0.0
    assert (line[1] == 0.0) != (line[4] == 0.0)


@seeds
def test_a_plane_is_a_ridge_regression(seed):
    Z, y, weights = problem(seed)
    plane = np.empty(5)
    write_plane(moments_of(Z, y, weights), RIDGE, scratch(4)[0], plane)
    expected = twin.ridge_plane(Z.astype(float), y, weights, RIDGE)
    np.testing.assert_allclose(plane, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("criterion", "lines"), [(0, False), (1, False), (2, True)])
@given(seed=st.integers(0, 2**32 - 1), levels=st.sampled_from([2, 5, 1000]))
def test_cuts_are_the_best_of_all(criterion, lines, seed, levels):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, levels, 30).astype(float)
    y, residual = rng.normal(size=(2, 30))
    weights = rng.integers(1, 4, 30).astype(float)
    decreases, cuts = np.zeros((2, 3, 1))
    order = np.argsort(x, kind="stable")[None]
    write_cuts(x[None], order, y, residual, weights, 4, decreases, cuts)
    before, after = twin.cut_errors(x, residual if criterion else y, weights, 4, lines)
    if not after or before - min(after)[0] <= 1e-9:
        assert not decreases[criterion, 0] > 1e-9
        return
    assert decreases[criterion, 0] == pytest.approx(before - min(after)[0], rel=1e-6, abs=1e-9)
    made = next(e for e, low, high in after if low <= cuts[criterion, 0] < high)
    assert made == pytest.approx(min(after)[0], rel=1e-6, abs=1e-9)


def hinges_of(Z, y, weights, start, subset, min_leaf=5):
    n, q = Z.shape
    d, size = q + 2, len(subset)
    subsets = np.zeros((1, 1, q), dtype=np.int64)
    subsets[0, 0, :size] = subset
    left, goes_left = np.empty((2, n), dtype=np.bool_)
    splits = np.empty((1, q + 1))
    write_hinges(
        Z, np.arange(n), np.arange(q), y, weights, min_leaf, RIDGE, start[None], subsets,
        np.array([[size]]), left, goes_left, np.empty((2, n)), np.empty((n, d)), np.empty(n),
        np.empty((2, d, d)), np.empty((d, d)), np.empty((2, d)), np.empty(q, dtype=np.int64),
        np.empty(d), splits,
    )  # fmt: skip
    return splits[0]


@pytest.mark.parametrize("subset", [[0, 1, 2, 3], [1, 0], [2]])
@seeds
def test_hinges_are_those_of_planes_fitted_anew_in_each_round(subset, seed):
    Z, y, weights = problem(seed, n=60)
    start = np.array([-0.5, 1.0, 0.0, 0.0, 0.0])
    split = hinges_of(Z, y, weights, start, subset)
    left = start[0] + Z.astype(float) @ start[1:] <= 0.0
    chosen = Z[:, subset].astype(float)
    expected, errors = twin.hinge(chosen, y, weights, left, 5, RIDGE)
    assert errors == sorted(errors, reverse=True)
    if expected is None:
        assert np.isnan(split).all()
        return
    whole = np.zeros(5)
    whole[0], whole[1 + np.array(subset)] = expected[0], expected[1:]
    np.testing.assert_allclose(split, whole, rtol=1e-5, atol=1e-7)


def test_a_hinge_finds_where_two_planes_meet():
    rng = np.random.default_rng(4)
    Z = rng.random((200, 2)).astype(np.float32)
    y = np.maximum(Z[:, 0], Z[:, 1]).astype(float)
    split = hinges_of(Z, y, np.ones(200), np.array([-0.5, 1.0, 0.0]), [0, 1])
    assert split[2] / split[1] == pytest.approx(-1.0, abs=0.02)
    assert split[0] / split[1] == pytest.approx(0.0, abs=0.02)


@seeds
def test_the_risk_of_a_split_is_that_of_the_lines_of_its_sides(seed):
    Z, y, weights = problem(seed, n=60)
    rng = np.random.default_rng(seed)
    splits = np.column_stack([-rng.random(6), rng.normal(size=(6, 4))])
    S, used, line = scratch(4)
    risks, left = np.empty(6), np.empty(60, dtype=np.bool_)
    options = 10, LEAST, PRICE, MOST
    write_risks(
        Z, np.arange(60), np.arange(4), y, weights, moments_of(Z, y, weights), options, splits,
        left, np.empty((2, 6, 6)), S, used, line, risks,
    )  # fmt: skip
    for split, risk in zip(splits, risks, strict=True):
        goes_left = split[0] + Z.astype(float) @ split[1:] <= 0.0
        if not 10 <= goes_left.sum() <= 50:
            assert risk == np.inf
            continue
        sides = [
            twin.best_line(Z[s].astype(float), y[s], weights[s], LEAST * s.sum() / 60, PRICE, MOST)
            for s in (goes_left, ~goes_left)
        ]
        assert risk == pytest.approx(sides[0][0] + sides[1][0], rel=1e-6)


@seeds
def test_values_are_lines_within_bounds(seed):
    Z, _, _ = problem(seed)
    rng = np.random.default_rng(seed)
    slopes, intercept = rng.normal(size=(3, 4)), rng.normal(size=3)
    low = np.array([-np.inf, 0.0, -0.5])
    lines = LeafLines(
        np.array([0, 4, 8, 12]), np.tile(np.arange(4, dtype=np.int32), 3), slopes.ravel(),
        intercept, low, low + 1.0, np.full(3, 5, dtype=np.int32),
    )  # fmt: skip
    nodes = rng.integers(0, 3, 40)
    found = lines.values(nodes, np.ascontiguousarray(Z.T), np.arange(40))
    for node in range(3):
        at = nodes == node
        expected = twin.values(
            Z[at].astype(float), intercept[node], slopes[node], low[node], low[node] + 1.0
        )
        np.testing.assert_allclose(found[at], expected, rtol=1e-9, atol=1e-12)
    some = lines.of_nodes(np.array([2, 0]))
    again = some.values(np.array([0, 1]), np.ascontiguousarray(Z.T), np.array([5, 6]))
    whole = lines.values(np.array([2, 0]), np.ascontiguousarray(Z.T), np.array([5, 6]))
    np.testing.assert_array_equal(again, whole)
