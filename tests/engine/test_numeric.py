"""Jacobi's eigenvectors and singular vectors against NumPy."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from odrf.engine.numeric import (
    FEWEST_KEYS,
    POSITION,
    SMALL,
    VALUE_SHIFT,
    below,
    digit_scratch,
    eigen,
    factorise,
    key_of,
    products_of_pairs,
    right_singular,
    shuffle_front,
    solve_lower,
    solve_upper,
    sort_by_digits,
    sort_keys,
    sort_lanes,
    spectrum_for,
    streams,
    trace_of_inverse,
    uniform,
    value_of,
)
from reference.randomness import Stream
from reference.sorting import sorted_keys

quick = settings(deadline=None)


def decompose(A):
    """Return eigenvalues and the eigenvectors as columns; only the lower triangle is read."""
    d = len(A)
    found = spectrum_for(d + 1)
    found.matrix[:] = np.nan
    found.matrix[:d, :d][np.tril_indices(d)] = A[np.tril_indices(d)]
    eigen(d, found)
    return found.values[:d], found.vectors[:d, :d].T


@st.composite
def symmetric(draw):
    """Of any rank and scale, with equal eigenvalues or on a coarse grid."""
    d, seed = draw(st.integers(1, 9)), draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    form = draw(st.sampled_from(["any", "rank", "equal", "grid", "diagonal"]))
    A = rng.normal(size=(d, d))
    if form == "rank":
        A[:, d // 2 :] = A[:, [0]]
        A = A @ A.T
    elif form == "equal":
        vectors = np.linalg.qr(A)[0]
        A = vectors @ np.diag(rng.integers(-1, 2, d)) @ vectors.T
    elif form == "grid":
        A = rng.integers(-1, 2, (d, d)).astype(float)
    elif form == "diagonal":
        A = np.diag(np.diag(A))
    return (A + A.T) * 10.0 ** draw(st.integers(-8, 8))


@quick
@given(symmetric())
def test_eigenvalues_are_numpys_and_vectors_diagonalise(A):
    values, vectors = decompose(A)
    size = np.linalg.norm(A)
    np.testing.assert_allclose(values, np.linalg.eigh(A)[0][::-1], atol=1e-13 * size, rtol=0)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(A)), atol=1e-13)
    np.testing.assert_allclose(vectors * values @ vectors.T, A, atol=1e-13 * size, rtol=0)


def test_vectors_are_numpys_where_eigenvalues_differ():
    rng = np.random.default_rng(1)
    orthogonal = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    A = orthogonal @ np.diag(np.arange(20.0)) @ orthogonal.T
    _, vectors = decompose(A)
    np.testing.assert_allclose(
        np.abs(np.linalg.eigh(A)[1][:, ::-1].T @ vectors), np.eye(20), atol=1e-12
    )


def test_nothing_happens_to_a_diagonal_matrix_but_sorting():
    values, vectors = decompose(np.diag([2.0, -1.0, 3.0, 0.0]))
    assert values.tolist() == [3.0, 2.0, 0.0, -1.0]
    assert (vectors == np.eye(4)[:, [2, 0, 3, 1]]).all()


@quick
@given(st.integers(1, 6), st.integers(1, 6), st.booleans(), st.integers(0, 2**32))
def test_singular_vectors_are_numpys(g, d, deficient, seed):
    C = np.random.default_rng(seed).normal(size=(g, d))
    if deficient:
        C[-1] = C[0]
    found = spectrum_for(d)
    few = right_singular(C, g, d, found)
    assert few == min(g, d)
    _, values, vectors = np.linalg.svd(C)
    np.testing.assert_allclose(found.values[:few], values[:few] ** 2, atol=1e-12)
    for r in range(few):
        if values[r] < 1e-3:
            continue
        length = np.linalg.norm(found.vectors[r, :d])
        assert found.vectors[r, :d] @ C.T @ C @ found.vectors[r, :d] == pytest.approx(
            length**2 * values[r] ** 2
        )
        if few == 1 or np.abs(np.delete(values, r) - values[r]).min() > 1e-3:
            assert abs(vectors[r] @ found.vectors[r, :d]) == pytest.approx(length)


# ------------------------------------------------------------------------------------------------
# Sorting floats as words that end in their positions.
# ------------------------------------------------------------------------------------------------

# Halves, so that the sums of a projection may have any sign and some are equal.
floats = st.one_of(st.floats(allow_nan=False, width=32), st.integers(-6, 6).map(lambda k: k / 2))
EDGES = [-np.inf, -3e38, -1.5, -1.0, -1e-38, -1e-45, 0.0, 1e-45, 1e-38, 1.0, 1.5, 3e38, np.inf]


def sort_and_check(values):
    values = np.array(values, dtype=np.float32)
    keys = np.array([key_of(value, i) for i, value in enumerate(values)], dtype=np.uint64)
    sort_keys(keys, len(keys))
    positions = (keys & POSITION).astype(int)
    assert values[positions].tolist() == np.sort(values).tolist()
    assert sorted(positions) == list(range(len(values)))


@settings(deadline=None)
@given(st.lists(floats, max_size=4 * SMALL))
def test_any_floats(values):
    sort_and_check(values)


@given(st.lists(st.integers(-1, 2), min_size=SMALL, max_size=10 * SMALL))
def test_many_ties(values):
    sort_and_check(values)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(5000),
        np.arange(5000)[::-1],
        np.zeros(5000),
        np.abs(np.arange(5000) - 2500),
        np.arange(5000) % 2,
        np.random.default_rng(0).permutation(5000) - 2500,
    ],
    ids=["sorted", "reversed", "constant", "valley", "alternating", "random"],
)
def test_long_patterns(values):
    sort_and_check(values)


@given(floats, floats, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_values_compare_as_their_keys_do(one, other, i, j):
    one, other = np.float32(one), np.float32(other)
    first, second = int(key_of(one, i)), int(key_of(other, j))
    shift, position = int(VALUE_SHIFT), int(POSITION)
    assert (first >> shift < second >> shift) == (one < other)
    assert (first >> shift == second >> shift) == (one == other)
    assert (first & position, second & position) == (i, j)


def test_signs_denormals_and_infinities():
    keys = [key_of(np.float32(value), 0) for value in EDGES]
    assert all(one < other for one, other in pairwise(keys))
    assert key_of(np.float32(-0.0), 7) == key_of(np.float32(0.0), 7)


@given(st.integers(1, 70), st.integers(1, 9), st.integers(0, 2**32))
def test_lanes_are_sorted_side_by_side(m, lanes, seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, rng.choice([3, 2**63]), (m + 1, lanes)).astype(np.uint64)
    expected = np.vstack([np.sort(keys[:m], axis=0), keys[m:]])
    flat = keys.ravel()
    sort_lanes(flat, m, lanes)
    assert flat.tolist() == expected.ravel().tolist()


@given(floats, st.integers(0, 2**32 - 1))
def test_a_key_gives_its_value_back(value, position):
    value = np.float32(value)
    assert value_of(np.uint64(key_of(value, position))) == value


def test_only_the_first_n_move():
    keys = np.array([3, 1, 2, 0], dtype=np.uint64)
    sort_keys(keys, 3)
    assert keys.tolist() == [1, 2, 3, 0]


# ------------------------------------------------------------------------------------------------
# The random stream: the published generator, independent trees, uniform draws.
# ------------------------------------------------------------------------------------------------


def test_twin_gives_the_published_words():
    stream = Stream(np.array([1, 2, 3, 4], dtype=np.uint64))
    assert [stream.word() for _ in range(6)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
    ]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=4, max_size=4))
def test_uniform_is_that_of_the_twin(words):
    state = np.array(words, dtype=np.uint64)
    stream = Stream(state)
    for _ in range(5):
        assert uniform(state) == stream.uniform()
    assert state.tolist() == stream.state


@given(st.integers(0, 2**64), st.integers(1, 30), st.data())
def test_below_and_shuffle_are_those_of_the_twin(seed, n, data):
    state = streams(seed, 0, 1)[0]
    stream = Stream(state)
    assert below(state, n) == stream.below(n)
    items, twin = np.arange(n), list(range(n))
    for k in data.draw(st.lists(st.integers(0, n), max_size=3)):
        shuffle_front(state, items, k)
        stream.shuffle_front(twin, k)
        assert items.tolist() == twin


def test_streams_are_the_spawned_ones_and_do_not_depend_on_how_many():
    spawned = np.random.SeedSequence(7).spawn(5)
    expected = [child.generate_state(4, np.uint64).tolist() for child in spawned]
    assert streams(7, 0, 5).tolist() == expected
    assert streams(7, 2, 4).tolist() == expected[2:4]
    assert streams(7, 3, 3).shape == (0, 4)


def test_below_is_uniform():
    state = streams(1, 0, 1)[0]
    counts = np.bincount([below(state, 7) for _ in range(70_000)], minlength=7)
    assert len(counts) == 7
    assert chisquare(counts).pvalue > 0.001


def test_subsets_are_equally_likely_whatever_order_they_are_drawn_from():
    state = streams(2, 0, 1)[0]
    items = np.array([3, 1, 4, 0, 2])
    counts = dict.fromkeys(combinations(range(5), 2), 0)
    for _ in range(20_000):
        shuffle_front(state, items, 2)
        counts[tuple(sorted(items[:2].tolist()))] += 1
    assert sorted(items) == [0, 1, 2, 3, 4]
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_streams_of_neighbouring_trees_are_uncorrelated():
    draws = np.array([[uniform(state) for _ in range(2000)] for state in streams(3, 0, 8)])
    correlation = np.corrcoef(draws)[np.triu_indices(8, 1)]
    assert np.abs(correlation).max() < 4 / np.sqrt(2000)


# ------------------------------------------------------------------------------------------------
# Sorting keys digit by digit.
# ------------------------------------------------------------------------------------------------

NUMBERS = [0, 1, FEWEST_KEYS - 1, FEWEST_KEYS, FEWEST_KEYS + 1, 5 * FEWEST_KEYS]


def as_scratch(keys):
    keys = np.array(keys, dtype=np.uint64)
    return digit_scratch(keys, np.full(len(keys), 7, dtype=np.uint64))


def words(varying):
    """Numbers of 32 bits that differ in these bits alone."""
    return st.integers(0, 2**32 - 1).map(lambda word: word & varying)


# Digits that all keys share are left out: so any of the four may be the only ones that differ.
VARYING = [0, 0xFF, 0xFF00, 0xFF0000, 0xFF000000, 0xFF00FF, 0xFFFF0000, 0x1F0FF00F, 0xFFFFFFFF]


@pytest.mark.parametrize("varying", VARYING, ids=hex)
@given(data=st.data(), n=st.sampled_from(NUMBERS), spare=st.integers(0, 3))
def test_keys_are_in_the_order_of_their_values_and_positions(varying, data, n, spare):
    values = data.draw(st.lists(words(varying), min_size=n + spare, max_size=n + spare))
    keys = [(value | ~varying & 0x5A5A5A5A) << 32 | i for i, value in enumerate(values)]
    scratch = as_scratch(keys)
    sort_by_digits(scratch, n)
    assert scratch.keys.tolist() == sorted_keys(keys[:n]) + keys[n:]


@pytest.mark.parametrize("n", [100, 5000])
@pytest.mark.parametrize("digits", [0, 1, 7])
def test_projections_are_sorted_as_by_comparisons(n, digits):
    values = np.random.default_rng(n).normal(size=n).round(digits).astype(np.float32)
    keys = np.array([key_of(value, i) for i, value in enumerate(values)], dtype=np.uint64)
    scratch = as_scratch(keys)
    sort_by_digits(scratch, n)
    sort_keys(keys, n)
    assert np.array_equal(scratch.keys, keys)


# ------------------------------------------------------------------------------------------------
# Cholesky's factor, its systems and the trace of an inverse, against NumPy.
# ------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------
# Products of different trees' values, against loops over all pairs of trees.
# ------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 3), st.integers(0))
def test_products_are_those_of_all_pairs_of_different_trees(G, m, b, K, seed):
    values = np.random.default_rng(seed).normal(size=(G, m, b, K))
    found = np.empty((G, G, m))
    products_of_pairs(values.reshape(G, m, b * K), values.sum(axis=2), found)
    expected = np.zeros((G, G, m))
    for g, h, r in np.ndindex(G, G, m):
        for i, j in np.ndindex(b, b):
            if i != j:
                expected[g, h, r] += sum(values[g, r, i] * values[h, r, j])
    np.testing.assert_allclose(found, expected, atol=1e-10)
