"""Cholesky's factor, its systems and the trace of an inverse, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.numeric import factorise, solve_lower, solve_upper, trace_of_inverse


@settings(deadline=None)
@given(st.integers(1, 7), st.integers(0, 2**32))
def test_factor_solutions_and_trace_are_numpys(d, seed):
    rng = np.random.default_rng(seed)
    root, b = rng.normal(size=(d + 2, d)), rng.normal(size=d)
    A = root.T @ root
    L, lower, upper = np.tril(A) + np.triu(np.full((d, d), np.nan), 1), b.copy(), b.copy()
    assert factorise(L, d)
    expected = np.linalg.cholesky(A)
    found = np.tril(L, -1) + np.diag(1 / np.diag(L))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    solve_lower(L, lower, d)
    solve_upper(L, upper, d)
    close = {"rtol": 1e-6, "atol": 1e-9}
    np.testing.assert_allclose(lower, np.linalg.solve(expected, b), **close)
    np.testing.assert_allclose(upper, np.linalg.solve(expected.T, b), **close)
    trace = trace_of_inverse(L, d, np.empty(d))
    assert trace == pytest.approx(np.trace(np.linalg.inv(A)), rel=1e-6)


@pytest.mark.parametrize("A", [[[0.0]], [[1.0, 2.0], [2.0, 1.0]], [[-1.0]]])
def test_what_is_not_positive_definite_has_no_factor(A):
    assert not factorise(np.array(A), len(A))
