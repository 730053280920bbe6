"""Whether events happen as often as predicted: reliability, and the parts of the Brier score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.engine.running import end_if_stopped
from odrf.statistics.probabilities.clustered import effective_rows

__all__ = [
    "BrierParts",
    "brier_parts",
    "calibrated_band",
    "clopper_pearson",
    "recalibrated",
    "reliability_table",
]


class BrierParts(NamedTuple):
    """The Brier score and its parts: score = miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    score : float
        The mean squared difference of probability and event.
    miscalibration : float
        By how much the score falls if the probabilities are replaced by the best increasing
        function of them.
    discrimination : float
        By how much that score is below the one of the mean event rate.
    uncertainty : float
        The score of the mean event rate.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def recalibrated(
    p: NDArray[np.float64], event: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the increasing function of the probabilities p (n,) that fits the events best, (n,).

    Isotonic regression; rows of one probability have one value.
    """
    level, at = np.unique(p, return_inverse=True)
    total = np.bincount(at, weights, len(level))
    mean = np.bincount(at, weights * event, len(level)) / total
    return np.asarray(scipy.optimize.isotonic_regression(mean, weights=total).x[at])


def brier_parts(
    p: NDArray[np.float64], event: NDArray[np.float64], weights: NDArray[np.float64]
) -> BrierParts:
    """Return the parts of the Brier score by isotonic regression (Dimitriadis and others 2021).

    Parameters
    ----------
    p : (n,) float64
        Probabilities of an event.
    event : (n,) float64
        1 where it happened, else 0.
    weights : (n,) float64

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), Stable reliability diagrams for probabilistic
    classifiers, PNAS 118, e2016191118.
    """

    def score(q: NDArray[np.float64] | float) -> float:
        return float(np.average((q - event) ** 2, weights=weights))

    own, best = score(p), score(recalibrated(p, event, weights))
    base = score(float(np.average(event, weights=weights)))
    return BrierParts(own, own - best, base - best, base)


def reliability_table(
    p: NDArray[np.float64],
    event: NDArray[np.float64],
    weights: NDArray[np.float64],
    bins: int,
    level: float,
    groups: NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """Return mean probability and event rate in bins of about equally many rows.

    Columns: ``predicted``, ``observed``, ``conf_low`` and ``conf_high`` of the rate (Clopper and
    Pearson, with the effective number of rows if weights differ or rows are of `groups` (n,), see
    `effective_rows`), and ``rows``.  Equal probabilities are in one bin.
    """
    edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1]))
    bin_of_row = np.searchsorted(edges, p, side="left")
    rows = []
    for b in np.unique(bin_of_row):
        inside = bin_of_row == b
        w = weights[inside]
        rate = float(np.average(event[inside], weights=w))
        of_bin = None if groups is None else groups[inside]
        effective = effective_rows(event[inside], w, of_bin, level)
        low, high = clopper_pearson(rate * effective, effective, level)
        predicted = float(np.average(p[inside], weights=w))
        rows.append((predicted, rate, float(low), float(high), int(inside.sum())))
    return pd.DataFrame(rows, columns=["predicted", "observed", "conf_low", "conf_high", "rows"])


def clopper_pearson(events: float, n: float, level: float) -> tuple[float, float]:
    """Return the exact interval of a probability, given how many of n rows were events."""
    tail = (1 - level) / 2
    low = scipy.special.betaincinv(events, n - events + 1, tail) if events > 0 else 0.0
    high = scipy.special.betaincinv(events + 1, n - events, 1 - tail) if events < n else 1.0
    return float(low), float(high)


def calibrated_band(
    p: NDArray[np.float64],
    weights: NDArray[np.float64],
    at: NDArray[np.float64],
    level: float,
    seed: int,
    samples: int = 200,
) -> NDArray[np.float64]:
    """Return between which values (2, m) the recalibrated curve would be if p were calibrated.

    Events are drawn with the probabilities p (n,), and the curve is estimated from them, `samples`
    times; at each of the m points `at`, the band holds the share `level` of the curves.  It is
    pointwise: fewer curves are inside at all points.
    """
    rng = np.random.default_rng(seed)
    order = np.argsort(p, kind="stable")
    p, weights = p[order], weights[order]
    curves = np.empty((samples, len(at)))
    for s in range(samples):
        end_if_stopped()
        event = (rng.random(len(p)) < p).astype(np.float64)
        curves[s] = np.interp(at, p, recalibrated(p, event, weights))
    return np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
