"""Kernel ridge regression on directions against loops and rows that are really left out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge as Reference
from threadpoolctl import threadpool_info, threadpool_limits

from odrf.engine.running import one_thread
from odrf.statistics import ridge as module
from odrf.statistics.ridge import (
    PENALTIES,
    RIDGE_PENALTIES,
    WIDTHS,
    Choice,
    KernelRidge,
    along,
    kernel_ridge,
    kernel_values,
    oblique_kernel_ridge,
    regression,
    ridge_regression,
    usual_distance,
)

FIRST = Choice("gauss", 1.0, 0.1)
FOLDS = 5


def drawn(seed, n=30, p=3, K=2):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, p))
    Y = np.sin(points @ rng.normal(size=(p, K))) + rng.normal(size=(n, K)) / 5
    return points, Y, rng.uniform(0.2, 2, n)


def value(points, ridge, k, x):
    total = ridge.intercept[k]
    for point, coef in zip(points, ridge.coef[:, k], strict=True):
        d = math.dist(point, x) / ridge.width
        total += coef * (math.exp(-(d**2) / 2) if ridge.kernel == "gauss" else math.exp(-d))
    return total


def plain_gradient(points, ridge, k, i):
    """Differences of values a little to both sides of row i.

    The own term of the row is left out: of the Laplace kernel it has a tip there.
    """
    others = np.arange(len(points)) != i
    rest = KernelRidge(*ridge[:3], ridge.coef[others], ridge.intercept)
    step, gradient = 1e-5, []
    for j in range(points.shape[1]):
        ends = []
        for sign in (-1, 1):
            x = points[i].copy()
            x[j] += sign * step
            ends.append(value(points[others], rest, k, x))
        gradient.append((ends[1] - ends[0]) / (2 * step))
    return np.array(gradient)


def folds_of(n, seed):
    return np.random.default_rng(seed).permutation(n) % FOLDS


def plain_directions(points, Y, weights, first, lengths, rounds, power):
    """Return T·Tᵀ, step by step as the module describes it."""
    p = points.shape[1]
    metric = np.diag(lengths**2) * p / (lengths**2).sum()
    for _ in range(rounds):
        values, vectors = np.linalg.eigh(metric)
        root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
        z = points @ root
        ridge = regression(z, Y, weights, first)
        M = np.zeros((p, p))
        for i in range(len(z)):
            for k in range(Y.shape[1]):
                gradient = root @ plain_gradient(z, ridge, k, i)
                M += weights[i] * np.outer(gradient, gradient)
        values, vectors = np.linalg.eigh(M)
        metric = vectors * np.maximum(values, 0) ** power @ vectors.T
        metric *= p / np.trace(metric)
    return metric


@given(st.integers(0, 999), st.sampled_from(["gauss", "laplace"]))
def test_directions_are_roots_of_mean_products_of_gradients(seed, kernel):
    points, Y, weights = drawn(seed, n=12)
    first = Choice(kernel, 1.0, 0.1)
    importance, all_alike = np.array([1.0, 0.0, 0.1]), np.ones(3)
    found = module._directions(points, Y, weights, first, importance)
    ways = [
        (importance**0.5, 0, 1.0),
        (importance, 0, 1.0),
        (all_alike, 1, 0.5),
        (all_alike, 2, 1.0),
    ]
    for T, (lengths, *how) in zip(found, ways, strict=True):
        expected = plain_directions(points, Y, weights, first, lengths, *how)
        np.testing.assert_allclose(T @ T.T, expected, rtol=1e-3, atol=1e-4)


def test_of_many_columns_the_axes_of_few_are_tried(monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 2)
    points, Y, weights = drawn(3, n=12)
    # the effective number is 1.4: two matter
    T = list(module._directions(points, Y, weights, FIRST, np.array([0.2, 0.01, 1.0])))[2]
    np.testing.assert_allclose(T @ T.T, np.diag([0.5, 0.0, 2.5]))


@given(st.integers(0, 999))
def test_a_regression_of_a_choice_is_that_of_the_ridge_with_this_choice(seed):
    points, Y, weights = drawn(seed)
    found, _ = kernel_ridge(points, Y, weights)
    choice = Choice(found.kernel, found.width / usual_distance(points), found.penalty)
    again = regression(points, Y, weights, choice)
    assert again.width == pytest.approx(found.width)
    np.testing.assert_allclose(again.coef, found.coef, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(again.intercept, found.intercept, rtol=1e-6, atol=1e-9)


@given(st.integers(0, 999))
def test_products_are_those_of_matrices(seed):
    points = drawn(seed)[0]
    T = np.random.default_rng(seed).normal(size=(3, 2))
    together = along(points, T)
    np.testing.assert_allclose(together, points @ T, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(along(points[4:5], T)[0], together[4])


def test_a_fold_has_no_part_in_its_predictions():
    points, Y, weights = drawn(1, n=40)
    fold = folds_of(40, 0)
    lengths = np.random.default_rng(1).uniform(size=(FOLDS + 1, 3))
    found = oblique_kernel_ridge(points, Y, weights, FIRST, fold, lengths)
    unit = usual_distance(along(points, found.directions))
    choice = Choice(found.ridge.kernel, found.ridge.width / unit, found.ridge.penalty)
    for f in range(FOLDS):
        kept = fold != f
        rows = points[kept], Y[kept], weights[kept]
        predicted = []
        for T in module._directions(*rows, FIRST, lengths[f]):
            z = along(rows[0], T)
            ridge = regression(z, *rows[1:], choice)
            predicted.append(kernel_values(ridge, z, along(points[~kept], T)))
        off = [np.abs(one - found.left_out[~kept]).max() for one in predicted]
        assert min(off) < 1e-6


def test_the_choice_has_the_smallest_error_of_held_rows():
    points, Y, weights = drawn(2, n=25, p=2, K=1)
    fold, lengths = folds_of(25, 3), np.ones((FOLDS + 1, 2))
    lengths[:, 1] = 0.3
    found = oblique_kernel_ridge(points, Y, weights, FIRST, fold, lengths)
    errors = {}
    for f in range(FOLDS):
        kept = fold != f
        for tried, T in enumerate(
            module._directions(points[kept], Y[kept], weights[kept], FIRST, lengths[f])
        ):
            z = along(points, T)
            for kernel, widths in WIDTHS.items():
                for width in widths:
                    for penalty in PENALTIES[::3]:
                        key = tried, kernel, width, penalty
                        for i in np.flatnonzero(~kept):
                            others = np.arange(25) != i
                            # the noise of a row, and the unit of distances, are those of all rows
                            mean = weights.mean() / weights[others].mean()
                            unit = usual_distance(z) / usual_distance(z[others])
                            choice = Choice(kernel, width * unit, penalty * mean)
                            ridge = regression(z[others], Y[others], weights[others], choice)
                            off = Y[i] - kernel_values(ridge, z[others], z[i : i + 1])[0]
                            errors[key] = errors.get(key, 0.0) + weights[i] * float(off @ off)
    tried, kernel, width, penalty = min(errors, key=lambda key: errors[key])
    T = list(module._directions(points, Y, weights, FIRST, lengths[-1]))[tried]
    least = {key for key in errors if errors[key] < 1.02 * min(errors.values())}
    ridge = found.ridge
    chosen_width = ridge.width / usual_distance(along(points, found.directions))
    assert found.directions.shape == T.shape
    assert any(
        key[1] == ridge.kernel
        and key[2] == pytest.approx(chosen_width)
        and abs(math.log(key[3] / ridge.penalty)) < 1.5
        for key in least
    )


def test_the_direction_of_a_single_index_is_found():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 6))
    index = points @ np.array([1, -1, 0, 0, 0, 0]) / np.sqrt(2)
    Y = (np.sin(2 * index) + rng.normal(size=600) / 10)[:, None]
    plain, left_out = kernel_ridge(points, Y, np.ones(600))
    first = Choice(plain.kernel, plain.width / usual_distance(points), plain.penalty)
    same = np.ones((FOLDS + 1, 6))
    found = oblique_kernel_ridge(points, Y, np.ones(600), first, folds_of(600, 0), same)
    longest = found.directions[:, np.argmax((found.directions**2).sum(axis=0))]
    cosine = (longest[0] - longest[1]) / np.sqrt(2) / np.linalg.norm(longest)
    assert abs(cosine) > 0.99
    errors = [np.mean((Y - value) ** 2) for value in (found.left_out, left_out)]
    assert errors[0] < 0.5 * errors[1]


def test_axes_that_do_not_matter_are_left_out():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, module.MOST_COLUMNS + 1))
    Y = np.sin(3 * points[:, :1]) + rng.normal(size=(200, 1)) / 10
    lengths = np.zeros((FOLDS + 1, points.shape[1]))
    lengths[:, :3] = 1, 0.1, 0.01
    found = oblique_kernel_ridge(points, Y, np.ones(200), FIRST, folds_of(200, 0), lengths)
    # so many columns have no other directions than axes
    assert (found.directions != 0).sum() == found.directions.shape[1] <= 3
    ratio = found.directions[0, 0] / found.directions[1, 1]
    assert any(ratio == pytest.approx(10**power) for power in (0.5, 1.0))
    assert np.mean((Y - found.left_out) ** 2) < 0.3 * Y.var()


def test_where_nothing_changes_all_directions_count_alike():
    points, fold, same = drawn(0)[0], folds_of(30, 0), np.ones((FOLDS + 1, 3))
    found = oblique_kernel_ridge(points, np.ones((30, 1)), np.ones(30), FIRST, fold, same)
    np.testing.assert_allclose(found.left_out, 1.0)
    same = np.zeros((FOLDS + 1, 2))
    nowhere = np.zeros((30, 2)), points[:, :1], np.ones(30), FIRST, fold, same
    found = oblique_kernel_ridge(*nowhere)
    np.testing.assert_array_equal(found.directions, np.eye(2))
    assert np.isfinite(found.left_out).all()


# ------------------------------------------------------------------------------------------------
# Kernel ridge regression against loops, rows that are really left out, and scikit-learn.
# ------------------------------------------------------------------------------------------------


def drawn_of_kernel_ridge(seed, n=12, p=2, K=2):
    rng = np.random.default_rng(seed)
    points, Y = rng.normal(size=(n, p)), rng.normal(size=(n, K))
    return points, Y, rng.uniform(0.2, 2, n)


def plain(points, Y, weights, mean_weight, kernel, width, penalty):
    """Coefficients and intercept from the equations as they are written."""
    n = len(points)
    A = np.zeros((n + 1, n + 1))
    for i in range(n):
        for j in range(n):
            d = math.dist(points[i], points[j]) / width
            A[i, j] = math.exp(-(d**2) / 2) if kernel == "gauss" else math.exp(-d)
        A[i, i] += penalty * mean_weight / weights[i] + module.LEAST_NOISE
        A[i, n] = A[n, i] = 1
    solution = np.linalg.solve(A, np.vstack([Y, np.zeros(Y.shape[1])]))
    return solution[:n], solution[n]


def predicted(points, coef, intercept, kernel, width, x):
    total = intercept.copy()
    for point, c in zip(points, coef, strict=True):
        d = math.dist(point, x) / width
        total += c * (math.exp(-(d**2) / 2) if kernel == "gauss" else math.exp(-d))
    return total


@given(st.integers(0, 999))
def test_it_is_the_solution_of_its_equations_also_without_each_row(seed):
    points, Y, weights = drawn_of_kernel_ridge(seed)
    found, left_out = kernel_ridge(points, Y, weights)
    how = found.kernel, found.width, found.penalty
    mean = weights.mean()
    coef, intercept = plain(points, Y, weights, mean, *how)
    np.testing.assert_allclose(found.coef, coef, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.intercept, intercept, rtol=1e-6, atol=1e-8)
    new = drawn_of_kernel_ridge(seed + 1)[0]
    expected = [predicted(points, coef, intercept, *how[:2], x) for x in new]
    np.testing.assert_allclose(kernel_values(found, points, new), expected, rtol=1e-6, atol=1e-8)
    for i in (0, 7):
        others = np.arange(len(Y)) != i
        parts = points[others], Y[others], weights[others]
        without = plain(*parts, mean, *how)
        expected = predicted(points[others], *without, *how[:2], points[i])
        np.testing.assert_allclose(left_out[i], expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_choices_have_the_smallest_error_of_rows_left_out(seed):
    points, Y, weights = drawn_of_kernel_ridge(seed, K=1)
    _, left_out = kernel_ridge(points, Y, weights)
    unit = np.median([math.dist(a, b) for i, a in enumerate(points) for b in points[:i]])
    errors = {}
    for kernel, widths in module.WIDTHS.items():
        for width in widths:
            for penalty in module.PENALTIES[::6]:
                total = 0.0
                for i in range(len(Y)):
                    keep = np.arange(len(Y)) != i
                    how = kernel, width * unit
                    parts = points[keep], Y[keep], weights[keep]
                    fitted = plain(*parts, weights.mean(), *how, penalty)
                    off = Y[i] - predicted(points[keep], *fitted, *how, points[i])
                    total += weights[i] * float(off @ off)
                errors[kernel, width, penalty] = total
    own = float(weights @ (Y - left_out)[:, 0] ** 2)
    assert own <= min(errors.values()) * (1 + 1e-6)


def test_the_coefficients_are_those_of_scikit_learn():
    points, Y, _ = drawn_of_kernel_ridge(5, n=40)
    found, _ = kernel_ridge(points, Y, np.ones(40))
    kernel = RBF(found.width)(points) if found.kernel == "gauss" else None
    if kernel is None:
        from scipy.spatial.distance import cdist  # noqa: PLC0415

        kernel = np.exp(-cdist(points, points) / found.width)
    reference = Reference(alpha=found.penalty + module.LEAST_NOISE, kernel="precomputed")
    reference.fit(kernel, Y - found.intercept)
    np.testing.assert_allclose(found.coef, reference.dual_coef_, rtol=1e-6, atol=1e-9)


def test_a_smooth_truth_is_found_and_choices_need_few_rows():
    rng = np.random.default_rng(2)
    points = rng.uniform(-2, 2, (700, 3))
    truth = np.sin(3 * points[:, 0]) * points[:, 1]
    Y = (truth + rng.normal(size=700) / 10)[:, None]
    found, left_out = kernel_ridge(points, Y, np.ones(700))
    assert np.mean((left_out[:, 0] - truth) ** 2) < 0.05 * truth.var()
    again, _ = kernel_ridge(points[:500], Y[:500], np.ones(500))
    assert (found.kernel, found.width, found.penalty) == again[:3]


@pytest.mark.parametrize("n", [2, 3])
def test_few_and_equal_rows(n):
    points, Y = np.zeros((n, 1)), np.arange(n, dtype=float)[:, None]
    found, _ = kernel_ridge(points, Y, np.full(n, 1e12))
    np.testing.assert_allclose(kernel_values(found, points, np.ones((1, 1))), Y.mean())
    weights = np.array([1.0, *np.full(n - 1, 1e-12)])
    assert np.isfinite(kernel_ridge(points, Y, weights)[1]).all()


def test_a_row_alone_is_predicted_as_among_others():
    points, Y, weights = drawn_of_kernel_ridge(3, n=1500, p=7)
    found, _ = kernel_ridge(points, Y, weights)
    new = drawn_of_kernel_ridge(4, n=1100, p=7)[0]
    together = kernel_values(found, points, new)
    for i in range(0, 1100, 99):
        np.testing.assert_array_equal(kernel_values(found, points, new[i : i + 1])[0], together[i])


# ------------------------------------------------------------------------------------------------
# Ridge regression against the plain equations, with every row really left out.
# ------------------------------------------------------------------------------------------------


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
