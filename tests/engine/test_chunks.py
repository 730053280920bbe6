"""The task of a tree: gathered rows are those that it drew, and the tree is the engine's."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patsy import EvalEnvironment
from scipy.stats import chisquare, kstest

import odrf
from odrf.design import build_design
from odrf.engine.chunks import (
    Gathering,
    HashedDraw,
    Recipe,
    RowBlock,
    draw_keys,
    grown_apart,
    growth_bytes,
    mark_drawn,
)
from odrf.engine.compiling import kernel
from odrf.engine.factors import layout_of, stored, with_rows
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.numeric import streams
from odrf.engine.oob import add_to_leaves, leaf_scale, sums_in_units
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.engine.rows import (
    column_itself,
    divide,
    divide_columns,
    gather_rows,
    is_plain_column,
    is_pure,
    load_column,
    project,
)
from odrf.engine.trees.forest import ARRAYS, Forest
from odrf.fits.growing import one_kind
from odrf.options.options import Options
from reference.forests import goes_left
from reference.hashed_draws import draws_row, splitmix
from reference.leaf_sums import leaf_sums
from reference.randomness import Stream

TREES, FRACTION = 3, 0.4


@pytest.fixture(scope="module")
def rows():
    """A table with a factor of many levels, as one block, and the options of its trees."""
    data = odrf.load_data("auto_mpg").dropna().reset_index(drop=True)
    data["place"] = [f"place {i % 9}" for i in range(len(data))]
    design, training = build_design("mpg ~ .", data, env=EvalEnvironment.capture())
    control = one_kind(Options(blend=False, seed=3), design, training)
    numbers = np.arange(training.n_rows, dtype=np.uint64)
    block = RowBlock(numbers, training.X, training.y, training.weights)
    return block, Recipe(design.feature_groups, control.settings, control.mixture, False)


def cut(block: RowBlock, ends: list[int]) -> list[RowBlock]:
    return [
        RowBlock(
            block.numbers[a:b], with_rows(block.X, slice(a, b)), block.y[a:b], block.weights[a:b]
        )
        for a, b in pairwise(ends)
    ]


def equal(one: Forest, other: Forest) -> bool:
    names = ARRAYS
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f") for a, b in pairs)


@settings(max_examples=10)
@given(cuts=st.lists(st.integers(0, 392), max_size=4), n_jobs=st.integers(1, 2))
def test_gathered_rows_are_those_drawn(rows, cuts, n_jobs):
    block, _ = rows
    draw = HashedDraw(draw_keys(5, 0, TREES), FRACTION)
    gathering = Gathering(draw, n_jobs)
    for part in cut(block, [0, *sorted(cuts), len(block.y)]):
        gathering.add(part)
    for t, key in enumerate(draw.keys.tolist()):
        drawn = [draws_row(key, number, FRACTION) for number in block.numbers.tolist()]
        assert gathering.n_rows(t) == sum(drawn)
        found = gathering.take(t)
        assert np.array_equal(stored(found.X), stored(block.X)[:, drawn])
        assert layout_of(found.X) == layout_of(block.X)
        assert np.array_equal(found.y, block.y[drawn])
        assert np.array_equal(found.weights, block.weights[drawn])
        assert gathering.n_rows(t) == 0


def test_the_tree_is_that_of_the_engine_on_these_rows_wherever_it_grows(rows):
    block, recipe = rows
    gathering = Gathering(HashedDraw(draw_keys(5, 0, 1), FRACTION), 1)
    gathering.add(block)
    drawn, stream = gathering.take(0), streams(3, 0, 1)
    tree = grown_apart(drawn, recipe, stream[0])
    sampling = Sampling(ALL_ROWS, 1.0)
    forest = grow_forest(
        drawn.X, drawn.y, drawn.weights, recipe.feature_groups, sampling, recipe.settings,
        recipe.mixture, stream, 1, lambda: None,
    )  # fmt: skip
    assert equal(tree, forest)
    task = pickle.loads(pickle.dumps((drawn, recipe, stream[0])))
    assert equal(grown_apart(*task, abreast=2), tree)
    assert tree.count[0] == len(drawn.y)


def test_growth_takes_more_with_more_rows_columns_and_classes():
    least = growth_bytes(1000, 10, 1)
    assert growth_bytes(2000, 10, 1) == 2 * least
    assert growth_bytes(1000, 20, 1) > least
    assert growth_bytes(1000, 10, 3) > least


# ------------------------------------------------------------------------------------------------
# Draws by a hash: they depend on seed, tree and row number alone, and are as good as random.
# ------------------------------------------------------------------------------------------------

WORDS = st.integers(0, 2**64 - 1)


def test_the_hash_is_that_of_splitmix():
    # the first numbers of the generator with the state 1234567, as its authors' code gives them
    assert [splitmix(1234567, r) for r in range(3)] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423,
    ]  # fmt: skip


@given(
    keys=st.lists(WORDS, min_size=1, max_size=4),
    rows=st.lists(WORDS, min_size=1, max_size=20),
    fraction=st.floats(0, 1),
)
def test_a_row_is_drawn_as_the_twin_says(keys, rows, fraction):
    drawn = np.empty((len(keys), len(rows)), dtype=bool)
    mark_drawn(np.array(keys, np.uint64), np.array(rows, np.uint64), fraction, drawn)
    assert drawn.tolist() == [[draws_row(key, row, fraction) for row in rows] for key in keys]


@given(cuts=st.lists(st.integers(0, 500), max_size=5), n_jobs=st.integers(1, 3))
def test_draws_are_the_same_whatever_the_chunks(cuts, n_jobs):
    draw = HashedDraw(draw_keys(7, 0, 20), 0.3)
    rows, weights = np.arange(500, dtype=np.uint64), np.ones(500)
    weights[::7] = 0.0
    whole = draw.drawn(rows, weights, 1)
    ends = [0, *sorted(cuts), 500]
    parts = [draw.drawn(rows[a:b], weights[a:b], n_jobs) for a, b in pairwise(ends)]
    assert np.array_equal(np.concatenate(parts, axis=1), whole)
    assert not whole[:, ::7].any()
    some = draw.of_trees(5, 9).drawn(rows, weights, 1)
    assert np.array_equal(some, whole[5:9])


def test_shares_are_right_and_trees_and_neighbours_independent():
    n, fraction = 200_000, 0.1
    draw = HashedDraw(draw_keys(1, 0, 8), fraction)
    drawn = draw.drawn(np.arange(n, dtype=np.uint64), np.ones(n), 1)
    sd = np.sqrt(fraction * (1 - fraction) / n)
    assert np.abs(drawn.mean(axis=1) - fraction).max() < 4 * sd
    pairs = [(a, b) for a in range(8) for b in range(a)]
    both = np.array([(drawn[a] & drawn[b]).mean() for a, b in pairs])
    followed = (drawn[:, 1:] & drawn[:, :-1]).mean(axis=1)
    of_pairs = np.sqrt(fraction**2 * (1 - fraction**2) / n)
    assert np.abs(both - fraction**2).max() < 4.5 * of_pairs
    assert np.abs(followed - fraction**2).max() < 4.5 * of_pairs


def test_another_seed_and_another_tree_have_other_keys():
    keys = np.concatenate([draw_keys(seed, 0, 50) for seed in range(4)])
    assert len(np.unique(keys)) == 200
    assert np.array_equal(draw_keys(3, 10, 20), draw_keys(3, 0, 50)[10:20])


@pytest.mark.parametrize(("fraction", "share"), [(0.0, 0.0), (1.0, 1.0)])
def test_the_ends(fraction, share):
    draw = HashedDraw(draw_keys(1, 0, 2), fraction)
    assert draw.drawn(np.arange(50, dtype=np.uint64), np.ones(50), 1).mean() == share


# ------------------------------------------------------------------------------------------------
# Sums over the rows in leaves are those of the twin, in whatever blocks the rows come.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 3])
@settings(max_examples=15)
@given(seed=st.integers(0, 999), n=st.integers(1, 30), cut=st.integers(0, 30))
def test_sums_are_those_of_the_twin(K, seed, n, cut):
    rng = np.random.default_rng(seed)
    leaves = rng.integers(0, 7, (3, n)).astype(np.int32)
    unseen, weights = rng.random((3, n)) < 0.6, rng.integers(0, 3, n).astype(float)
    y = rng.integers(0, K, n).astype(float) if K > 1 else rng.normal(size=n)
    scale = leaf_scale(n, (y.min(), y.max()), weights.max(), K > 1)
    parts = np.zeros((2, 7, K + 1), dtype=np.int64)
    for sums, a, b in ((parts[0], 0, min(cut, n)), (parts[1], min(cut, n), n)):
        add_to_leaves(leaves[:, a:b], unseen, a, y, weights, K > 1, scale, sums)
    found = sums_in_units(parts[1] + parts[0], scale)
    twin = leaf_sums(leaves, unseen, y - scale.centre if K == 1 else y, weights, 7, K)
    assert np.allclose(found, twin, rtol=1e-12, atol=1e-12)
    whole = np.zeros((7, K + 1), dtype=np.int64)
    add_to_leaves(leaves, unseen, 0, y, weights, K > 1, scale, whole)
    assert np.array_equal(whole, parts.sum(axis=0))


@pytest.mark.parametrize("n", [1, 2**10, 2**40])
@pytest.mark.parametrize("span", [(0.0, 0.0), (-1.0, 1.0), (1e9, 1e9 + 1), (-1e280, 1e280)])
@pytest.mark.parametrize("heaviest", [2.0**-40, 1.0, 2.0**40])
def test_no_sum_of_so_many_rows_is_too_large(n, span, heaviest):
    scale = leaf_scale(n, span, heaviest, False)
    largest = heaviest * (span[1] - scale.centre) * scale.response
    assert n * largest < 2**62
    assert n * heaviest * scale.weight < 2**62
    assert largest == 0 or n * largest >= 2**59


# ------------------------------------------------------------------------------------------------
# A tree's rows: gathered at random, projected as routing does, divided in order.
# ------------------------------------------------------------------------------------------------


quick = settings(deadline=None)


@kernel
def write_plain_column(rows, lo, m, column, theta, out):
    """Call what only kernels can call."""
    is_plain = is_plain_column(rows, theta, 0, 1)
    if is_plain:
        values = column_itself(rows, lo, m, column)
        for i in range(m):
            out[i] = values[i]
    return is_plain


def drawn(n, seed, copied, p=3):
    """Data, counts, and the rows gathered from them with their stream."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((p, n), dtype=np.float32), rng.normal(size=n)
    weights, counts = rng.uniform(0.5, 2, n), rng.integers(0, 3, n)
    counts[rng.integers(n)] = 1
    state = streams(seed, 0, 1)[0]
    return X, y, weights, counts, state, gather_rows(state, X, y, weights, counts, copied)


@quick
@given(st.integers(1, 40), st.integers(0, 2**32), st.booleans())
def test_rows_are_gathered_in_the_order_of_the_twin(n, seed, copied):
    X, y, weights, counts, state, rows = drawn(n, seed, copied)
    stream, at = Stream(streams(seed, 0, 1)[0]), np.flatnonzero(counts).tolist()
    stream.shuffle_front(at, len(at))
    assert rows.at.tolist() == at
    assert state.tolist() == stream.state
    assert rows.y.tolist() == y[at].tolist()
    assert rows.counts.tolist() == counts[at].tolist()
    assert rows.weights.tolist() == (weights * counts)[at].tolist()
    assert rows.X.tolist() == (X[:, at] if copied else X).tolist()
    assert not rows.unit
    assert gather_rows(state, X, y, np.ones(n), counts, copied).unit


@quick
@given(st.integers(1, 40), st.integers(0, 2**32), st.booleans(), st.data())
def test_projections_are_those_of_routing_bit_for_bit(n, seed, copied, data):
    X, *_, rows = drawn(n, seed, copied, p=6)
    lo = data.draw(st.integers(0, len(rows.at) - 1))
    m = data.draw(st.integers(1, len(rows.at) - lo))
    rng = np.random.default_rng(seed)
    columns, theta = rng.permutation(6), rng.normal(size=6).astype(np.float32)
    size, out = data.draw(st.integers(1, 6)), np.empty(m, dtype=np.float32)
    project(rows, lo, m, np.array([columns]), np.array([theta]), 0, size, out)
    at = rows.at[lo : lo + m]
    for threshold in out:
        left = goes_left(X[:, at], columns[:size].tolist(), theta[:size].tolist(), threshold)
        assert (out <= threshold).tolist() == left.tolist()
    theta[0] = 1.0
    project(rows, lo, m, np.array([columns]), np.array([theta]), 0, 1, out)
    found = out.copy() if not copied else np.empty_like(out)
    assert write_plain_column(rows, lo, m, columns[0], np.array([theta]), found) == copied
    assert found.tolist() == out.tolist()
    theta[0] = -1.0
    assert not write_plain_column(rows, lo, m, columns[0], np.array([theta]), found)
    Z = np.empty((2, m))
    load_column(rows, lo, m, columns[0], False, Z, 1)
    assert Z[1].tolist() == X[columns[0], at].tolist()
    load_column(rows, lo, m, columns[0], True, Z, 0)
    assert Z[0].tolist() == (X[columns[0], at].astype(float) - X[columns[0], at[0]]).tolist()


@quick
@given(st.integers(1, 40), st.integers(0, 2**32), st.booleans(), st.data())
def test_dividing_keeps_the_order_of_both_sides(n, seed, copied, data):
    X, y, weights, counts, _, rows = drawn(n, seed, copied)
    before = rows.at.copy()
    lo = data.draw(st.integers(0, len(before) - 1))
    m = data.draw(st.integers(1, len(before) - lo))
    values = np.random.default_rng(seed).random(m, dtype=np.float32)
    left = values <= 0.5
    goes_left = np.empty(m, dtype=np.bool_)
    found = divide(rows, lo, m, np.float32(0.5), values, goes_left, np.empty(m))
    assert found == left.sum()
    scratch = np.empty(m, dtype=np.float32), np.empty(m, dtype=np.int64)
    divide_columns(rows, lo, m, goes_left, *scratch)
    assert is_pure(rows, lo, m) == (len(set(y[before[lo : lo + m]])) == 1)
    assert is_pure(rows, lo, 1)
    node_rows = before[lo : lo + m]
    expected = np.concatenate([before[:lo], node_rows[left], node_rows[~left], before[lo + m :]])
    assert rows.at.tolist() == expected.tolist()
    assert rows.y.tolist() == y[expected].tolist()
    assert rows.counts.tolist() == counts[expected].tolist()
    assert rows.weights.tolist() == (weights * counts)[expected].tolist()
    assert rows.X.tolist() == (X[:, expected] if copied else X).tolist()


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_first_rows_of_a_child_are_a_uniform_sample_of_it(side):
    n, first, seen = 60, 5, np.zeros(60)
    X = np.linspace(0, 1, n, dtype=np.float32)[None]
    inside = X[0] <= 0.4 if side == "left" else X[0] > 0.4
    for state in streams(1, 0, 2000):
        rows = gather_rows(state, X, X[0].astype(float), np.ones(n), np.ones(n, dtype=int), True)
        values, scratch = rows.X[0].copy(), (np.empty(n, dtype=np.bool_), np.empty(n))
        left = divide(rows, 0, n, np.float32(0.4), values, *scratch)
        lo = 0 if side == "left" else left
        seen[rows.at[lo : lo + first]] += 1
    assert not seen[~inside].any()
    assert chisquare(seen[inside]).pvalue > 0.001


def test_the_first_rows_of_a_tree_are_a_uniform_sample():
    n = 10_000
    X = np.zeros((1, n), dtype=np.float32)
    rows = gather_rows(
        streams(2, 0, 1)[0], X, np.zeros(n), np.ones(n), np.ones(n, dtype=int), False
    )
    assert kstest(rows.at[:500] / n, "uniform").pvalue > 0.001
