"""Which rows trees draw together, and how the trees that miss a row covary.

The units of the jackknife are what trees draw: rows, or whole groups of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.resamples import BOOTSTRAP, Draws, Sampling, n_drawn, n_units_drawn, units_of
from odrf.statistics.distinct_rows import distinct_rows

__all__ = [
    "Stratum",
    "degrees_of_freedom",
    "pairs_of_one_stream",
    "strata_of",
    "tells_rows_apart",
    "unseen_units",
]


class Stratum(NamedTuple):
    """Units that were drawn together: the first ones, a stratum of these, or a batch added later.

    A unit is a row of positive weight, or a group that has one.

    Attributes
    ----------
    begin, end : int
        Where these units are among the columns of `unseen_units`.
    n : int
        How many of them the trees draw from.
    missed : (B,) float64
        The probability that a tree draws a unit not at all.
    scale : (B,) float64
        The factor from the covariances of each tree to the influence of a unit.
    """

    begin: int
    end: int
    n: int
    missed: NDArray[np.float64]
    scale: NDArray[np.float64]


class _Places(NamedTuple):
    """Where the units are.

    Attributes
    ----------
    row : (u,) int64
        A row of each unit: those of a stratum follow each other, then those of each batch.
    ends : list of int
        Where the strata of the first units end, among the units.
    later : list of int
        Where the batches end.
    """

    row: NDArray[np.int64]
    ends: list[int]
    later: list[int]


def unseen_units(draws: Draws) -> NDArray[np.bool_]:
    """Return which units (B, u) each tree did not draw, in the order of `strata_of`."""
    return draws.all_unseen()[:, _places(draws).row]


def strata_of(draws: Draws, of_others: bool = False) -> list[Stratum]:
    """Return the strata: of the units that the trees were grown on, and each batch added later.

    With `of_others`, trees are known not to draw one more unit.  It is in the only stratum; which
    of several strata it is in depends on the unit, and is not taken into account.
    """
    samplings, places = draws.samplings, _places(draws)
    drawn = n_drawn if draws.codes is None else n_units_drawn
    strata, begin, others = [], 0, of_others and len(places.ends) == 1
    for end in places.ends:
        sizes = [drawn(sampling, end - begin) for sampling in samplings]
        n = max(end - begin - others, 1)
        missed = [_missed_together(*pair, n) for pair in zip(samplings, sizes, strict=True)]
        strata.append(_stratum(begin, end, n, missed, (n - 1) / n))
        begin = end
    for k, end in enumerate(places.later):
        if end > begin:
            missed = [_missed_alone(sampling, k) for sampling in samplings]
            strata.append(_stratum(begin, end, end - begin, missed, 1.0))
        begin = end
    return strata


def degrees_of_freedom(draws: Draws) -> float:
    """Return the degrees of freedom of a variance over units, as in surveys.

    Groups are often few: their number less that of the strata.  Rows are supposed to be many: ∞.
    """
    if draws.codes is None or draws.codes.groups is None:
        return float("inf")
    strata = strata_of(draws)
    return float(max(strata[-1].end - len(strata), 1))


def _places(draws: Draws) -> _Places:
    begins = draws.samplings[0].begins
    units = units_of(draws.weights, begins, draws.codes)
    used = np.flatnonzero(units.positive)
    first = len(units.positive) if not begins else units.begins[0]
    n_first = int(np.searchsorted(used, first))
    ends = [n_first]
    if units.strata is not None:
        strata = units.strata[used[:n_first]]
        used[:n_first] = used[:n_first][np.argsort(strata, kind="stable")]
        ends = np.cumsum(np.unique(strata, return_counts=True)[1]).tolist()
    limits = [*units.begins[1:], len(units.positive)] if begins else []
    later = [int(np.searchsorted(np.sort(used), limit)) for limit in limits]
    return _Places(_row_of(units.of_row, used), ends, later)


def _row_of(of_row: NDArray[np.int64] | None, units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first row of each of the units."""
    if of_row is None:
        return units
    found, first = np.unique(of_row, return_index=True)
    return first[np.searchsorted(found, units)]


def _stratum(begin: int, end: int, n: int, missed: list[float], factor: float) -> Stratum:
    probability = np.array(missed)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Stratum(begin, end, n, probability, np.sqrt(factor) / probability)


def _missed_together(sampling: Sampling, size: int, n: int) -> float:
    """Return the probability that a row is not among the `size` that a tree draws from n."""
    return (1 - 1 / n) ** size if sampling.resample == BOOTSTRAP else (n - size) / n


def _missed_alone(sampling: Sampling, k: int) -> float:
    """Return the probability that a tree does not draw a row of the k-th batch added later."""
    fraction = sampling.later[k].fraction
    return float(np.exp(-fraction)) if sampling.resample == BOOTSTRAP else 1 - fraction


def tells_rows_apart(draws: Draws, of_others: bool = False) -> bool:
    """Return whether every tree can miss each unit; with `of_others`, another one at once.

    In time, trees draw early rows more often than late ones, and no row alike.
    """
    if draws.codes is not None and draws.codes.order is not None:
        return False
    return all((stratum.missed > 0).all() for stratum in strata_of(draws, of_others))


def pairs_of_one_stream(
    kinds: NDArray[np.int64],
    draws: Draws,
    stratum: Stratum,
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], float]]:
    """Return pairs of trees with the same random stream, and how their missed rows covary.

    Each entry holds trees of one kind, the trees of the same or another kind with the same streams,
    and the covariance of whether they miss a row, summed over the rows.  From one stream, the
    smaller draw is part of the larger one: it misses all that the larger one misses.
    """
    stream = distinct_rows(draws.streams)[1]
    trees = [np.flatnonzero(kinds == g) for g in np.unique(kinds)]
    pairs = []
    for a in trees:
        for b in trees:
            _, in_a, in_b = np.intersect1d(stream[a], stream[b], return_indices=True)
            if len(in_a):
                both, one = sorted((stratum.missed[a[0]], stratum.missed[b[0]]))
                pairs.append((a[in_a], b[in_b], float(stratum.n * both * (1 - one))))
    return pairs
