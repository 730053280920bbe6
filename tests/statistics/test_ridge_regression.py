"""Ridge regression against the plain equations, with every row really left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from odrf.engine.running import one_thread
from odrf.statistics.ridge import RIDGE_PENALTIES, ridge_regression


def twin(Z, y, weights):
    """Try all penalties; for each leave out one row after the other."""
    share = weights / weights.sum()
    centre = share @ Z
    S = (Z - centre) / np.sqrt(share @ (Z - centre) ** 2)
    n, m = S.shape
    A, scaled = np.column_stack([np.ones(n), S]), share * n

    def solved(w, penalty):
        square = A.T @ (w[:, None] * A) + penalty * np.diag([0.0, *np.ones(m)])
        return np.linalg.solve(square, A.T @ (w * y))

    best = None
    for penalty in RIDGE_PENALTIES * n:
        left = [A[i] @ solved(scaled * (np.arange(n) != i), penalty) for i in range(n)]
        error = np.sum(scaled * (y - left) ** 2)
        if best is None or error < best[0]:
            best = error, penalty, np.array(left)
    return A @ solved(scaled, best[1]), best[2]


@settings(max_examples=25)
@given(st.integers(6, 25), st.integers(1, 30), st.integers(0, 999), st.booleans())
def test_it_is_the_regression_of_the_plain_equations(n, m, seed, weighted):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, m)) * 10.0 ** rng.integers(-3, 4, m) + rng.normal(size=m)
    y = Z[:, 0] / np.abs(Z[:, 0]).max() + rng.normal(size=n)
    weights = rng.integers(0, 3, n) + (np.arange(n) < 4) if weighted else np.ones(n)
    found = ridge_regression(Z, y, weights.astype(float))
    fitted, left = twin(Z, y, weights)
    assert found.intercept + Z @ found.coef == pytest.approx(fitted, abs=1e-6)
    assert found.left_out == pytest.approx(left, abs=1e-5)


def test_columns_that_are_constant_or_equal_say_nothing_more():
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    alone = ridge_regression(x[:, None], y, np.ones(30))
    with_constant = ridge_regression(np.column_stack([x, np.full(30, 3.0)]), y, np.ones(30))
    assert with_constant.coef[1] == 0
    assert with_constant.coef[0] == pytest.approx(alone.coef[0])
    twice = ridge_regression(np.column_stack([x, x]), y, np.ones(30))
    assert twice.coef[0] == pytest.approx(twice.coef[1])


def test_its_bits_do_not_depend_on_the_threads_of_blas():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(300, 700))
    y = Z[:, 0] + rng.normal(size=300)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            one = ridge_regression(Z, y, np.ones(300))
        found.append(one.coef.tobytes() + one.left_out.tobytes())
    assert found[0] == found[1]


def threads_of_blas():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_threads_that_compute_at_once_leave_the_threads_of_blas_as_they_were():
    with threadpool_limits(2, "blas"):
        before, first, second = threads_of_blas(), one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads_of_blas() == {1}
        second.__exit__(None, None, None)
        assert threads_of_blas() == before
