"""Sums over the rows in leaves are those of the twin, in whatever blocks the rows come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.streamed.leaf_sums import add_to_leaves
from reference.leaf_sums import leaf_sums


@pytest.mark.parametrize("K", [1, 3])
@settings(max_examples=15)
@given(seed=st.integers(0, 999), n=st.integers(1, 30), cut=st.integers(0, 30))
def test_sums_are_those_of_the_twin(K, seed, n, cut):
    rng = np.random.default_rng(seed)
    leaves = rng.integers(0, 7, (3, n)).astype(np.int32)
    unseen, weights = rng.random((3, n)) < 0.6, rng.integers(0, 3, n).astype(float)
    y = rng.integers(0, K, n).astype(float) if K > 1 else rng.normal(size=n)
    sums = np.zeros((7, K + 1))
    for a, b in ((0, min(cut, n)), (min(cut, n), n)):
        add_to_leaves(leaves[:, a:b], unseen, a, y, weights, K > 1, sums)
    assert np.allclose(sums, leaf_sums(leaves, unseen, y, weights, 7, K), rtol=1e-12, atol=1e-12)
