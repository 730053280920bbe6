"""The infinitesimal jackknife: how a forest's mean would vary from one training sample to another.

Which rows a tree drew, and what it says, vary together over the trees as the forest would over
samples.  So the trees that there are tell the variance, and no further forest is grown.
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

# New rows, and training rows, that are multiplied at a time.
BLOCK, TRAINING_BLOCK = 1024, 4096

# Chance may make up so much of a standard deviation of the estimated variance, as its part.
CHANCE = 1 / 3


class Variance(NamedTuple):
    """Variances of a forest's means for m rows.

    Attributes
    ----------
    raw : (m,) float64
        As the trees that there are have it.
    chance : (m,) float64
        What of it their finite number adds on average.
    """

    raw: NDArray[np.float64]
    chance: NDArray[np.float64]

    @property
    def corrected(self) -> NDArray[np.float64]:
        """Without what chance adds (m,); it can fall to 0 or below where the trees are few."""
        return self.raw - self.chance


def infinitesimal_jackknife(
    forest: Forest,
    new: NDArray[np.float32],
    kinds: NDArray[np.int64],
    draws: Draws,
) -> Variance:
    """Estimate the variance, over training samples, of the mean (m,) predicted for `new` (p, m).

    With C_i the covariance over the trees of what they predict and of how often they drew row i,
    the variance is Σ_i C_i² for a bootstrap (Wager, Hastie and Efron 2014), and for subsamples of
    s rows of n, without replacement, n(n - 1)/(n - s)² times that (Wager and Athey 2018), which
    makes it exact for trees that are means.  Chance adds to Σ_i C_i² on average s·v/B for a
    bootstrap of s draws and s(n - s)/n·v/B for a subsample, v being the variance of the trees.

    Of rows that were added to the trees, each is drawn on its own: the factor is then 1/(1 - f)²
    for subsamples with probability f, and for each row chance adds f·v/B, or f(1 - f)·v/B.

    Several kinds of trees, in the shares a_g: to first order row i moves the forest by Σ_g a_g
    times what it moves the mean of kind g, so these influences, scaled kind by kind, add up before
    they are squared.  Kinds draw by the same streams, and trees of one stream err together: their
    products count in what chance adds.  That the shares depend on the sample too is left out, and
    that case weights are given; both as for a forest whose options were chosen by looking at it.

    To first order means to first order only.  Of deep trees, a bootstrap finds rather less variance
    than there is, and subsamples of many of the rows somewhat more; ``benchmarks/intervals.py``
    shows what that does to coverage.

    Parameters
    ----------
    forest : Forest
        Trees for a numeric response.
    new : (p, m) float32
        Predictors of the rows to predict.
    kinds : (B,) int64
        The kind of each tree, from 0; trees of one kind draw in the same way.
    draws : Draws
        How the trees drew their rows; none may draw all of them without replacement.

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
    found = Variance(np.zeros(new.shape[1]), np.zeros(new.shape[1]))

    def run(block: slice) -> None:
        value = forest.value[leaves_of(forest.packed, new, block), 0]
        for g in np.unique(kinds):
            value[kinds == g] -= value[kinds == g].mean(axis=0)
        for stratum, pairs in zip(strata, overlaps, strict=True):
            moved = value * (stratum.scale[:, None] / B)
            for rows in row_blocks(stratum.n, TRAINING_BLOCK):
                # deviations of a kind add up to 0: the counts need not be centred
                own = slice(stratum.begin + rows.start, stratum.begin + rows.stop)
                influence = moved.T @ counts[:, own].astype(np.float64)
                found.raw[block] += np.sum(influence**2, axis=1)
            for one, other, shared in pairs:
                found.chance[block] += shared * np.sum(moved[one] * moved[other], axis=0)

    for _ in in_order(run, row_blocks(new.shape[1], BLOCK), draws.n_jobs):
        pass
    return found


class Stratum(NamedTuple):
    """Rows of positive weight that all trees drew in one go.

    Attributes
    ----------
    begin, n : int
        The first of them among all rows of positive weight, and how many they are.
    size : list of float
        How many of them each tree draws, those added later on average.
    scale : (B,) float64
        How much more they move a mean than each tree's draws say.
    """

    begin: int
    n: int
    size: list[float]
    scale: NDArray[np.float64]


def _strata(draws: Draws) -> list[Stratum]:
    """Return the rows that the trees were grown on, and those of each batch added later."""
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
    """Return how much more n rows, `free` to vary, move a mean than draws of `size` say."""
    if sampling.resample == BOOTSTRAP:
        return 1.0
    return float(np.sqrt(n * free) / (n - size)) if size < n else np.inf


def tells_rows_apart(draws: Draws) -> bool:
    """Return whether every row is drawn by some trees and not by others."""
    return all(np.isfinite(stratum.scale).all() for stratum in _strata(draws))


def _overlaps(
    kinds: NDArray[np.int64],
    draws: Draws,
    stratum: Stratum,
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], float]]:
    """Return pairs of trees with the same stream, and the covariance of their counts over rows.

    Each entry holds trees of one kind, those of another or the same kind with the same streams,
    and the sum over the rows of the covariance of their counts.  From one stream, the smaller
    draw is part of the larger: so that is s for a bootstrap, s(n - s')/n for subsamples of
    s ≤ s' rows.
    """
    same = np.unique(draws.streams, axis=0, return_inverse=True)[1].ravel()
    trees = [np.flatnonzero(kinds == g) for g in np.unique(kinds)]
    found = []
    for a in trees:
        for b in trees:
            _, at, of = np.intersect1d(same[a], same[b], return_indices=True)
            if len(at) == 0:
                continue
            n = stratum.n
            small, large = sorted((stratum.size[a[0]], stratum.size[b[0]]))
            replaced = draws.samplings[a[0]].resample == BOOTSTRAP
            shared = float(small) if replaced else small * (n - large) / n
            found.append((a[at], b[of], shared))
    return found


def enough_trees(variance: Variance, n_trees: int, n: int) -> int:
    """Return how many trees, in hundreds, would settle the variances that `n_trees` found.

    By chance Σ_i C_i² varies with a standard deviation of about √(2/n) of what chance adds to
    it; that falls with the number of trees, and should be well below the variance.
    """
    typical = float(np.median(variance.corrected))
    spread = float(np.median(variance.chance)) * (2 / n) ** 0.5
    # Θ(n) trees are needed (Wager, Hastie and Efron, section 3)
    wanted = n_trees * spread / (CHANCE * typical) if typical > 0 else n
    return int(-(-max(wanted, 2 * n_trees) // 100) * 100)
