"""Curves: their points, bands, accumulated effects and interactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.engine.running import one_thread
from odrf.statistics.effects import FunctionalCovariance, limits_of_predicted_share, reach_in_errors
from odrf.statistics.jackknife import RowsOfTrees, deviations, df_of_variances, jackknife_sums
from odrf.text.splits import number

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DRAWS = 10_000


class CurveSpread(NamedTuple):
    """How a curve at G points varies over samples: `covariance`, and with bias `raw` (G, G)."""

    covariance: Floats
    raw: Floats
    n_units: int
    most_df: float

    @property
    def df(self) -> float:
        """The degrees of freedom of the variances as estimates."""
        variance, raw = np.diagonal(self.covariance), np.diagonal(self.raw)
        return min(typical_df(df_of_variances(variance, raw, self.n_units)), self.most_df)

    @property
    def is_finite(self) -> bool:
        """Whether the covariance is within the range of floats."""
        return bool(np.isfinite(self.covariance).all() and np.isfinite(self.raw).all())

    def combined(self, D: Floats) -> CurveSpread:
        """Return that of the linear combinations D (R, G) of the points."""
        return self._replace(covariance=D @ self.covariance @ D.T, raw=D @ self.raw @ D.T)


class Bands(NamedTuple):
    """Uncertainty of a curve at G points; NaN where it is unknown.

    Each interval `conf_low` to `conf_high` covers its value with the given probability, and all
    intervals `band_low` to `band_high` together the whole curve.
    """

    std_error: Floats
    conf_low: Floats
    conf_high: Floats
    band_low: Floats
    band_high: Floats


def bands(
    estimate: Floats, spread: CurveSpread | None, level: float, probabilities: bool, seed: int
) -> Bands:
    """Return intervals of a normal estimate (G,) with this spread; None if it is unknown."""
    if spread is None:
        return Bands(*np.full((5, len(estimate)), np.nan))
    error = np.sqrt(np.maximum(np.diagonal(spread.covariance), 0.0))
    alone = reach_in_errors(level, spread.most_df) * error
    together = simultaneous_width(spread.covariance, level, seed, spread.df) * error
    if probabilities:
        ends = [
            end for reach in (alone, together) for end in limits_of_predicted_share(estimate, reach)
        ]
    else:
        ends = [estimate + width for width in (-alone, alone, -together, together)]
    return Bands(error, *ends)


def typical_df(df: Floats) -> float:
    """Return the degrees of freedom of a curve: the median of its points, ∞ if all are NaN."""
    known = df[~np.isnan(df)]
    return float(np.median(known)) if len(known) else float("inf")


@one_thread()
def simultaneous_width(covariance: Floats, level: float, seed: int, df: float = np.inf) -> float:
    """Return the quantile c of max |Z_g|/σ_g, Z normal with this covariance (G, G), by simulation.

    At least that of a single value. With finite `df`, of a multivariate t: as if the errors of all
    σ_g were the same.
    """
    single = reach_in_errors(level, df)
    error = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    known = error > 0
    if not known.any():
        return single
    correlation = covariance[np.ix_(known, known)] / np.outer(error[known], error[known])
    value, vector = np.linalg.eigh((correlation + correlation.T) / 2)
    root = vector * np.sqrt(np.maximum(value, 0.0))
    draws = np.random.default_rng(seed).standard_normal((DRAWS, len(root))) @ root.T
    largest = np.abs(draws).max(axis=1)
    if np.isfinite(df):
        # one χ² at equal steps of its distribution, in random order, for each draw
        order = np.random.default_rng((seed, len(root))).permutation(DRAWS)
        largest /= np.sqrt(scipy.special.chdtri(df, (order + 0.5) / DRAWS) / df)
    return max(single, float(np.quantile(largest, level)))


# Accumulated local effects, from mean differences of predictions within intervals or cells.
# Every function is linear in the differences, and takes those of one curve or of many.


def accumulated(difference: Floats, weight: Floats) -> Floats:
    """Return the effects (..., J + 1) accumulated at the ends of J intervals (Apley and Zhu 2020).

    The curve grows by the mean `difference` (..., J); its mean over the rows, with `weight` (J,)
    divided between the ends of an interval, is 0.
    """
    curve = _grown(difference, -1)
    middle = (curve[..., 1:] + curve[..., :-1]) / 2
    return curve - (middle @ weight)[..., np.newaxis] / weight.sum()


def accumulated_levels(difference: Floats, weight: Floats) -> Floats:
    """Return the same (..., L) for L ordered levels of rows of `weight` (L,)."""
    curve = _grown(difference, -1)
    return curve - (curve @ weight)[..., np.newaxis] / weight.sum()


def accumulated_pairs(difference: Floats, weight: Floats) -> Floats:
    """Return the second-order effects (..., J + 1, M + 1) of two variables at the corners of cells.

    They are what both add to the sum of their own effects. `difference` (..., J, M) is that of
    differences in each cell, without rows that of the nearest cell with some; `weight` (J, M).
    """
    surface = _grown(_grown(_filled(difference, weight), -2), -1)
    first, second = np.diff(surface, axis=-2), np.diff(surface, axis=-1)
    first = (first[..., 1:] + first[..., :-1]) / 2
    first = np.sum(first * _shares(weight, 1), axis=-1)
    second = (second[..., 1:, :] + second[..., :-1, :]) / 2
    second = np.sum(second * _shares(weight, 0), axis=-2)
    alone = _grown(first, -1)[..., :, np.newaxis] + _grown(second, -1)[..., np.newaxis, :]
    surface = surface - alone
    corners = surface[..., 1:, 1:] + surface[..., 1:, :-1]
    corners = (corners + surface[..., :-1, 1:] + surface[..., :-1, :-1]) / 4
    mean = (corners * weight).sum(axis=(-2, -1), keepdims=True) / weight.sum()
    return np.asarray(surface - mean)


def _shares(weight: Floats, axis: int) -> Floats:
    """Return the weights of cells (J, M) as shares along an axis, equal ones if all are 0."""
    known = np.where(weight.sum(axis=axis, keepdims=True) > 0, weight, 1.0)
    return np.asarray(known / known.sum(axis=axis, keepdims=True))


def _grown(difference: Floats, axis: int) -> Floats:
    """Return the cumulated sums along an axis, from 0 on."""
    shape = list(difference.shape)
    shape[axis] = 1
    return np.concatenate([np.zeros(shape), np.cumsum(difference, axis=axis)], axis=axis)


def _filled(difference: Floats, weight: Floats) -> Floats:
    """Return the differences with those of the nearest cell with rows in cells without."""
    nearest = scipy.ndimage.distance_transform_edt(
        weight == 0, return_distances=False, return_indices=True
    )
    return np.asarray(difference[..., nearest[0], nearest[1]])


# Covariances of the points of predicted curves over training samples, row by row.
def curve_covariances(
    values: Floats, rows: RowsOfTrees, used: NDArray[np.bool_] | None = None
) -> list[FunctionalCovariance]:
    """Estimate the covariances (G, G) of the points of m curves over training samples."""
    B, m, G = values.shape
    used = np.ones((B, m), dtype=np.bool_) if used is None else used
    deviation = deviations(values.reshape(B, m * G), rows.kinds, np.repeat(used, G, axis=1))
    sums = jackknife_sums(deviation, rows, partial(_products, m=m))
    return [FunctionalCovariance(*parts, rows.n, B) for parts in zip(*sums, strict=True)]


def _products(first: Floats, second: Floats, m: int) -> Floats:
    """Return sums (m, G, G) over trees of products of two points of each of m curves."""
    b = len(first)
    left = first.reshape(b, m, -1).transpose(1, 2, 0)
    return np.asarray(left @ second.reshape(b, m, -1).transpose(1, 0, 2))


# H statistics: how much of the prediction is no sum of parts of single variables.
# Friedman and Popescu (2008), section 8.1.  Curves are centred here, so that they need not be
# before.

# A share of the predictions that sums and differences leave of 0.
ROUNDING = 1e-12


class Interaction(NamedTuple):
    """The standard deviation of what is not additive, and its share H of that of the whole."""

    strength: float
    H: float


def pair_interaction(both: Floats, first: Floats, second: Floats) -> Interaction:
    """Return the interaction of a pair, from partial dependences (s, K) at the values of s rows."""
    return _interaction(both - first - second, both)


def overall_interaction(predicted: Floats, alone: Floats, others: Floats) -> Interaction:
    """Return the interaction of a variable with all others, of partial dependences (s, K)."""
    return _interaction(predicted - alone - others, predicted)


def _interaction(rest: Floats, whole: Floats) -> Interaction:
    least = ROUNDING * np.abs(whole).max()
    strength, size = (float(np.sqrt(part.var(axis=0).sum())) for part in (rest, whole))
    if strength <= least:
        return Interaction(0.0, 0.0)
    return Interaction(strength, strength / size if size > least else 0.0)


# An order of the levels of a factor: those whose rows are alike stand side by side.
@one_thread()
def similarity_order(level: Integers, n_levels: int, others: Sequence[pd.Series]) -> Integers:
    """Return the numbers of the levels in an order by similarity of the other variables.

    The distance of two levels, summed over variables, is the largest difference of their
    distribution functions, of factors half the sum of differences of shares; scaled to one
    dimension (Apley and Zhu 2020, as in the R package ALEPlot). `level` (n,) is that of each row,
    from 0; each has a row.
    """
    distance = np.zeros((n_levels, n_levels))
    rows = np.bincount(level, minlength=n_levels)
    for column in others:
        number = pd.api.types.is_numeric_dtype(column)
        code, values = pd.factorize(column, sort=number)
        known = code >= 0
        require_memory(
            8.0 * n_levels * max(3 * len(values), n_levels),
            f"the shares of {len(values)} values of {column.name!r} in {n_levels} levels",
            "use a factor of fewer levels, or fewer rows",
        )
        table = np.zeros((n_levels, len(values)))
        np.add.at(table, (level[known], code[known]), 1.0)
        share = table / np.maximum(rows, 1)[:, np.newaxis]
        for a in range(n_levels):
            if number:
                cumulated = np.cumsum(share - share[a], axis=1)
                distance[a] += np.abs(cumulated).max(axis=1, initial=0.0)
            else:
                distance[a] += np.abs(share - share[a]).sum(axis=1) / 2
    centring = np.eye(n_levels) - 1 / n_levels
    _, vector = np.linalg.eigh(-centring @ distance**2 @ centring / 2)
    place = vector[:, -1]
    # the sign of an eigenvector is arbitrary
    place = place if place[0] <= place[-1] else -place
    return np.argsort(np.round(place, 12), kind="stable")


# A variable, the points at which predictions are averaged, and where the rows are.
@dataclass(frozen=True, eq=False)
class VariablePoints:
    """A variable, its points `values` (G,), and the rows `observed` (n,), NaN if at none."""

    name: str
    values: NDArray[Any]
    numeric: bool
    observed: Floats

    @property
    def at(self) -> Floats:
        """(G,) Where the points are on an axis: numbers, or 0, 1, … for levels."""
        numbers = self.values if self.numeric else np.arange(len(self.values))
        return np.asarray(numbers, dtype=np.float64)

    @property
    def labels(self) -> list[str]:
        """(G,) The points as text."""
        return [number(float(one)) if self.numeric else str(one) for one in self.values]

    @property
    def nearest(self) -> Integers:
        """(n,) The number of the point that is nearest to each row; -1 for those without any."""
        known = ~np.isnan(self.observed)
        out = np.full(len(known), -1, dtype=np.int64)
        if self.numeric:
            middles = (self.at[1:] + self.at[:-1]) / 2
            out[known] = np.searchsorted(middles, self.observed[known])
        else:
            out[known] = self.observed[known].astype(np.int64)
        return out

    @property
    def rows(self) -> Integers:
        """(G,) How many rows are nearer to each point than to the others."""
        nearest = self.nearest
        return np.bincount(nearest[nearest >= 0], minlength=len(self.values))
