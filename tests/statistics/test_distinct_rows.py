"""Equal rows of a matrix, beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from odrf.statistics.data_checks import distinct_rows


@pytest.mark.parametrize(("n", "p"), [(0, 2), (1, 1), (2, 3), (200, 1), (200, 4)])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_numpy_finds_the_same_rows(n, p, dtype):
    a = np.random.default_rng(n + p).integers(0, 3, size=(n, p)).astype(dtype)
    _, first, number = np.unique(a, axis=0, return_index=True, return_inverse=True)
    ours = distinct_rows(a)
    np.testing.assert_array_equal(ours[0], first)
    np.testing.assert_array_equal(ours[1], number.ravel())
