"""Sort projected values as 64-bit keys: the value's bits above, its row's position below."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import kernel, part

__all__ = ["POSITION", "VALUE_SHIFT", "key_of", "sort_keys"]

POSITION = np.uint64(0xFFFFFFFF)
VALUE_SHIFT = np.uint64(32)
SIGN_SHIFT = np.uint32(31)
ALL_BITS, SIGN_BIT = np.uint32(0xFFFFFFFF), np.uint32(0x80000000)
SMALL = 24


@kernel
def key_of(value, position):
    """Return one word that sorts as the float32 `value` does and ends in `position`.

    The bits of a positive float sort as an integer once the sign bit is set, those of a
    negative one once all are flipped.  Adding 0 turns -0 into 0, which it equals.
    """
    word = np.float32(value + np.float32(0.0)).view(np.uint32)
    flip = ALL_BITS if word >> SIGN_SHIFT else SIGN_BIT
    return (np.uint64(word ^ flip) << VALUE_SHIFT) | np.uint64(position)


@part
def _insertion(keys, lo, hi):
    for i in range(lo + 1, hi):
        key = keys[i]
        j = i - 1
        while j >= lo and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@kernel
def sort_keys(keys, n):
    """Sort ``keys[:n]`` ascending in place (quicksort, then insertion for a few).

    The larger part waits on the stack, so that it never holds more than log₂ n parts.
    """
    if n <= SMALL:
        _insertion(keys, 0, n)
        return
    stack = np.empty((64, 2), dtype=np.int64)
    top = 0
    lo, hi = 0, n
    while True:
        while hi - lo > SMALL:
            a, b, c = keys[lo], keys[(lo + hi) >> 1], keys[hi - 1]
            pivot = max(min(a, b), min(max(a, b), c))
            i, j = lo, hi - 1
            while i <= j:
                while keys[i] < pivot:
                    i += 1
                while keys[j] > pivot:
                    j -= 1
                if i <= j:
                    keys[i], keys[j] = keys[j], keys[i]
                    i += 1
                    j -= 1
            if j + 1 - lo > hi - i:
                stack[top, 0], stack[top, 1] = lo, j + 1
                lo = i
            else:
                stack[top, 0], stack[top, 1] = i, hi
                hi = j + 1
            top += 1
        _insertion(keys, lo, hi)
        if top == 0:
            return
        top -= 1
        lo, hi = stack[top, 0], stack[top, 1]
