"""Planes of guided trees: their distribution, and which regions need not be projected."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from guided_problems import GuidedProblem
from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import INDICATORS, PLAIN, FeatureGroups
from odrf.engine.guided.planes import ROUNDING, TreeColumns, draw_planes, may_cut, planes_for
from odrf.engine.guided.regions import begin_root, regions_for
from odrf.engine.kernel_params import GuidedKernelParams
from odrf.engine.numeric import streams
from reference.forests import goes_left
from reference.guided import sample_of


@kernel
def may_cut_box(theta, threshold, tolerance, low, high):
    """Call what only kernels can call."""
    return may_cut(theta, threshold, tolerance, low, high)


def unit(rng, C):
    """A random direction, as planes have them."""
    theta = rng.normal(size=C) * rng.choice([1e-3, 1.0], size=C)
    return (theta / np.linalg.norm(theta)).astype(np.float32)


def projected(X, theta):
    out = np.zeros(X.shape[1], dtype=np.float32)
    for column, coefficient in zip(X, theta, strict=True):
        out += coefficient * column
    return out


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 8), st.integers(2, 20), st.integers(0, 2**32 - 1))
def test_a_region_that_is_cut_is_never_passed_over(C, m, seed):
    rng = np.random.default_rng(seed)
    width = rng.choice([1.0, 1e-3, 1e-6, 1e-7], size=(C, 1))
    X = (rng.random((C, 1)) * (1 - width) + width * rng.random((C, m))).astype(np.float32)
    theta = unit(rng, C)
    tolerance = ROUNDING * C * np.abs(theta).sum(dtype=float)
    # every threshold that cuts lies at a value, or between it and the next
    for threshold in projected(X, theta):
        left = goes_left(X, list(range(C)), list(theta), threshold)
        if not left.all():
            assert left.any()
            assert may_cut_box(theta, threshold, tolerance, X.min(axis=1), X.max(axis=1))


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5), st.floats(-1.5, 1.5, width=32), st.integers(0, 2**32 - 1))
def test_a_box_may_be_cut_if_its_corners_are_on_both_sides(C, threshold, seed):
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.random((2, C)).astype(np.float32), axis=0)
    theta = unit(rng, C)
    corners = [theta.astype(float) @ corner for corner in product(*zip(low, high, strict=True))]
    gap = max(min(corners) - threshold, threshold - max(corners))
    for tolerance in (0.0, 0.1):
        if abs(gap - tolerance) > 1e-9:
            assert may_cut_box(theta, np.float32(threshold), tolerance, low, high) == (
                gap < tolerance
            )


def test_the_radius_of_influence_passes_over_a_region_that_is_cut():
    """Equation (25) looks at two corners of the box only: here a row is at another one."""
    X = np.array([[1.0] * 9 + [0.0], [0.0] * 9 + [1.0]], dtype=np.float32)
    mean, low, high = X.mean(axis=1), X.min(axis=1), X.max(axis=1)
    theta = np.array([-1.0, 1.0], dtype=np.float32) / np.sqrt(np.float32(2))
    threshold = np.float32(0.6)
    assert goes_left(X, [0, 1], list(theta), threshold).tolist() == [True] * 9 + [False]

    radius = max(np.linalg.norm(low - mean), np.linalg.norm(high - mean))
    distance = abs(theta @ mean - threshold)
    assert distance > 1.2 * radius
    assert may_cut_box(theta, threshold, 0.0, low, high)


CENTRE, SCALE = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.25])


def drawn(T, from_region):
    """Planes for a region whose box is a point on the last column: its weight is known."""
    X = np.random.default_rng(5).beta(2, 5, size=(3, 40)).astype(np.float32)
    code, weights = np.repeat([0, 1], 20), np.ones(40)
    regions, candidates = (
        regions_for(X, code, np.zeros(40), weights, 2),
        planes_for(T, 3, 40, 2, False),
    )
    assert begin_root(regions, 2)
    regions.low[0, 2] = regions.high[0, 2] = 0.9
    columns = TreeColumns(CENTRE, SCALE, np.full(3, -1))
    draw_planes(streams(4, 0, 1)[0], regions, 0, columns, from_region, candidates)
    return regions, candidates, X.mean(axis=1, dtype=float)


@pytest.mark.parametrize("from_region", [False, True])
def test_weights_are_uniform_between_the_ends_of_the_region(from_region):
    """Equation (6), for predictors in standard deviations from the origin."""
    regions, candidates, mean = drawn(4000, from_region)
    origin = mean if from_region else CENTRE
    theta = candidates.theta.astype(float)
    w = theta[:, :2] / theta[:, 2:] * (0.9 - origin[2]) / SCALE[2] ** 2
    low, high = (regions.low[0, :2], regions.high[0, :2]) - origin[:2]
    shares = (w * SCALE[:2] ** 2 - low) / (high - low)
    assert kstest(shares[:, 0], "uniform").pvalue > 0.001
    assert kstest(shares[:, 1], "uniform").pvalue > 0.001
    assert abs(np.corrcoef(shares.T)[0, 1]) < 4 / np.sqrt(len(shares))
    np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("from_region", [False, True])
def test_planes_go_through_the_mean_of_the_region(from_region):
    _, candidates, mean = drawn(100, from_region)
    np.testing.assert_allclose(candidates.threshold, candidates.theta @ mean, atol=2e-7)


def test_empty_cells_are_filled_by_the_mean_of_the_region():
    """A plane is the one drawn without fills, on the filled column."""
    rng = np.random.default_rng(6)
    X = rng.random((3, 40)).astype(np.float32)
    X[2] = rng.random(40) < 0.3
    X[1, X[2] == 1] = 0
    code, columns = np.repeat([0, 1], 20), TreeColumns(CENTRE, SCALE, np.array([-1, 2, -1]))
    regions = regions_for(X, code, np.zeros(40), np.ones(40), 2)
    candidates, plain = planes_for(50, 3, 40, 2, False), planes_for(50, 3, 40, 2, False)
    assert begin_root(regions, 2)
    draw_planes(streams(4, 0, 1)[0], regions, 0, columns, True, candidates)
    draw_planes(
        streams(4, 0, 1)[0], regions, 0, columns._replace(empty=np.full(3, -1)), True, plain
    )
    known_mean = X[1, X[2] == 0].mean(dtype=float)
    filled = np.where(X[2] == 1, known_mean, X[1])
    for theta, turned in zip(candidates.theta, plain.theta, strict=True):
        length = turned[0] / theta[0]
        here = length * (theta @ X)
        there = turned[0] * X[0] + turned[1] * filled + turned[2] * X[2]
        np.testing.assert_allclose(here, there, rtol=1e-4, atol=1e-4)


def test_scores_of_levels_vary_like_a_predictor_with_a_weight_of_1():
    """The scale that the indicators of a factor share, from the distribution of the scores."""
    rng = np.random.default_rng(7)
    level = rng.choice(4, 300, p=[0.6, 0.25, 0.1, 0.05])
    X = (np.arange(5)[:, None] == level).astype(np.float32)
    feature_groups = FeatureGroups(np.array([0, 5]), np.array([INDICATORS], dtype=np.int8))
    unit = sample_of(X, level % 2, np.ones(300), 2).scale(feature_groups)
    assert (unit[:4] == unit[0]).all()
    assert unit[4] == 0  # no row has the fifth level
    scores = rng.uniform(-0.5, 0.5, (20_000, 4)) / unit[:4] ** 2
    assert np.var(scores[:, level], axis=1).mean() == pytest.approx(1, rel=0.02)


def test_the_subspace_is_any_of_the_predictors_that_vary():
    rng = np.random.default_rng(2)
    levels = np.arange(6) % 2
    X = np.concatenate(
        [rng.random((2, 6)), np.zeros((1, 6)), [levels, 1 - levels], rng.random((2, 6))]
    )
    kinds = np.array([PLAIN, PLAIN, PLAIN, INDICATORS, PLAIN, PLAIN], dtype=np.int8)
    problem = GuidedProblem(
        X.astype(np.float32),
        np.array([0.0, 0, 0, 1, 1, 1]),
        np.ones(6),
        FeatureGroups(np.array([0, 1, 2, 3, 5, 6, 7]), kinds),
        GuidedKernelParams(2, 2, trials=1, min_split=7, from_region=False, batched=False),
    )
    forest = problem.grow(n_trees=2000)
    columns_of = {0: (0,), 1: (1,), 3: (3, 4), 4: (5,), 5: (6,)}
    counts = {columns_of[i] + columns_of[j]: 0 for i, j in combinations(columns_of, 2)}
    for lo, hi in zip(forest.first_column[:-1], forest.first_column[1:], strict=True):
        counts[tuple(forest.columns[lo:hi].tolist())] += 1
    assert chisquare(list(counts.values())).pvalue > 0.001
    every = problem.grow(subspace=6)
    assert every.columns.tolist() == [0, 1, 3, 4, 5, 6]
