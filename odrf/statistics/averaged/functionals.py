"""The covariance of linear functionals of a forest, such as averages of its predictions.

A functional is linear in the trees: its value for the forest is the mean of its values for the
trees.  So the jackknife after bootstrap (`odrf.statistics.jackknife`) applies to it as to a single
prediction, and to several of them with their covariances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.resamples import Draws
from odrf.engine.running import one_thread
from odrf.statistics.jackknife import (
    Variance,
    deviations,
    enough_trees,
    jackknife_sums,
    rows_of_trees,
)

__all__ = ["FunctionalCovariance", "functional_covariance"]

# Eigenvalues of correlations below this are rounding.
NO_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class FunctionalCovariance:
    """Covariances of M functionals of a forest over training samples.

    Attributes
    ----------
    raw : (M, M) float64
        The jackknife estimate from a finite number of trees.
    bias : (M, M) float64
        Its Monte Carlo bias: what the finite number of trees adds on average.
    of_trees : (M, M) float64
        The Monte Carlo covariance of the means of these trees.
    n_rows : int
        The number of training rows that the estimate is a sum over.
    n_trees : int
    """

    raw: NDArray[np.float64]
    bias: NDArray[np.float64]
    of_trees: NDArray[np.float64]
    n_rows: int
    n_trees: int

    @property
    def variances(self) -> Variance:
        """The variances (M,) of the single functionals, as those of single predictions."""
        raw, bias, of_trees = map(np.diagonal, (self.raw, self.bias, self.of_trees))
        return Variance(raw.copy(), bias.copy(), of_trees.copy(), self.n_rows)

    @property
    def total(self) -> NDArray[np.float64]:
        """The covariance (M, M) of the means of these trees over samples and random streams.

        Without the bias, the variance of a combination of functionals can be estimated as negative
        or near 0 if there are few trees.  So correlations are those of `_not_negative`, where no
        combination has less than the variance it would have alone.  Variances are those of
        `Variance.total`: a single functional has the same alone or among others.  NaN for those
        that are not finite.
        """
        variances = self.variances
        of_samples = np.maximum(variances.total - variances.of_trees, 0.0)
        scale = np.sqrt(of_samples)
        return np.asarray(self._correlation() * np.outer(scale, scale) + self.of_trees)

    def _correlation(self) -> NDArray[np.float64]:
        """Return the correlations (M, M) over samples; none where a functional does not vary."""
        covariance = self._not_negative()
        variance = np.diagonal(covariance)
        known = np.sqrt(np.where(variance > 0, variance, np.inf))
        correlation = covariance / np.outer(known, known)
        np.fill_diagonal(correlation, 1.0)
        return correlation

    @one_thread()
    def _not_negative(self) -> NDArray[np.float64]:
        """Return the covariance (M, M) without the bias, not negative in any direction.

        In the directions that diagonalise both the estimate and its bias, which then add up to 1,
        the variances are those of `Variance.total`.
        """
        both = self.raw + self.bias
        finite = np.isfinite(np.diagonal(both))
        if not finite.all():
            return self._not_negative_of(finite)
        unit = np.sqrt(np.where(np.diagonal(both) > 0, np.diagonal(both), 1.0))
        value, vector = np.linalg.eigh(both / np.outer(unit, unit))
        known = value > NO_VARIANCE * max(value.max(initial=0.0), 1.0)
        root = vector[:, known] * np.sqrt(value[known])
        inverse = vector[:, known] / np.sqrt(value[known])
        estimated = inverse.T @ (self.raw / np.outer(unit, unit)) @ inverse
        share, direction = np.linalg.eigh((estimated + estimated.T) / 2)
        share = np.clip(share, 0.0, 1.0)
        variance = Variance(share, 1.0 - share, np.zeros_like(share), self.n_rows).total
        half = unit[:, None] * (root @ direction) * np.sqrt(variance)
        return np.asarray(half @ half.T)

    def _not_negative_of(self, some: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return `_not_negative` of some of the functionals, (M, M) with NaN for the others."""
        at = np.ix_(some, some)
        known = replace(self, raw=self.raw[at], bias=self.bias[at], of_trees=self.of_trees[at])
        covariance = np.full(self.raw.shape, np.nan)
        covariance[at] = known._not_negative()
        return covariance

    @property
    def trees_advised(self) -> int:
        """How many trees would estimate the variances well enough; 0 if these are enough."""
        return enough_trees(self.variances, self.n_trees)


def functional_covariance(
    values: NDArray[np.float64], kinds: NDArray[np.int64], draws: Draws
) -> FunctionalCovariance:
    """Estimate the covariance, over training samples, of means (M,) over trees.

    Parameters
    ----------
    values : (B, M) float64
        The functionals of each tree.
    kinds : (B,) int64
        The kind of each tree, from 0; trees of one kind draw in the same way.
    draws : Draws
        How the trees drew their rows; `tells_rows_apart` of `odrf.statistics.drawn_together` must
        be true of them.

    References
    ----------
    Efron (1992), Jackknife-after-bootstrap standard errors and influence functions, JRSS B 54,
    83-127.

    Wager and Athey (2018), Estimation and inference of heterogeneous treatment effects using
    random forests, JASA 113, 1228-1242.
    """
    rows = rows_of_trees(kinds, draws)
    deviation = deviations(values, kinds, np.ones(values.shape))
    sums = jackknife_sums(deviation, rows, lambda first, second: first.T @ second)
    return FunctionalCovariance(*sums, rows.n, len(values))
