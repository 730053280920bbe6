"""The best threshold along a projection against the definition of the gain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from odrf.engine.threshold import ENTROPY, GINI, SQUARED_ERROR, best_threshold, impurity
from problems import case_weights
from reference.impurity import cuts, gain
from reference.impurity import impurity as twin_impurity

CRITERIA = [SQUARED_ERROR, GINI, ENTROPY]
quick = settings(deadline=None)


def best(values, y, w, counts, criterion, min_leaf, n_classes):
    """Call the kernel as a node does, on copies."""
    if criterion == SQUARED_ERROR:
        value = np.array([np.average(y, weights=w)])
    else:
        value = np.array([w[y == k].sum() for k in range(n_classes)]) / w.sum()
    scratch = np.empty(len(y), dtype=np.int64)
    return best_threshold(
        values.copy(), scratch, y, w, counts, value, w.sum(), counts.sum(), criterion, min_leaf
    )


@st.composite
def nodes(draw):
    """Values with ties, a response, weights and multiplicities of up to 40 rows."""
    n = draw(st.integers(1, 40))
    steps = draw(st.sampled_from([2, 5, 1000]))
    n_classes = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    counts = rng.integers(1, 4, n)
    w = (case_weights(n, rng) + 0.5) * counts
    y = rng.integers(0, n_classes, n).astype(float)
    return rng.integers(0, steps, n) / steps, y, w, counts, n_classes


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(node=nodes(), min_leaf=st.integers(1, 12))
def test_gain_is_the_largest_of_all_cuts(criterion, node, min_leaf):
    values, y, w, counts, n_classes = node
    found, threshold = best(values, y, w, counts, criterion, min_leaf, n_classes)
    gains = [gain(y, w, left, criterion) for left in cuts(values, counts, min_leaf)]
    assert found == pytest.approx(max([0.0, *gains]), abs=1e-12)
    if found > 1e-12:
        left = values <= threshold
        assert gain(y, w, left, criterion) == pytest.approx(found, abs=1e-12)
        assert min(counts[left].sum(), counts[~left].sum()) >= min_leaf


@quick
@given(nodes(), st.integers(1, 12))
def test_gini_gain_is_twice_the_regression_gain_of_0_and_1(node, min_leaf):
    values, y, w, counts, _ = node
    y = np.minimum(y, 1.0)
    gini, _ = best(values, y, w, counts, GINI, min_leaf, 2)
    squared_error, _ = best(values, y, w, counts, SQUARED_ERROR, min_leaf, 1)
    assert gini == pytest.approx(2 * squared_error, rel=1e-9, abs=1e-13)


@quick
@given(nodes(), st.sampled_from([GINI, ENTROPY]))
def test_impurity_is_that_of_the_twin(node, criterion):
    _, y, w, _, n_classes = node
    shares = np.array([w[y == k].sum() for k in range(n_classes)]) / w.sum()
    assert impurity(shares, criterion) == pytest.approx(twin_impurity(y, w, criterion), abs=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@quick
@given(node=nodes(), shift=st.integers(-40, 40))
def test_weights_matter_only_in_proportion(criterion, node, shift):
    values, y, w, counts, n_classes = node
    once, _ = best(values, y, w, counts, criterion, 1, n_classes)
    again, _ = best(values, y, w * 2.0**shift, counts, criterion, 1, n_classes)
    assert again == pytest.approx(once, rel=1e-9, abs=1e-12)


@quick
@given(nodes(), st.integers(-250, 250))
def test_any_magnitude_of_the_response(node, shift):
    values, y, w, counts, _ = node
    once, threshold = best(values, y, w, counts, SQUARED_ERROR, 1, 1)
    scaled, same = best(values, y * 2.0**shift, w, counts, SQUARED_ERROR, 1, 1)
    assert scaled == once * 4.0**shift
    assert same == threshold


@quick
@given(nodes())
def test_a_large_offset_of_the_response_costs_little_precision(node):
    values, y, w, counts, _ = node
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
    y = rng.integers(0, 3, len(w)).astype(float)
    if criterion == SQUARED_ERROR:
        y = y * 0.1 + 0.7
    found, _ = best(rng.random(len(w)), y, w, np.ones(len(w), dtype=int), criterion, 1, 3)
    assert 0 <= found <= twin_impurity(y, w, criterion) * (1 + 1e-9) + 1e-12


floats = st.floats(-1e300, 1e300)


@quick
@given(floats, st.one_of(floats, st.integers(1, 3)))
def test_threshold_separates_even_adjacent_floats(low, other):
    high = other if isinstance(other, float) else low
    for _ in range(other if isinstance(other, int) else 0):
        high = np.nextafter(high, np.inf)
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
        ([0.1, 0.2, 0.3], [1, 1, 1], 1),
        ([0.1, 0.2, 0.3], [0, 1, 1], 2),
    ],
    ids=["one row", "constant values", "constant response", "too few rows"],
)
def test_no_split(criterion, values, y, min_leaf):
    w = np.ones(len(y))
    counts = np.ones(len(y), dtype=int)
    y = np.array(y, dtype=float)
    assert best(np.array(values), y, w, counts, criterion, min_leaf, 2) == (0.0, 0.0)


def test_the_first_of_equal_gains_wins():
    w = np.ones(4)
    y = np.array([1.0, 0.0, 0.0, 1.0])
    assert best(np.arange(4.0), y, w, w.astype(int), SQUARED_ERROR, 1, 1)[1] == 0.5
