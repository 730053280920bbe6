"""Rows of a stream that a sample keeps, by their hashes, one row at a time."""

from __future__ import annotations

from odrf.engine.randomness import stream

WORD = 2**64 - 1
NO_TREE = 2**32 - 1


def hash_of(seed: int, number: int) -> int:
    """The number `number + 1` of the generator SplitMix64."""
    word = (int(stream(seed, NO_TREE)[0]) + (number + 1) * 0x9E3779B97F4A7C15) & WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
    return word ^ (word >> 31)


def kept(seed: int, seen: int, size: int) -> list[int]:
    """The rows that are kept of the first `seen` ones."""
    rows: list[int] = []
    for number in range(seen):
        rows.append(number)
        if len(rows) > size:
            rows.remove(max(rows, key=lambda row: hash_of(seed, row)))
    return rows
