"""Draws of rows by a hash, in Python's own whole numbers."""

from __future__ import annotations

__all__ = ["draws_row", "splitmix"]

BITS = 2**64


def splitmix(key: int, number: int) -> int:
    """Return the number of this place, from 0, of SplitMix64 with this initial state."""
    word = (key + (number + 1) * 0x9E3779B97F4A7C15) % BITS
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % BITS
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % BITS
    return word ^ (word >> 31)


def draws_row(key: int, number: int, fraction: float) -> bool:
    """Return whether the tree of this key draws the row of this number."""
    return (splitmix(key, number) >> 11) / 2**53 < fraction
