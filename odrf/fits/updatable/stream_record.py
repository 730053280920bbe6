"""What a fit remembers of a stream of rows, of which it keeps a sample."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.read_later import ReadLater

__all__ = ["StreamRecord"]


@dataclass(frozen=True, eq=False)
class StreamRecord(ReadLater):
    """What a fit remembers of a stream of rows, of which it keeps a sample.

    Attributes
    ----------
    keep : int
        The most rows that it keeps.
    first, seen, updates : int
        How many rows the first fit had, how many have come in all, and in how many updates.
    numbers : (n,) int64
        The number in the stream of each row that is kept.
    counts : (B, n) uint16
        How often each tree drew it.
    states : (B, 4) uint64
        The states of the streams by which the trees draw the rows to come.
    arrivals : (b, 7) float64
        Sums of the losses of the rows of updates, block by block, as
        `odrf.statistics.arrival.arrival_sums` returns them.
    """

    keep: int
    first: int
    seen: int
    updates: int
    numbers: NDArray[np.int64]
    counts: NDArray[np.uint16]
    states: NDArray[np.uint64]
    arrivals: NDArray[np.float64]

    def of_tree(self, i: int) -> StreamRecord:
        """Return the record of a fit of tree `i` alone, which has predicted no rows."""
        one = slice(i, i + 1)
        nothing = self.arrivals[:0]
        return replace(self, counts=self.counts[one], states=self.states[one], arrivals=nothing)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
