"""Which rows trees draw together, and how the trees that miss a row covary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.rows.draws import Draws
from odrf.engine.rows.sampling import BOOTSTRAP, Sampling, n_drawn

__all__ = ["Stratum", "pairs_of_one_stream", "strata_of", "tells_rows_apart"]


class Stratum(NamedTuple):
    """Rows of positive weight that were drawn together: the first ones, or a batch added later.

    Attributes
    ----------
    begin, end : int
        Where these rows are among all rows of positive weight.
    n : int
        How many of them the trees draw from.
    missed : (B,) float64
        The probability that a tree draws a row not at all.
    scale : (B,) float64
        The factor from the covariances of each tree to the influence of a row.
    """

    begin: int
    end: int
    n: int
    missed: NDArray[np.float64]
    scale: NDArray[np.float64]


def strata_of(draws: Draws, of_others: bool = False) -> list[Stratum]:
    """Return the strata: the rows that the trees were grown on, and each batch added later.

    With `of_others`, the first stratum has one row less, which the trees are known not to draw.
    """
    weights, samplings = draws.weights, draws.samplings
    ends = [*(batch.begin for batch in samplings[0].later), len(weights)]
    ends = [int((weights[:end] > 0).sum()) for end in ends]
    sizes = [n_drawn(sampling, ends[0]) for sampling in samplings]
    n = max(ends[0] - of_others, 1)
    missed = [_missed_together(*pair, n) for pair in zip(samplings, sizes, strict=True)]
    strata = [_stratum(0, ends[0], n, missed, (n - 1) / n)]
    for k, begin in enumerate(ends[:-1]):
        if ends[k + 1] > begin:
            missed = [_missed_alone(sampling, k) for sampling in samplings]
            end = ends[k + 1]
            strata.append(_stratum(begin, end, end - begin, missed, 1.0))
    return strata


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
    """Return whether every tree can miss each row; with `of_others`, another one at once."""
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
    stream = np.unique(draws.streams, axis=0, return_inverse=True)[1].ravel()
    trees = [np.flatnonzero(kinds == g) for g in np.unique(kinds)]
    pairs = []
    for a in trees:
        for b in trees:
            _, in_a, in_b = np.intersect1d(stream[a], stream[b], return_indices=True)
            if len(in_a):
                both, one = sorted((stratum.missed[a[0]], stratum.missed[b[0]]))
                pairs.append((a[in_a], b[in_b], float(stratum.n * both * (1 - one))))
    return pairs
