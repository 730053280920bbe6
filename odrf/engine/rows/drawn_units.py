"""What a tree draws: rows, or whole groups of rows; of all times or of early ones; by strata."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.randomness import below
from odrf.engine.rows.row_codes import RowCodes

__all__ = ["Units", "last_time", "units_of"]


class Units(NamedTuple):
    """The units that a tree draws from n rows: U groups, or the rows themselves.

    Attributes
    ----------
    of_row : (n,) int64 or None
        The unit of each row; None if the rows are units.
    positive : (U,) bool
        Which units have a row of positive weight.
    strata : (U,) int64 or None
        The stratum of each unit.
    begins : tuple of int
        The number of units before each batch of rows that were added later.
    """

    of_row: NDArray[np.int64] | None
    positive: NDArray[np.bool_]
    strata: NDArray[np.int64] | None
    begins: tuple[int, ...]

    def spread(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the count of each row (n,), which is that of its unit."""
        return counts if self.of_row is None else counts[self.of_row]


def units_of(
    weights: NDArray[np.float64], begins: tuple[int, ...], codes: RowCodes | None
) -> Units:
    """Return the units of rows with case weights (n,).

    Parameters
    ----------
    weights : (n,) float64
    begins : tuple of int
        The number of the first row of each batch that was added later.
    codes : RowCodes or None
        Groups and strata; the rows of a group are in one stratum.
    """
    positive = weights > 0.0
    if codes is None:
        return Units(None, positive, None, begins)
    groups, strata = codes.groups, codes.strata
    if groups is None:
        return Units(None, positive, strata, begins)
    of_groups = np.bincount(groups, positive) > 0
    if strata is not None:
        of_rows, strata = strata, np.zeros(len(of_groups), dtype=np.int64)
        strata[groups] = of_rows
    first = tuple(int(groups[:begin].max(initial=-1)) + 1 for begin in begins)
    return Units(groups, of_groups, strata, first)


def last_time(
    state: NDArray[np.uint64], order: NDArray[np.int64], candidates: NDArray[np.int64]
) -> int:
    """Return the last time from which a tree draws; its rows out of bag are the later ones.

    With probability 1/2 this is the last time of all.  Otherwise it is that of a random row in the
    later half of the `candidates`, the numbers of the rows of positive weight.  So half of the
    trees can draw any row, and rows of the later half are out of bag for some trees.
    """
    times = np.sort(order[candidates])
    first = (len(times) - 1) // 2
    drawn = first + below(state, 2 * (len(times) - first))
    return int(times[min(drawn, len(times) - 1)])
