"""Prefetching changes nothing, wherever it points."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from odrf.engine.compiling import prefetch


@njit
def read(array, index):
    prefetch(array, np.uint64(index))
    return array[0]


@pytest.mark.parametrize("index", [0, 2, 3, 10**9, -1, -(10**12)])
def test_any_index_will_do(index):
    array = np.array([5, 6, 7], dtype=np.int32)
    assert read(array, index) == 5
    assert array.tolist() == [5, 6, 7]
