"""How many bytes guided trees take while they grow, from the arrays that growth makes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.guided.guided_kernel import growth_for
from odrf.engine.guided.guided_settings import GuidedSettings
from odrf.engine.guided.planes import planes_for
from odrf.engine.guided.regions import regions_for

__all__ = ["GuidedSizes", "bytes_of_guided_growth"]

# Bytes of a row beside those of `Regions`: its number, its response and its weight.
OF_ROW = 24
# Larger arrays come from the system each time, which hands memory out where it is written to.
REUSED = 2**25
# The arrays of `Regions` that have an entry for each row.
BY_ROWS = "X", "code", "y", "weights", "moments"


class GuidedSizes(NamedTuple):
    """What guided trees have, on average: columns, regions and planes."""

    columns: float
    regions: float
    planes: float


def bytes_of_guided_growth(n: int, settings: GuidedSettings, sizes: GuidedSizes) -> float:
    """Return the bytes that a thread takes while it grows a guided tree on n rows."""
    C, K = round(sizes.columns), settings.n_classes
    zeros = np.zeros(2)
    made = regions_for(np.zeros((C, 2), np.float32), np.zeros(2, np.int64), zeros, zeros, K)
    arrays = made._asdict()
    totals = arrays.pop("totals").nbytes
    of_row = OF_ROW + sum(arrays.pop(name).nbytes for name in BY_ROWS) / 2
    growth = growth_for(C, 2)
    roomy = [(array.nbytes / 4, 2 * n, sizes.regions) for array in arrays.values()]
    roomy += [(array.nbytes / 2, n, sizes.planes) for array in (growth.theta, growth.threshold)]
    roomy += [
        (array.nbytes / 3, n + 1, sizes.regions) for array in (growth.active, growth.following)
    ]
    candidates = planes_for(settings.trials, C, n, K, settings.batched)
    return (
        n * of_row
        + totals
        + sum(_taken(*each) for each in roomy)
        + sum(array.nbytes for array in candidates)
    )


def _taken(size: float, room: int, used: float) -> float:
    """Return the bytes of an array with room for entries of this `size`, of which some are used.

    The room of a small array was used by others before.
    """
    return size * (room if size * room <= REUSED else used)
