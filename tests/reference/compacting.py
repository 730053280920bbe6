"""Leaf values, rounded one by one and kept once each."""

from __future__ import annotations

STEPS = 65535


def rounded(value: float, bits: int, low: float, high: float) -> float:
    """The number nearest to a value: of 32 bits, or of 65,536 steps from `low` to `high`."""
    if bits == 32 or high <= low:
        return value
    step = round((value - low) / (high - low) * STEPS)
    return low + step / STEPS * (high - low)


def distinct(rows: list[tuple[float, ...]]) -> int:
    """How many rows differ from all rows before them."""
    different: list[tuple[float, ...]] = []
    for row in rows:
        if row not in different:
            different.append(row)
    return len(different)
