"""Which rows each tree of a forest drew: the draws are repeated from its stream, not stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.engine.parallel import in_order
from odrf.engine.rows.row_codes import RowCodes
from odrf.engine.rows.sampling import (
    SUBSAMPLE,
    Sampling,
    draw_counts,
    filling_counts,
    n_drawn,
    unseen_rows,
)
from odrf.engine.rows.subsamples import draw_unseen

__all__ = ["Draws"]

# So many rows of all trees are drawn in less than a millisecond.
FEW = 2**17


class Draws(NamedTuple):
    """What is needed to repeat how the B trees of a forest drew from n rows.

    Attributes
    ----------
    weights : (n,) float64
        Case weights: rows of weight zero are never drawn.
    samplings : sequence of B Sampling
        How each tree draws its rows.
    streams : (B, 4) uint64
        Initial state of the random stream of each tree.
    n_jobs : int
        Threads.
    codes : RowCodes or None
        Which rows belong together.
    """

    weights: NDArray[np.float64]
    samplings: Sequence[Sampling]
    streams: NDArray[np.uint64]
    n_jobs: int
    codes: RowCodes | None = None

    def again(self, b: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return how often tree `b` drew each row (n,), and the state (4,) of its stream then."""
        state = self.streams[b].copy()
        return draw_counts(state, self.weights, self.samplings[b], self.codes), state

    def filling(self, b: int) -> NDArray[np.int64]:
        """Return how often each row (n,) counts in the nodes of tree `b`.

        As often as it was drawn; in an honest tree 0 for the rows that chose its splits.
        """
        return filling_counts(self.streams[b].copy(), self.weights, self.samplings[b], self.codes)

    def unseen(self, b: int) -> NDArray[np.bool_]:
        """Return the mask (n,) of the out-of-bag rows of tree `b`: those it did not draw.

        Of groups, those of which it drew no row; in time, those after all rows it drew from.
        """
        return self.unseen_again(b)[0]

    def unseen_again(self, b: int) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
        """Return `unseen`, and the state (4,) of the stream of tree `b` after its draw."""
        state = self.streams[b].copy()
        return unseen_rows(state, self.weights, self.samplings[b], self.codes), state

    def all_unseen(self) -> NDArray[np.bool_]:
        """Return the mask (B, n) of the out-of-bag rows of each tree."""
        apart = self.codes is None and bool((self.weights > 0.0).all())
        B, n = len(self.streams), len(self.weights)
        require_memory(
            float(B) * n,
            f"which of {n} rows each of {B} trees drew",
            "use fewer trees (n_trees=) or rows",
        )
        out: NDArray[np.bool_] = np.empty((B, n), dtype=np.bool_)

        def write(b: int) -> None:
            sampling = self.samplings[b]
            if apart and sampling.resample == SUBSAMPLE and not sampling.later:
                draw_unseen(self.streams[b].copy(), n_drawn(sampling, n), out[b])
            else:
                out[b] = self.unseen(b)

        # to start threads takes longer than few draws
        n_jobs = self.n_jobs if B * n > FEW else 1
        for _ in in_order(write, range(B), n_jobs):
            pass
        return out
