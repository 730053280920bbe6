"""How often each tree drew each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import in_order
from odrf.engine.rows.sampling import Sampling, draw_counts

__all__ = ["drawn"]

# The most that 16 bits hold; no row is drawn as often.
MOST = np.iinfo(np.uint16).max


def drawn(
    weights: NDArray[np.float64],
    samplings: Sequence[Sampling],
    streams: NDArray[np.uint64],
    n_jobs: int,
) -> NDArray[np.uint16]:
    """Repeat the draws of all trees: counts (B, n)."""
    counts = np.empty((len(streams), len(weights)), dtype=np.uint16)

    def redraw(b: int) -> None:
        own = draw_counts(streams[b].copy(), weights, samplings[b])
        counts[b] = np.minimum(own, MOST)

    for _ in in_order(redraw, range(len(streams)), n_jobs):
        pass
    return counts
