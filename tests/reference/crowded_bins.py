"""Bins of a projection: of equal width, unless most values are in one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLED, HALF, MOST_TIMES = 16, 8, 8


def sampled_rows(m: int) -> list[int]:
    return [i * (m // SAMPLED) for i in range(SAMPLED)]


def of_most_rows(entries: NDArray) -> float | None:
    """What more than half of sixteen evenly spaced rows have, as far as three of them tell."""
    if len(entries) < SAMPLED:
        return None
    sampled = entries[sampled_rows(len(entries))]
    return next((each for each in sampled[[0, 5, 10]] if sum(sampled == each) > HALF), None)


def width_bin(value: float, low: float, high: float, n_bins: int) -> int:
    scale = np.float32(n_bins) / np.float32(high - low)
    return min(int(np.float32(np.float32(value - low) * scale)), n_bins - 1)


def spread_bins(values: NDArray, least: float, largest: float, n_bins: int) -> list[int]:
    """Bins of equal width below, within, and above a range; half of them within."""
    low, high = values.min(), values.max()
    below, above = np.float32(least - low), np.float32(high - largest)
    outside = n_bins // 2
    n_below = round(outside * float(below) / float(np.float32(below + above)))
    n_below = min(max(n_below, int(below > 0)), outside - int(above > 0))
    n_above = outside - n_below if above > 0 else 0
    n_within = n_bins - n_below - n_above
    found = []
    for value in values:
        if value < least:
            found.append(width_bin(value, low, least, n_below))
        elif value <= largest:
            found.append(n_below + width_bin(value, least, largest, n_within))
        else:
            found.append(n_below + n_within + width_bin(value, largest, high, n_above))
    return found


def bins_of(values: NDArray, n_bins: int, own: NDArray | None = None) -> NDArray:
    """The bin of each value; rows of missing values are marked in `own`, and have the bin -1."""
    known = values if own is None else values[~own]
    full = np.full(len(values), -1)

    def with_empty(bins: list[int]) -> NDArray:
        full[np.ones(len(values), bool) if own is None else ~own] = bins
        return full.copy()

    bins = with_empty([width_bin(value, known.min(), known.max(), n_bins) for value in known])
    for time in range(MOST_TIMES):
        crowd = of_most_rows(bins)
        if crowd is None or crowd == -1:
            break
        inside = values[bins == crowd]
        tied = of_most_rows(values) is not None
        if inside.min() == inside.max() or (time > 0 and tied):
            break
        bins = with_empty(spread_bins(known, inside.min(), inside.max(), n_bins))
    return bins
