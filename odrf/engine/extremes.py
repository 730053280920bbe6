"""The least and the largest of many floats, compared as integers: so LLVM uses SIMD lanes."""

from __future__ import annotations

import numpy as np

from odrf.engine.compiling import part

__all__ = ["LAST_PLACE", "extremes", "place_of", "value_at"]

SIGN_SHIFT, ALL_BUT_SIGN = np.int32(31), np.int32(0x7FFFFFFF)
LAST_PLACE = ALL_BUT_SIGN
"""Not below `place_of` any number; minus it is not above."""


@part
def place_of(bits):
    """Map the bits of a float32 to an int32 that sorts as the float does, or back."""
    return bits ^ ((bits >> SIGN_SHIFT) & ALL_BUT_SIGN)


@part
def value_at(place):
    """Return the float32 whose bits `place_of` maps to this int32."""
    return np.int32(place_of(place)).view(np.float32)


@part
def extremes(values):
    """Return the least and the largest of `values`; compared as integers, which LLVM vectorises."""
    bits = values.view(np.int32)
    low = high = place_of(bits[0])
    for i in range(np.uint64(len(bits))):
        place = place_of(bits[i])
        low, high = min(low, place), max(high, place)
    return value_at(low), value_at(high)
