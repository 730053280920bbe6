"""Sums over the rows in leaves are those of the twin, in whatever blocks the rows come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.chunks import add_to_leaves, leaf_scale, sums_in_units
from reference.leaf_sums import leaf_sums


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
