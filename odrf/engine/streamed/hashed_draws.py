"""Draws of rows by a hash of seed, tree and row number.

Whether a tree draws a row depends on nothing else: not on the other rows, nor on how the rows are
cut into chunks, nor on who asks.  So a draw can be repeated anywhere, and is never stored.

The hash is the output function of SplitMix64, a generator whose r-th number can be computed without
those before it: G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part
from odrf.engine.parallel import in_order
from odrf.engine.randomness import stream

__all__ = ["HashedDraw", "draw_keys", "hash_rows", "mark_drawn"]

# The key of a tree is a number of its own stream, which growth does not use.
DRAW = 2
# The increment of SplitMix64, 2⁶⁴ over the golden ratio, and the factors of its output function.
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# Trees whose draws are marked by one task.
ABREAST = 16


@part
def _word(key, row):
    """Return the hash of a row number: the output of SplitMix64 after so many steps from a key."""
    word = key + (row + np.uint64(1)) * STEP
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))


@kernel
def mark_drawn(keys, rows, fraction, drawn):
    """Write to drawn (T, m) which of the rows numbered `rows` (m,) each tree draws.

    keys (T,) are those of the trees; a row is drawn with probability `fraction`.
    """
    for t in range(len(keys)):
        for i in range(len(rows)):
            word = _word(keys[t], rows[i])
            drawn[t, i] = np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0) < fraction


@kernel
def hash_rows(key, rows, words):
    """Write to words (m,) the hashes of the rows numbered `rows` (m,)."""
    for i in range(len(rows)):
        words[i] = _word(key, rows[i])


def draw_keys(seed: int, first: int, last: int) -> NDArray[np.uint64]:
    """Return the keys (last - first,) of the trees `first` … `last` - 1 of a seed."""
    keys = [stream(seed, b, DRAW)[0] for b in range(first, last)]
    return np.array(keys, dtype=np.uint64)


class HashedDraw(NamedTuple):
    """How each of B trees draws its rows.

    Attributes
    ----------
    keys : (B,) uint64
        One for each tree, as `draw_keys` returns them.
    fraction : float
        The probability that a tree draws a row.
    """

    keys: NDArray[np.uint64]
    fraction: float

    def of_trees(self, first: int, last: int) -> HashedDraw:
        """Return the draws of the trees `first` … `last` - 1."""
        return self._replace(keys=self.keys[first:last])

    def drawn(
        self, rows: NDArray[np.uint64], weights: NDArray[np.float64], n_jobs: int
    ) -> NDArray[np.bool_]:
        """Return which trees draw which rows, as a mask (B, m).

        Parameters
        ----------
        rows : (m,) uint64
            Numbers of rows.
        weights : (m,) float64
            Their case weights: rows of weight 0 are never drawn.
        n_jobs : int
            Threads.
        """
        mask: NDArray[np.bool_] = np.empty((len(self.keys), len(rows)), dtype=np.bool_)

        def mark(first: int) -> None:
            some = slice(first, first + ABREAST)
            mark_drawn(self.keys[some], rows, self.fraction, mask[some])

        for _ in in_order(mark, range(0, len(self.keys), ABREAST), n_jobs):
            pass
        if not weights.all():
            mask[:, weights == 0] = False
        return mask
