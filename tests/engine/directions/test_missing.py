"""Missing values: sides of single predictors, fills of directions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.compiling import kernel
from odrf.engine.directions import missing as holes
from odrf.engine.directions.candidates import (
    PLAIN,
    FeatureGroups,
    count_terms,
    most_coefficients,
    proposals_for,
)
from odrf.engine.directions.estimation import moments
from odrf.engine.directions.missing import load_with_missing
from odrf.engine.directions.samplers import workspace
from odrf.engine.numeric import streams
from odrf.engine.rows import gather_rows
from problems import cart
from reference.holes import best_placement, filled, with_column

HOLES = np.array([True])
GROUPS = FeatureGroups(np.array([0, 2]), np.array([PLAIN], dtype=np.int8), HOLES)


@kernel
def load(rows, m, work):
    """Call what only kernels can call."""
    return load_with_missing(rows, 0, m, 0, 2, 0, 0, work, HOLES)


def values(least: int) -> st.SearchStrategy[list[float]]:
    return st.lists(st.sampled_from([np.nan, 0.0, 0.25, 0.5, 1.0]), min_size=least, max_size=30)


def rows_of(x, y, weights=None, copied=True):
    weights = np.ones(len(x)) if weights is None else weights
    times = np.ones(len(x), dtype=np.int64)
    return gather_rows(streams(0, 0, 1)[0], with_column(x), y, weights, times, copied)


@given(values(4), st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
def test_a_single_predictor_takes_the_better_side_at_each_cut(x, seed, min_leaf, many):
    x = np.array(x * 40 if many else x)
    y = np.random.default_rng(seed).integers(0, 5, len(x)).astype(float)
    problem = cart(with_column(x), y, GROUPS, max_leaves=2, min_leaf=min_leaf)
    tree = problem.grow()
    expected = best_placement(x, y, min_leaf)
    assert tree.gain[0] == pytest.approx(expected, abs=1e-9)
    if expected > 1e-9:
        terms = slice(*tree.start[:2])
        projected = tree.coef[terms] @ with_column(x)[tree.index[terms]]
        left = projected <= tree.threshold[0]
        assert len(set(left[np.isnan(x)])) <= 1
        assert tree.count[1] == left.sum()


@given(values(2), st.booleans())
def test_known_values(x, copied):
    x = np.array(x)
    rows = rows_of(x, np.zeros(len(x)), copied=copied)
    low, high, mean, n = holes.known_values(rows, 0, len(x), 0, 1)
    known = x[~np.isnan(x)]
    assert n == len(known)
    if n:
        assert (low, high) == (np.float32(known.min()), np.float32(known.max()))
        assert mean == pytest.approx(known.mean(), abs=1e-6)


def test_the_fill_is_the_mean_in_a_node_without_empty_cells():
    x = np.array([0.2, 0.4, 0.3, 0.1])
    tree = cart(with_column(x), x > 0.25, GROUPS, max_leaves=2).grow()
    assert tree.index.tolist() == [0, 1]
    np.testing.assert_allclose(tree.coef, [1.0, 0.25])


def test_a_split_on_empty_cells_alone_does_not_depend_on_values():
    x = np.array([0.2, 0.4, 0.3, 0.1, np.nan, np.nan, np.nan, np.nan])
    tree = cart(with_column(x), np.isnan(x) * 1.0, GROUPS, max_leaves=2).grow()
    assert (tree.index.tolist(), tree.coef.tolist(), tree.threshold[0]) == ([1], [1.0], 0.5)


@given(values(3), st.integers(0, 2**32 - 1))
def test_empty_cells_of_a_term_are_filled_by_the_mean(x, seed):
    x, rng = np.array(x), np.random.default_rng(seed)
    y, m = rng.random(len(x)), len(x)
    rows = rows_of(x, y, rng.uniform(0.5, 2, m))
    work = workspace(2, m, 3)
    work.weights[:], work.target[:] = rows.weights, rows.y
    total, share = moments(work.target, work.weights, m, work.moment)
    terms, entries = load(rows, m, work)
    x, weights = x[rows.at], rows.weights
    expected = filled(x, weights)
    known = ~np.isnan(x)
    centre = np.average(x[known], weights=weights[known]) if known.any() else 0.0
    np.testing.assert_allclose(work.Z[0], expected - centre, atol=1e-6)
    np.testing.assert_allclose(work.scores[:2], [1.0, centre], atol=1e-6)
    assert work.column[:entries].tolist() == [0, 1, 1][:entries]
    moment = weights * (rows.y - share)
    missing = weights[~known].sum() / total
    square, chance = moment[~known].sum() ** 2, (moment**2).sum() * missing * (1 - missing)
    if abs(square - 2.0 * chance) > 1e-9:
        assert (terms == 2) == (square > 2.0 * chance)
    if terms == 2:
        np.testing.assert_array_equal(work.Z[1], ~known)


@given(values(3), st.integers(0, 2**32 - 1))
def test_random_directions_are_filled_by_the_mean_or_an_end(x, seed):
    x = np.array(x)
    proposals = proposals_for(GROUPS, 1, 3)
    proposals.columns[0, 0], proposals.theta[0, 0], proposals.sizes[0] = 0, -0.5, 1
    proposals.columns[1, :2], proposals.theta[1, :2], proposals.sizes[1] = [0, 1], [0.5, 7.0], 2
    rows = rows_of(x, np.zeros(len(x)))
    holes.fill_directions(streams(seed, 0, 1)[0], rows, 0, len(x), 2, proposals, proposals.empty)
    known = x[~np.isnan(x)]
    assert proposals.sizes.tolist()[:2] == [1 + (len(known) > 0), 2]
    assert proposals.theta[1, 1] == 7.0
    if len(known):
        fill = proposals.theta[0, 1] / -0.5
        assert min(abs(fill - each) for each in (known.mean(), known.min(), known.max())) < 1e-6


def test_columns_of_empty_cells_are_not_drawn_alone():
    groups = FeatureGroups(
        np.array([0, 2, 3, 6]),
        np.array([PLAIN, PLAIN, 2], dtype=np.int8),
        np.array([True, False, True]),
    )
    proposals = proposals_for(groups, 1, 6)
    assert proposals.mixed.tolist() == proposals.units.tolist() == [0, 2, 3, 4]
    assert proposals.empty.tolist() == [1, 1, -1, 5, 5, 5]
    assert count_terms(groups).tolist() == [1, 1, 2]
    assert [most_coefficients(groups, q) for q in (1, 2, 3)] == [5, 8, 9]
