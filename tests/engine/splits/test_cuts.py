"""The best cut along a projection, exact and by bins, against the definition of the gain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from nodes import CRITERIA, described, samples
from odrf.engine.compiling import kernel
from odrf.engine.directions.missing import FILL
from odrf.engine.numeric import digit_scratch, streams
from odrf.engine.splits.cuts import (
    bin_with_empty_cells,
    draw_side,
    exact_cut,
    exact_cuts,
    last_bin_first,
    refined_cut,
    write_lane,
)
from odrf.engine.splits.histograms import (
    COUNT,
    COUNT_BITS,
    MOST_BINS,
    bin_values,
    binned_cut,
    scan_bins,
    tally_bins,
    write_words,
)
from odrf.engine.splits.impurity import GINI, POISSON, SQUARED_ERROR
from reference.crowded_bins import of_most_rows
from reference.impurity import cuts, gain
from reference.impurity import impurity as twin_impurity

quick = settings(deadline=None)
# Bins add up moments in whole quanta; a gain is a small difference of the sums' squares.
COARSE = {"rel": 1e-6, "abs": 1e-9}
BINS = st.sampled_from([2, 32, 64, MOST_BINS])


def best(values, y, w, counts, criterion, min_leaf, n_classes):
    """Try every cut, as a small node does."""
    node = described(y, w, counts, criterion, n_classes)
    keys, left = np.empty((2, len(y)), dtype=np.uint64), np.empty(n_classes)
    left = None if node.factor > 0 else left[: len(node.value)]
    return exact_cut(values.astype(np.float32), digit_scratch(*keys), left, node, min_leaf)


def binned(values, node, n_bins, min_leaf):
    """Return bins, gain and place of the best cut between them; None for equal values."""
    bins, left = np.empty(len(values), dtype=np.uint8), np.empty(len(node.value))
    words, tally = np.empty(len(values), dtype=np.int64), np.full(2 * MOST_BINS, -1)
    table, quantum = np.full((MOST_BINS + 1, len(left) + 1), np.nan), np.nan
    if not bin_values(values, bins, n_bins):
        return None
    if node.factor > 0:
        left, quantum = None, write_words(node, words)
    found = binned_cut(bins, words, quantum, tally, table, left, node, n_bins, min_leaf)
    return bins, *found


def refined(values, bins, at, node, min_leaf):
    keys, left = np.empty(len(values), dtype=np.uint64), np.empty(len(node.value))
    left = None if node.factor > 0 else left
    return refined_cut(values, bins, at, keys, left, node, min_leaf)


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(sample=samples(), min_leaf=st.integers(1, 12))
def test_gain_is_the_largest_of_all_cuts(criterion, sample, min_leaf):
    values, y, w, counts, n_classes = sample
    found, threshold = best(values, y, w, counts, criterion, min_leaf, n_classes)
    gains = [gain(y, w, left, criterion) for left in cuts(values, counts, min_leaf)]
    assert found == pytest.approx(max([0.0, *gains]), abs=1e-12)
    if found > 1e-12:
        left = values <= threshold
        assert gain(y, w, left, criterion) == pytest.approx(found, abs=1e-12)
        assert min(counts[left].sum(), counts[~left].sum()) >= min_leaf


@quick
@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=40), BINS)
@example([0.0] * 14 + [1.0, 33.0], 32)
def test_bins_are_of_equal_width_unless_most_rows_are_in_one(values, n_bins):
    values = np.array(values, dtype=np.float32)
    value_range = float(values.max()) - float(values.min())
    assume(value_range == 0 or value_range > 1e-30)
    # differences that 32 bits lose beside the range are not tested
    assume((np.diff(np.unique(values).astype(float)) > 1e-6 * value_range).all())
    bins = np.empty(len(values), dtype=np.uint8)
    assert bin_values(values, bins, n_bins) == (value_range > 0)
    if value_range > 0:
        places = (values.astype(float) - values.min()) / value_range * n_bins
        if of_most_rows(np.minimum(places.astype(int), n_bins - 1)) is None:
            assert (np.abs(bins + 0.5 - places) < 0.5 + 1e-4).all()
        assert (np.diff(bins[np.argsort(values)].astype(int)) >= 0).all()
        assert bins[values.argmin()] == 0
        assert bins[values.argmax()] == n_bins - 1


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(sample=samples(), min_leaf=st.integers(1, 12), lanes=st.integers(1, 9))
def test_cuts_of_many_candidates_are_those_of_each(criterion, sample, min_leaf, lanes):
    values, y, w, counts, n_classes = sample
    rng = np.random.default_rng(lanes)
    projections = [rng.permutation(values) for _ in range(lanes)]
    node = described(y, w, counts, criterion, n_classes)
    keys = np.empty(len(y) * lanes, dtype=np.uint64)
    gains, thresholds = np.empty(lanes), np.empty(lanes, dtype=np.float32)
    for lane, projected in enumerate(projections):
        write_lane(projected, keys, lane, lanes)
    left = None if node.factor > 0 else np.empty(len(node.value))
    exact_cuts(keys, lanes, left, node, min_leaf, gains, thresholds)
    assert list(zip(gains, thresholds, strict=True)) == [
        best(projected, y, w, counts, criterion, min_leaf, n_classes) for projected in projections
    ]


@quick
@given(samples())
def test_words_hold_moments_and_multiplicities(sample):
    _, y, w, counts, _ = sample
    node = described(y, w, counts, SQUARED_ERROR, 1)
    words = np.empty(len(y), dtype=np.int64)
    quantum = write_words(node, words)
    assert (words & COUNT).tolist() == counts.tolist()
    np.testing.assert_allclose((words >> COUNT_BITS) * quantum, node.moments, atol=quantum)
    assert quantum <= 1e-10 * np.abs(node.moments).sum() or np.ptp(y) == 0


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(sample=samples(), min_leaf=st.integers(1, 12), n_bins=BINS)
def test_binned_gain_is_the_largest_of_the_cuts_between_bins(criterion, sample, min_leaf, n_bins):
    values, y, w, counts, n_classes = sample
    assume(np.ptp(values) > 0)
    node = described(y, w, counts, criterion, n_classes)
    bins, found, at = binned(values, node, n_bins, min_leaf)
    gains = [gain(y, w, left, criterion) for left in cuts(bins, counts, min_leaf)]
    assert found == pytest.approx(max([0.0, *gains]), **COARSE)
    if found > 1e-9:
        left = bins <= at
        assert gain(y, w, left, criterion) == pytest.approx(found, **COARSE)
        assert at in bins
    elif not gains:
        assert at == -1


@pytest.mark.parametrize("case_weight", [1.0, 0.75])
def test_single_events_lose_nothing_in_bins(case_weight):
    rng, n = np.random.default_rng(3), 3001
    values, exposure = rng.random(n, dtype=np.float32), rng.exponential(size=n)
    y, w = (rng.random(n) < 0.25 + 0.05 * values) / exposure, case_weight * exposure
    once = np.ones(n, dtype=np.int64)
    bins, found, at = binned(values, described(y, w, once, POISSON, 2), 64, 9)
    assert found == pytest.approx(gain(y, w, bins <= at, POISSON), rel=1e-9)
    assert found == pytest.approx(
        max(gain(y, w, left, POISSON) for left in cuts(bins, once, 9)), rel=1e-9
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(sample=samples(), min_leaf=st.integers(1, 12), n_bins=BINS)
def test_refined_gain_is_the_largest_in_the_two_bins_around(criterion, sample, min_leaf, n_bins):
    values, y, w, counts, n_classes = sample
    assume(np.ptp(values) > 0)
    node = described(y, w, counts, criterion, n_classes)
    bins, coarse, at = binned(values, node, n_bins, min_leaf)
    assume(at >= 0)
    found, threshold = refined(values, bins, at, node, min_leaf)
    above = bins[bins > at].min()
    tried = [
        left for left in cuts(values, counts, min_leaf)
        if (left | (bins >= at)).all() and not (left & (bins > above)).any()
    ]  # fmt: skip
    expected = max(gain(y, w, left, criterion) for left in tried)
    assert found == pytest.approx(max(expected, 0.0), abs=1e-12)
    assert found >= coarse - 1e-6 * abs(coarse) - 1e-9
    if found > 1e-12:
        assert gain(y, w, values <= threshold, criterion) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_with_a_bin_for_each_value_nothing_is_lost(criterion):
    rng = np.random.default_rng(2)
    values = rng.permutation(np.repeat(np.arange(256), 2)).astype(np.float32)
    y, ones = (values + rng.normal(size=512) * 99 > 100).astype(float), np.ones(512)
    node = described(y, ones, ones.astype(int), criterion, 2)
    bins, found, at = binned(values, node, MOST_BINS, 1)
    exact, threshold = best(values, y, ones, ones.astype(int), criterion, 1, 2)
    assert found == pytest.approx(exact, **COARSE)
    assert refined(values, bins, at, node, 1) == (pytest.approx(exact, rel=1e-12), threshold)


@quick
@given(samples(), st.integers(1, 12))
def test_gini_gain_is_twice_the_regression_gain_of_0_and_1(sample, min_leaf):
    values, y, w, counts, _ = sample
    y = np.minimum(y, 1.0)
    gini, _ = best(values, y, w, counts, GINI, min_leaf, 2)
    squared_error, _ = best(values, y, w, counts, SQUARED_ERROR, min_leaf, 1)
    assert gini == pytest.approx(2 * squared_error, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(sample=samples(), shift=st.integers(-40, 40))
def test_weights_matter_only_in_proportion(criterion, sample, shift):
    values, y, w, counts, n_classes = sample
    once, _ = best(values, y, w, counts, criterion, 1, n_classes)
    again, _ = best(values, y, w * 2.0**shift, counts, criterion, 1, n_classes)
    assert again == pytest.approx(once, rel=1e-9, abs=1e-12)


@quick
@given(samples(), st.integers(-250, 250))
def test_any_magnitude_of_the_response(sample, shift):
    values, y, w, counts, _ = sample
    once, threshold = best(values, y, w, counts, SQUARED_ERROR, 1, 1)
    scaled, same = best(values, y * 2.0**shift, w, counts, SQUARED_ERROR, 1, 1)
    assert scaled == once * 4.0**shift
    assert same == threshold


@quick
@given(samples())
def test_a_large_offset_of_the_response_costs_little_precision(sample):
    values, y, w, counts, _ = sample
    once, _ = best(values, y, w, counts, SQUARED_ERROR, 1, 1)
    shifted, _ = best(values, y + 1e6, w, counts, SQUARED_ERROR, 1, 1)
    assert shifted == pytest.approx(once, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(
    w=st.lists(st.sampled_from([1.0, 1e-4, 1e-17, 1e-30]), min_size=2, max_size=8),
    seed=st.integers(0, 1000),
)
def test_gain_never_exceeds_the_impurity_however_uneven_the_weights(criterion, w, seed):
    w = np.array(w)
    rng = np.random.default_rng(seed)
    values, y = rng.random(len(w), dtype=np.float32), rng.integers(0, 3, len(w)).astype(float)
    if criterion == SQUARED_ERROR:
        y = y * 0.1 + 0.7
    most = twin_impurity(y, w, criterion) * (1 + 1e-9) + 1e-12
    counts = np.ones(len(w), dtype=int)
    found, _ = best(values, y, w, counts, criterion, 1, 3)
    assert 0 <= found <= most
    _, coarse, _ = binned(values, described(y, w, counts, criterion, 3), 64, 1)
    assert 0 <= coarse <= most * (1 + 1e-6)


floats = st.floats(-(2.0**100), 2.0**100, width=32).map(np.float32)


@quick
@given(floats, st.one_of(floats, st.integers(1, 3)))
def test_threshold_separates_even_adjacent_floats(low, other):
    high = other if isinstance(other, np.float32) else low
    for _ in range(other if isinstance(other, int) else 0):
        high = np.nextafter(high, np.float32(np.inf))
    assume(low != high)
    low, high = min(low, high), max(low, high)
    ones = np.ones(2)
    found, threshold = best(
        np.array([high, low]), np.array([1.0, 0.0]), ones, ones.astype(int), SQUARED_ERROR, 1, 1
    )
    assert found == 0.25
    assert low <= threshold < high


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    ("values", "y", "min_leaf"),
    [
        ([0.5], [1], 1),
        ([0.5, 0.5, 0.5], [0, 1, 0], 1),
        ([0.0, -0.0, 0.0], [0, 1, 0], 1),
        ([0.1, 0.2, 0.3], [1, 1, 1], 1),
        ([0.1, 0.2, 0.3], [0, 1, 1], 2),
    ],
    ids=["one row", "constant values", "signed zeros", "constant response", "too few rows"],
)
def test_no_split(criterion, values, y, min_leaf):
    w = np.ones(len(y))
    counts = np.ones(len(y), dtype=int)
    values, y = np.array(values, dtype=np.float32), np.array(y, dtype=float)
    assert best(values, y, w, counts, criterion, min_leaf, 2) == (0.0, 0.0)
    found = binned(values, described(y, w, counts, criterion, 2), 64, min_leaf)
    if found is not None:
        _, rounded, at = found
        assert rounded <= 1e-18
        # events are rounded to quanta; growth does not search a node whose rows are alike
        assert at == -1 or criterion == POISSON


def test_the_first_of_equal_gains_wins():
    w = np.ones(4)
    y = np.array([1.0, 0.0, 0.0, 1.0])
    assert best(np.arange(4.0), y, w, w.astype(int), SQUARED_ERROR, 1, 1)[1] == 0.5


# ------------------------------------------------------------------------------------------------
# Cuts of a single predictor whose missing values are filled beyond its values.
# ------------------------------------------------------------------------------------------------

BINS_OF_SIDES = st.sampled_from([3, 32, MOST_BINS])


@kernel
def cut_with_last_bin_first(bins, words, quantum, tally, table, left, node, n_bins, min_leaf):
    """Call what only kernels can call."""
    tally_bins(bins, words, tally, table, left, node, n_bins)
    found = last_bin_first(tally, table, left, node, n_bins)
    gain, at = scan_bins(quantum, tally, table, left, node, n_bins, min_leaf)
    return found, gain, at


@settings(deadline=None)
@given(
    st.lists(st.floats(-4, 4, width=32), max_size=30),
    st.integers(0, 9),
    st.booleans(),
    BINS_OF_SIDES,
)
def test_filled_values_have_a_bin_of_their_own(known, n_filled, above, n_bins):
    assume(known or n_filled)
    assume(len(set(known)) < 2 or max(known) - min(known) > 1e-30)
    fill = FILL if above else -FILL
    values = np.array([*known, *[fill] * n_filled], dtype=np.float32)
    values = np.random.default_rng(len(known)).permutation(values)
    bins = np.empty(len(values), dtype=np.uint8)
    varies = len(set(known)) > 1
    assert bin_with_empty_cells(values, bins, n_bins) == bool(known and (n_filled or varies))
    if not known or not (n_filled or varies):
        return
    filled = np.abs(values) >= FILL
    own = n_bins - 1 if above else 0
    if n_filled:
        assert set(bins[filled]) == {own} and own not in bins[~filled]
    low, width = min(known), max(known) - min(known)
    first = int(n_filled > 0 and not above)
    places = (values[~filled].astype(float) - low) / (width or 1.0) * (n_bins - 1)
    places = np.minimum(places, n_bins - 2 + 0.5) + first
    assert (np.abs(bins[~filled] + 0.5 - places) < 0.5 + 1e-3).all()


@settings(deadline=None)
@given(st.lists(st.floats(-4, 4, width=32), max_size=30), st.integers(1, 9), st.integers(0, 99))
def test_empty_cells_are_drawn_to_one_side_of_all_values(known, n_filled, seed):
    assume(len(set(known)) < 2 or max(known) - min(known) > 1e-30)
    values = np.array([*known, *[FILL] * n_filled], dtype=np.float32)
    fill = draw_side(streams(seed, 0, 1)[0], values)
    assert abs(fill) == FILL and (values[: len(known)] == np.array(known, dtype=np.float32)).all()
    drawn = set(values[len(known) :])
    assert len(drawn) == 1
    if known:
        assert drawn.pop() > max(known) if fill > 0 else drawn.pop() < min(known)


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(deadline=None)
@given(sample=samples(), min_leaf=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_sums_are_moved_as_if_the_last_bin_were_the_first(criterion, sample, min_leaf, seed):
    _, y, w, counts, n_classes = sample
    n_bins = 5
    bins = np.random.default_rng(seed).integers(0, n_bins, len(y)).astype(np.uint8)
    node = described(y, w, counts, criterion, n_classes)
    left = None if node.factor > 0 else np.empty(len(node.value))
    words, tally = np.empty(len(y), dtype=np.int64), np.full(2 * MOST_BINS, -1)
    table = np.full((MOST_BINS + 1, len(node.value) + 1), np.nan)
    quantum = write_words(node, words) if left is None else np.nan
    scratch = words, quantum, tally, table, left, node, n_bins, min_leaf
    moved = cut_with_last_bin_first(bins, *scratch)
    turned = ((bins.astype(int) + 1) % n_bins).astype(np.uint8)
    assert moved == ((bins == n_bins - 1).any(), *binned_cut(turned, *scratch))
