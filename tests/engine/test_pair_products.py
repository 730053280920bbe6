"""Products of different trees' values, against loops over all pairs of trees."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.numeric import products_of_pairs


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
