"""Sort projected values and carry their positions along."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel

__all__ = ["sort_with"]

SMALL = 24


@kernel
def _insertion(keys, items, lo, hi):
    for i in range(lo + 1, hi):
        key, item = keys[i], items[i]
        j = i - 1
        while j >= lo and keys[j] > key:
            keys[j + 1], items[j + 1] = keys[j], items[j]
            j -= 1
        keys[j + 1], items[j + 1] = key, item


@kernel
def _median_of_three(a, b, c):
    return max(min(a, b), min(max(a, b), c))


@kernel
def sort_with(keys, items, n):
    """Sort ``keys[:n]`` ascending in place, moving ``items[:n]`` with them (quicksort).

    The larger part waits on the stack, so that it never holds more than log₂ n parts.
    """
    stack = np.empty((64, 2), dtype=np.int64)
    top = 0
    lo, hi = 0, n
    while True:
        while hi - lo > SMALL:
            pivot = _median_of_three(keys[lo], keys[(lo + hi) >> 1], keys[hi - 1])
            i, j = lo, hi - 1
            while i <= j:
                while keys[i] < pivot:
                    i += 1
                while keys[j] > pivot:
                    j -= 1
                if i <= j:
                    keys[i], keys[j] = keys[j], keys[i]
                    items[i], items[j] = items[j], items[i]
                    i += 1
                    j -= 1
            if j + 1 - lo > hi - i:
                stack[top, 0], stack[top, 1] = lo, j + 1
                lo = i
            else:
                stack[top, 0], stack[top, 1] = i, hi
                hi = j + 1
            top += 1
        _insertion(keys, items, lo, hi)
        if top == 0:
            return
        top -= 1
        lo, hi = stack[top, 0], stack[top, 1]
