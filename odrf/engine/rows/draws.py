"""Which rows each tree of a forest drew: the draws are repeated, not kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import in_order
from odrf.engine.rows.sampling import Sampling, draw_counts, filling_counts

__all__ = ["Draws"]

# The most that 16 bits hold; no row is drawn as often.
MOST = np.iinfo(np.uint16).max


class Draws(NamedTuple):
    """What repeats the draws of a forest's B trees from n rows.

    Attributes
    ----------
    weights : (n,) float64
        Case weights: rows of weight zero are never drawn.
    samplings : sequence of B Sampling
        How each tree draws.
    streams : (B, 4) uint64
        The random stream of each tree, at its beginning.
    n_jobs : int
        Threads.
    """

    weights: NDArray[np.float64]
    samplings: Sequence[Sampling]
    streams: NDArray[np.uint64]
    n_jobs: int

    def again(self, b: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return how often tree `b` drew each row (n,), and its stream (4,) after that."""
        state = self.streams[b].copy()
        return draw_counts(state, self.weights, self.samplings[b]), state

    def filling(self, b: int) -> NDArray[np.int64]:
        """Return how often each row (n,) fills the nodes of tree `b`: as drawn, or one half."""
        return filling_counts(self.streams[b].copy(), self.weights, self.samplings[b])

    def unseen(self, b: int) -> NDArray[np.bool_]:
        """Return the mask (n,) of the rows that tree `b` did not draw."""
        return self.again(b)[0] == 0

    def all_counts(self) -> NDArray[np.uint16]:
        """Return how often each tree drew each row: counts (B, n)."""
        return self._of_all(np.uint16, lambda b: np.minimum(self.again(b)[0], MOST))

    def all_unseen(self) -> NDArray[np.bool_]:
        """Return which rows (B, n) each tree did not draw."""
        return self._of_all(np.bool_, self.unseen)

    def _of_all(self, dtype: type, of_tree: Callable[[int], NDArray]) -> NDArray:
        out: NDArray = np.empty((len(self.streams), len(self.weights)), dtype=dtype)

        def redraw(b: int) -> None:
            out[b] = of_tree(b)

        for _ in in_order(redraw, range(len(self.streams)), self.n_jobs):
            pass
        return out
