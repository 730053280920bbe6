"""On how many rows pilot trees are grown, and what they say about trees on all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData

__all__ = ["OF_SIZES", "OF_TIME", "at_all_rows", "pilot_rows", "random_mask", "random_rows"]

# Pilot trees on all rows are at most this share of the trees of a fit.
MOST_SHARE = 0.1
# Otherwise they are grown on fewer rows, of which all sizes together have this share of the work.
SMALLER_SHARE = 0.08
SIZES = (0.1, 0.3, 0.6)
# With fewer rows trees say little about large ones, and take milliseconds.
FEWEST_ROWS = 500
FEWEST_EVENTS = 2
# Exponents of sizes, which grow as the rows at most, and of time, which has a share that does not
# depend on them.
OF_SIZES, OF_TIME = (0.0, 1.0), (1.02, 1.3)
# Key of the stream that draws the rows of pilot trees.
DRAWN = 43


def pilot_rows(n: int, n_pilots: int, n_trees: float) -> list[int]:
    """Return the numbers of rows, in rising order, on each of which pilot trees are grown.

    `n_pilots` of them are grown, for a fit of `n_trees` trees on n rows.
    """
    if n_pilots <= MOST_SHARE * n_trees:
        return [n]
    share = SMALLER_SHARE * n_trees / n_pilots
    return sorted({min(n, max(FEWEST_ROWS, round(n * share * size))) for size in SIZES})


def random_rows(data: TrainingData, size: int, seed: int) -> TrainingData:
    """Return `size` random rows of the data."""
    return data if size >= len(data.y) else data.keeping(random_mask(data, size, seed))


def random_mask(data: TrainingData, size: int, seed: int) -> NDArray[np.bool_]:
    """Return which rows (n,) are among `size` random ones, of positive weight if possible.

    Of times to an event two have one, if there are: each fold of a cross-validation needs one.
    """
    n = len(data.y)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(DRAWN, size)))
    order = rng.permutation(n)
    weighted = order[np.argsort(data.weights[order] <= 0, kind="stable")]
    if data.times is not None:
        happened = ((data.times.event > 0) & (data.weights > 0))[weighted]
        if happened[:size].sum() < FEWEST_EVENTS:
            first = np.flatnonzero(happened)[:FEWEST_EVENTS]
            weighted = np.concatenate([weighted[first], np.delete(weighted, first)])
    mask = np.zeros(n, dtype=np.bool_)
    mask[weighted[:size]] = True
    return mask


def at_all_rows(
    rows: Sequence[int], values: Sequence[float], n: int, slopes: tuple[float, float]
) -> float:
    """Return what `values` at some numbers of `rows` are at n rows, by a power law.

    Its exponent is within the bounds `slopes`.
    """
    if rows[-1] == n:
        return values[-1]
    slope = slopes[1]
    if len(rows) > 1:
        slope = float(np.polyfit(np.log(rows), np.log(np.maximum(values, 1e-9)), 1)[0])
    return float(values[-1] * (n / rows[-1]) ** np.clip(slope, *slopes))
