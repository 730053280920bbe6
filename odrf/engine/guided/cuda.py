"""Sums over the rows beyond planes, by a kernel for CUDA.  Loaded only where a device is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int64
from numpy.typing import NDArray

from odrf.engine.guided.device import Device

# Threads of a block, which read adjacent rows; and how many rows each reads of a long segment.
THREADS, ROWS_PER_THREAD = 32, 64
# The most blocks along the second axis of a grid.  And the fewest of a grid: with fewer, most of a
# device is idle.
MOST_BLOCKS, FEWEST_BLOCKS = 65_535, 128


@cuda.jit
def _add_up(along, threshold, values, first, sums):
    """Add to the integers `sums` (Q, T, S), in any order, a part of a segment beyond a plane."""
    n_planes = along.shape[0]
    k, segment = cuda.blockIdx.x % n_planes, cuda.blockIdx.x // n_planes
    begin = first[segment] + cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    step = cuda.blockDim.x * cuda.gridDim.y
    for q in range(values.shape[0]):
        total = int64(0)
        for i in range(begin, first[segment + 1], step):
            if along[k, i] > threshold[k]:
                total += values[q, i]
        if total != 0:
            cuda.atomic.add(sums, (q, k, segment), total)


def sums_by_blocks(
    device: Device, along: Any, threshold: Any, values: Any, first: NDArray[np.int64]
) -> Any:
    """Add up the values of each segment beyond each plane; takes and returns as `running_sums`."""
    (T, _), Q, S, xp = along.shape, values.shape[0], len(first) - 1, device.xp
    sums = xp.zeros((Q, T, S), dtype=xp.int64, device=device.place)
    parts = -(-int(np.diff(first).max()) // (THREADS * ROWS_PER_THREAD))
    grid = T * S, min(max(parts, -(-FEWEST_BLOCKS // (T * S))), MOST_BLOCKS)
    _add_up[grid, THREADS](along, threshold, values, device.sent(first), sums)
    return sums
