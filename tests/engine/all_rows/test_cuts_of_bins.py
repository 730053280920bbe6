"""The best cut between bins has the largest decrease of the impurity, by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.all_rows.bin_sums import BINS, FINE
from odrf.engine.all_rows.cuts_of_bins import choose_candidate, refined_cut_of_sums
from odrf.engine.all_rows.sending_rows import NodeSums
from odrf.engine.kernel_params import BIC, NO_PENALTY
from odrf.engine.splits.impurity import ENTROPY, GINI, ORDINAL, SQUARED_ERROR
from reference.all_rows import best_split_of_bins, sums_of_bins

CRITERIA = [
    (1, SQUARED_ERROR, "squared_error"),
    (2, GINI, "gini"),
    (2, ENTROPY, "entropy"),
    (4, GINI, "gini"),
    (4, ENTROPY, "entropy"),
    (3, ORDINAL, "ordinal"),
]
LAST = BINS - 1


def node_of(y, weights, K, code, impurity):
    if K == 1:
        value = np.array([np.average(y, weights=weights)])
    else:
        value = np.array([weights[y == k].sum() for k in range(K)]) / weights.sum()
    return NodeSums(len(y), float(weights.sum()), value, float(impurity))


def drawn(seed, K, unit):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    y = rng.normal(size=n) if K == 1 else rng.integers(0, K, n).astype(float)
    weights = np.ones(n) if unit else rng.integers(1, 4, n).astype(float)
    return rng, n, y, weights


@pytest.mark.parametrize(("K", "code", "name"), CRITERIA)
@settings(max_examples=12)
@given(seed=st.integers(0, 9999), unit=st.booleans(), min_leaf=st.integers(1, 4))
def test_the_candidate_of_the_largest_gain_is_chosen(K, code, name, seed, unit, min_leaf):
    rng, n, y, weights = drawn(seed, K, unit)
    C = 3
    bins = rng.choice([0, 5, 6, 90, LAST - 1, LAST], (C, n))
    two_sided = np.array([False, True, False])
    reliability = np.array([1.0, 1.0, 0.5])
    node = node_of(y, weights, K, code, 1e9)
    centre, Q = node.centre(code), 1 + K if K > 2 else 2 if unit else 3
    sums = np.stack([sums_of_bins(each, y, weights, centre, BINS, K, unit) for each in bins])
    c, at, above, turned = choose_candidate(
        sums, C, np.ones(C, dtype=np.int64), reliability, two_sided, NO_PENALTY, min_leaf,
        node.as_node(code, unit), np.zeros(Q), np.empty(K),
    )  # fmt: skip
    scores = []
    for k in range(C):
        sides = [bins[k]]
        if two_sided[k] and (bins[k] == LAST).any():
            sides.append(np.where(bins[k] == LAST, 0, bins[k]))
        scores += [
            (reliability[k] ** 2 * best_split_of_bins(b, y, weights, BINS, K, name, min_leaf)[0],
             k, side, b)
            for side, b in enumerate(sides)
        ]  # fmt: skip
    best = max(score for score, *_ in scores)
    if best < 1e-9:
        return
    assert c >= 0
    placed = next(b for _, k, side, b in scores if (k, side) == (c, int(turned)))
    gains = best_split_of_bins(placed, y, weights, BINS, K, name, min_leaf)[1]
    assert reliability[c] ** 2 * gains[at] == pytest.approx(best, rel=1e-9)
    assert above == min(placed[placed > at])


def test_a_penalty_may_forbid_the_split():
    rng = np.random.default_rng(1)
    y, bins = rng.normal(size=60), rng.integers(1, 9, 60)
    node = node_of(y, np.ones(60), 1, SQUARED_ERROR, y.var())
    for penalty, expected in ((NO_PENALTY, 0), (BIC, -1)):
        sums = sums_of_bins(bins, y, np.ones(60), y.mean(), BINS, 1, True)[np.newaxis]
        c, *_ = choose_candidate(
            sums, 1, np.array([40]), np.ones(1), np.zeros(1, bool), penalty, 1,
            node.as_node(SQUARED_ERROR, True), np.zeros(2), np.empty(1),
        )  # fmt: skip
        assert c == expected


@pytest.mark.parametrize(("K", "code", "name"), CRITERIA)
@settings(max_examples=8)
@given(seed=st.integers(0, 9999), unit=st.booleans())
def test_the_refined_cut_is_between_the_values_of_the_largest_gain(K, code, name, seed, unit):
    rng, n, y, weights = drawn(seed, K, unit)
    places = rng.choice([0, 1, 4, FINE, FINE + 1, 2 * FINE], n)
    node = node_of(y, weights, K, code, 1e9)
    sums = sums_of_bins(places, y, weights, node.centre(code), 1 + 2 * FINE, K, unit)
    values = np.arange(1 + 2 * FINE, dtype=np.float32)
    gain, threshold, n_left = refined_cut_of_sums(
        sums, values, values + np.float32(0.25), 1, node.as_node(code, unit), np.empty(K)
    )
    gains = best_split_of_bins(places, y, weights, 1 + 2 * FINE, K, name, 1)[1]
    gains[0] = 0.0  # not beside the cut
    assert gain == pytest.approx(gains.max(), abs=1e-9)
    if gains.max() > 1e-9:
        left = places <= threshold
        assert n_left == left.sum()
        at, above = places[left].max(), places[~left].min()
        assert threshold == np.float32(0.5) * np.float32(at + 0.25) + np.float32(0.5 * above)
        assert gains[at] == pytest.approx(gains.max(), rel=1e-9)
