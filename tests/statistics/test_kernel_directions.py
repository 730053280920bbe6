"""Kernel ridge regression on directions against loops and rows that are really left out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.statistics import ridge as module
from odrf.statistics.ridge import (
    PENALTIES,
    WIDTHS,
    Choice,
    KernelRidge,
    along,
    kernel_ridge,
    kernel_values,
    oblique_kernel_ridge,
    regression,
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
