"""The infinitesimal jackknife: the variance of a forest's mean over training samples.

The covariance, over the trees, of how often a row was drawn and what the trees predict shows how
the forest depends on that row.  So the trees of one forest suffice; no other forest is grown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import in_order, row_blocks
from odrf.engine.rows.draws import Draws
from odrf.engine.rows.sampling import BOOTSTRAP, Sampling, n_drawn
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.trees.routing import leaves_of

__all__ = ["Variance", "enough_trees", "infinitesimal_jackknife", "tells_rows_apart"]

# Sizes of blocks of new rows and of training rows.
BLOCK, TRAINING_BLOCK = 1024, 4096

# Trees are enough if the Monte Carlo standard deviation of a variance is at most this share of it.
LARGEST_SHARE = 1 / 3


class Variance(NamedTuple):
    """Variances of a forest's means for m rows.

    Attributes
    ----------
    raw : (m,) float64
        The estimate from a finite number of trees.
    bias : (m,) float64
        Its Monte Carlo bias: what the finite number of trees adds on average.
    """

    raw: NDArray[np.float64]
    bias: NDArray[np.float64]

    @property
    def corrected(self) -> NDArray[np.float64]:
        """The estimate without the bias (m,); with few trees it can be 0 or negative."""
        return self.raw - self.bias


def infinitesimal_jackknife(
    forest: Forest,
    new: NDArray[np.float32],
    kinds: NDArray[np.int64],
    draws: Draws,
) -> Variance:
    """Estimate the variance, over training samples, of the mean (m,) predicted for `new` (p, m).

    Let C_i be the covariance, over the trees, of their predictions and of how often they drew row
    i.  The variance is Σ_i C_i² for a bootstrap (Wager, Hastie and Efron 2014).  For subsamples of
    s of n rows, without replacement, it is n(n - 1)/(n - s)² times that (Wager and Athey 2018); the
    factor makes it exact for trees that are means.  The finite number B of trees adds to Σ_i C_i²
    on average s·v/B for a bootstrap of s draws and s(n - s)/n·v/B for a subsample, v being the
    variance of the trees.

    Rows added to the trees by an update are drawn independently: the factor is then 1/(1 - f)² for
    subsamples with probability f, and each row adds f·v/B (bootstrap) or f(1 - f)·v/B (subsample).

    Several kinds of trees, in shares a_g: to first order the influence of row i on the forest is
    Σ_g a_g times its influence on the mean of kind g; these are scaled kind by kind and added
    before they are squared.  Kinds draw from the same random streams, and the errors of trees of
    one stream are correlated: their products enter the Monte Carlo bias.  It is ignored that the
    shares depend on the sample, and that case weights may; so it is, for any forest, that options
    were chosen on the data.

    All this is a first-order approximation.  With deep trees, it underestimates the variance for
    bootstraps and overestimates it somewhat for large subsamples; ``benchmarks/intervals.py`` shows
    the coverage that results.

    Parameters
    ----------
    forest : Forest
        Trees for a numeric response.
    new : (p, m) float32
        Predictors of the rows to predict.
    kinds : (B,) int64
        The kind of each tree, from 0; trees of one kind draw in the same way.
    draws : Draws
        How the trees drew their rows; no tree may draw all rows without replacement.

    References
    ----------
    Wager, Hastie and Efron (2014), Confidence intervals for random forests: the jackknife and the
    infinitesimal jackknife, JMLR 15, 1625-1651.

    Wager and Athey (2018), Estimation and inference of heterogeneous treatment effects using
    random forests, JASA 113, 1228-1242.
    """
    counts = draws.all_counts()[:, draws.weights > 0]
    B = len(counts)
    strata = _strata(draws)
    overlaps = [_overlaps(kinds, draws, stratum) for stratum in strata]
    variance = Variance(np.zeros(new.shape[1]), np.zeros(new.shape[1]))

    def run(block: slice) -> None:
        value = forest.value[leaves_of(forest.packed, new, block), 0]
        for g in np.unique(kinds):
            value[kinds == g] -= value[kinds == g].mean(axis=0)
        for stratum, pairs in zip(strata, overlaps, strict=True):
            scaled = value * (stratum.scale[:, None] / B)
            for rows in row_blocks(stratum.n, TRAINING_BLOCK):
                # deviations of a kind add up to 0: the counts need not be centred
                drawn = slice(stratum.begin + rows.start, stratum.begin + rows.stop)
                influence = scaled.T @ counts[:, drawn].astype(np.float64)
                variance.raw[block] += np.sum(influence**2, axis=1)
            for first, second, covariance in pairs:
                products = np.sum(scaled[first] * scaled[second], axis=0)
                variance.bias[block] += covariance * products

    for _ in in_order(run, row_blocks(new.shape[1], BLOCK), draws.n_jobs):
        pass
    return variance


class Stratum(NamedTuple):
    """Rows of positive weight that were drawn together: the first ones, or a batch added later.

    Attributes
    ----------
    begin, n : int
        The first of these rows among all rows of positive weight, and their number.
    size : list of float
        How many of them each tree draws; for a later batch on average.
    scale : (B,) float64
        The factor from the covariances of each tree to the influence of a row.
    """

    begin: int
    n: int
    size: list[float]
    scale: NDArray[np.float64]


def _strata(draws: Draws) -> list[Stratum]:
    """Return the strata: the rows that the trees were grown on, and each batch added later."""
    weights, samplings = draws.weights, draws.samplings
    ends = [*(batch.begin for batch in samplings[0].later), len(weights)]
    ends = [int((weights[:end] > 0).sum()) for end in ends]
    size: list[float] = [n_drawn(sampling, ends[0]) for sampling in samplings]
    scale = [_scale(*pair, ends[0], ends[0] - 1) for pair in zip(samplings, size, strict=True)]
    strata = [Stratum(0, ends[0], size, np.array(scale))]
    for k, begin in enumerate(ends[:-1]):
        n = ends[k + 1] - begin
        if n > 0:
            size = [n * sampling.later[k].fraction for sampling in samplings]
            scale = [_scale(*pair, n, n) for pair in zip(samplings, size, strict=True)]
            strata.append(Stratum(begin, n, size, np.array(scale)))
    return strata


def _scale(sampling: Sampling, size: float, n: int, free: int) -> float:
    """Return the factor from covariances to influences of n rows, `free` of them to vary."""
    if sampling.resample == BOOTSTRAP:
        return 1.0
    return float(np.sqrt(n * free) / (n - size)) if size < n else np.inf


def tells_rows_apart(draws: Draws) -> bool:
    """Return whether no tree draws all rows without replacement, so that the draws vary."""
    return all(np.isfinite(stratum.scale).all() for stratum in _strata(draws))


def _overlaps(
    kinds: NDArray[np.int64],
    draws: Draws,
    stratum: Stratum,
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], float]]:
    """Return pairs of trees with the same random stream, and the covariance of their counts.

    Each entry holds trees of one kind, the trees of the same or another kind with the same streams,
    and the covariance of their counts, summed over the rows.  From one stream, the smaller draw is
    part of the larger one: the covariance is s for a bootstrap, s(n - s')/n for subsamples of
    s ≤ s' rows.
    """
    stream = np.unique(draws.streams, axis=0, return_inverse=True)[1].ravel()
    trees = [np.flatnonzero(kinds == g) for g in np.unique(kinds)]
    pairs = []
    for a in trees:
        for b in trees:
            _, in_a, in_b = np.intersect1d(stream[a], stream[b], return_indices=True)
            if len(in_a) == 0:
                continue
            n = stratum.n
            small, large = sorted((stratum.size[a[0]], stratum.size[b[0]]))
            replaced = draws.samplings[a[0]].resample == BOOTSTRAP
            covariance = float(small) if replaced else small * (n - large) / n
            pairs.append((a[in_a], b[in_b], covariance))
    return pairs


def enough_trees(variance: Variance, n_trees: int, n: int) -> int:
    """Return how many trees, rounded up to hundreds, would estimate the variances well enough.

    `variance` was estimated from `n_trees` trees.  The Monte Carlo standard deviation of Σ_i C_i²
    is about √(2/n) times its Monte Carlo bias.  It falls as 1/B, and should be at most a third of
    the variance.
    """
    typical = float(np.median(variance.corrected))
    standard_deviation = float(np.median(variance.bias)) * (2 / n) ** 0.5
    # Θ(n) trees are needed (Wager, Hastie and Efron, section 3)
    wanted = n_trees * standard_deviation / (LARGEST_SHARE * typical) if typical > 0 else n
    return int(-(-max(wanted, 2 * n_trees) // 100) * 100)
