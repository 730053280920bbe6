"""Forests compared bit by bit."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def same_bits(one: Any, other: Any) -> bool:
    """Whether two forests of arrays, of one class, have the same types and bits in all of them."""
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)]
    return type(one) is type(other) and all(
        a is b or (a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
        for a, b in pairs
    )
