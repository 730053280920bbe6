"""Stretches of whole blocks: what the worker that has a partition does of a table in partitions.

Blocks of one size do not end where partitions end.  So the worker with the partition in which a
block begins takes what is missing of it from the heads of the following partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

__all__ = ["Stretch", "stretches_of"]


class Stretch(NamedTuple):
    """Consecutive blocks of rows.

    Attributes
    ----------
    begin : int
        The number of the first row.
    partition : int
        The partition in which all of the blocks begin.
    n_rows : int
        How many rows this partition has.
    skipped : int
        So many first rows of this partition belong to the stretch before.
    heads : tuple of (int, int)
        Following partitions, and how many of their first rows are taken.
    """

    begin: int
    partition: int
    n_rows: int
    skipped: int
    heads: tuple[tuple[int, int], ...]


def stretches_of(lengths: Sequence[int], size: int) -> list[Stretch]:
    """Return the stretches, in the order of the rows, of partitions of these lengths.

    Every block has `size` rows, but for the last one.
    """
    bounds = np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).tolist()
    starts = [-(-begin // size) * size for begin in bounds[:-1]]
    owners = [i for i, start in enumerate(starts) if start < bounds[i + 1]]
    found = []
    for owner, following in pairwise([*owners, len(lengths)]):
        end = starts[following] if following < len(lengths) else bounds[-1]
        last = min(following + 1, len(lengths))
        heads = [(i, min(bounds[i + 1], end) - bounds[i]) for i in range(owner + 1, last)]
        taken = tuple((i, n) for i, n in heads if n > 0)
        skipped = starts[owner] - bounds[owner]
        found.append(Stretch(starts[owner], owner, lengths[owner], skipped, taken))
    return found
