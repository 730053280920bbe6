"""Sorting keys by the upper halves of their bits, in the order in which they come."""

from __future__ import annotations

__all__ = ["sorted_keys"]


def sorted_keys(keys):
    """Return the keys by their upper halves; equal ones stay in their order."""
    return sorted(keys, key=lambda key: key >> 32)
