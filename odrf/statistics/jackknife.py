"""The jackknife after bootstrap: the variance of a forest's mean over training samples.

The mean of the trees that did not sample a row is the forest without that row: one forest suffices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.factors import Matrix
from odrf.engine.resamples import BOOTSTRAP, Draws, Sampling, n_drawn, n_units_drawn, units_of
from odrf.engine.running import end_if_stopped, in_blocks, one_thread, row_blocks
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaves_of
from odrf.statistics.data_checks import distinct_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# The units of the jackknife are what trees draw: rows, or whole groups of rows.


class Stratum(NamedTuple):
    """Units drawn together: a stratum of the first ones, or a batch added later."""

    begin: int
    end: int
    n: int
    missed: Floats
    scale: Floats


class _Places(NamedTuple):
    """A `row` (u,) of each unit, where strata end among the first units, and batches after them."""

    row: Integers
    ends: list[int]
    later: list[int]


def out_of_bag_units(draws: Draws) -> Mask:
    """Return which units (B, u) each tree did not sample, in the order of `strata_of`."""
    return draws.all_unseen()[:, _places(draws).row]


def strata_of(draws: Draws, of_others: bool = False) -> list[Stratum]:
    """Return the strata: of the units that the trees were grown on, and each batch added later."""
    samplings, places = draws.samplings, _places(draws)
    drawn = n_drawn if draws.codes is None else n_units_drawn
    strata, begin, others = [], 0, of_others and len(places.ends) == 1
    for end in places.ends:
        sizes = [drawn(sampling, end - begin) for sampling in samplings]
        n = max(end - begin - others, 1)
        missed = [_out_of_bag_together(*pair, n) for pair in zip(samplings, sizes, strict=True)]
        strata.append(_stratum(begin, end, n, missed, (n - 1) / n))
        begin = end
    for k, end in enumerate(places.later):
        if end > begin:
            missed = [_out_of_bag_alone(sampling, k) for sampling in samplings]
            strata.append(_stratum(begin, end, end - begin, missed, 1.0))
        begin = end
    return strata


def degrees_of_freedom(draws: Draws) -> float:
    """Return the degrees of freedom of a variance over units: groups less strata, ∞ for rows."""
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
    if units.of_row is None:
        return _Places(used, ends, later)
    unit, row = np.unique(units.of_row, return_index=True)
    return _Places(row[np.searchsorted(unit, used)], ends, later)


def _stratum(begin: int, end: int, n: int, missed: list[float], factor: float) -> Stratum:
    probability = np.array(missed)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Stratum(begin, end, n, probability, np.sqrt(factor) / probability)


def _out_of_bag_together(sampling: Sampling, size: int, n: int) -> float:
    """Return the probability that a row is not among the `size` that a tree draws from n."""
    return (1 - 1 / n) ** size if sampling.resample == BOOTSTRAP else (n - size) / n


def _out_of_bag_alone(sampling: Sampling, k: int) -> float:
    """Return the probability that a tree does not draw a row of the k-th batch added later."""
    fraction = sampling.later[k].fraction
    return float(np.exp(-fraction)) if sampling.resample == BOOTSTRAP else 1 - fraction


def distinguishes_rows(draws: Draws, of_others: bool = False) -> bool:
    """Return whether every tree can miss each unit, with `of_others` and another one at once.

    In time, trees sample early rows more often than late ones, and no row alike.
    """
    if draws.codes is not None and draws.codes.order is not None:
        return False
    return all((stratum.missed > 0).all() for stratum in strata_of(draws, of_others))


def pairs_of_one_stream(
    kinds: Integers, draws: Draws, stratum: Stratum
) -> list[tuple[Integers, Integers, float]]:
    """Return trees of one kind, those of a kind with the same streams, and a covariance.

    It is that of whether they miss a row, summed over rows: the smaller draw is part of the larger
    one.
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


# The jackknife after bootstrap: the variance of a forest's mean over training samples.
Products = Callable[[Floats, Floats], Floats]

# Sizes of blocks of new rows and of training rows.
BLOCK, TRAINING_BLOCK = 1024, 4096

# Trees are enough if the Monte Carlo error of a variance is at most this share of it.
LARGEST_SHARE = 1 / 3
# More trees are advised than seem enough, because this is itself an estimate.
RESERVE = 1.25


class Variance(NamedTuple):
    """Variances (m,) of means for m rows: of samples, `raw` less its `bias`, and of trees."""

    raw: Floats
    bias: Floats
    of_trees: Floats
    n: int

    @property
    def corrected(self) -> Floats:
        """The estimate without the bias (m,); with few trees it can be 0 or negative."""
        return self.raw - self.bias

    @property
    def monte_carlo_error(self) -> Floats:
        """The Monte Carlo standard deviation (m,) of `corrected`.

        `raw` is a sum of n squares, each of an influence c_i and an error of variance bias/n: its
        variance is 2·bias²/n + 4·Σ c_i²·bias/n.
        """
        signal = np.maximum(self.corrected, 0.0)
        return np.sqrt((2 * self.bias**2 + 4 * signal * self.bias) / self.n)

    @property
    def total(self) -> Floats:
        """The variance (m,) over samples and streams, `not_negative`; NaN of a single tree."""
        return not_negative(self.corrected, self.monte_carlo_error) + self.of_trees

    @property
    def df(self) -> Floats:
        """The degrees of freedom (m,) of `total` as an estimate, at least 1; NaN where `raw` is 0.

        Those of a multiple of χ² (Satterthwaite 1946) with the variance 2·raw²/n: the bias is
        subtracted, its noise is not, so that few trees make them far fewer than n.
        """
        return df_of_variances(self.total, self.raw, self.n)


def df_of_variances(total: Floats, raw: Floats, n: int) -> Floats:
    """Return `Variance.df` (m,) of variances that were estimated from n rows."""
    known = raw > 0
    share = np.where(known, total / np.where(known, raw, 1.0), np.nan)
    return np.maximum(n * share**2, 1.0)


def not_negative(estimate: Floats, error: Floats) -> Floats:
    """Return the mean (m,) of a variance ≥ 0 given an unbiased, normal estimate with this `error`.

    That of the posterior under a flat prior, as in the R package grf: above the estimate, so too
    few trees make intervals too wide, never missing.
    """
    known = np.where(error > 0, error, 1.0)
    ratio = estimate / known
    # φ(r)/Φ(r), by logarithms because both vanish for very negative r
    hazard = np.exp(-(ratio**2) / 2 - scipy.special.log_ndtr(ratio)) / np.sqrt(2 * np.pi)
    mean = estimate + known * hazard
    return np.maximum(np.where(error > 0, mean, estimate), 0.0)


def jackknife_after_bootstrap(
    forest: Forest,
    new: Matrix,
    kinds: Integers,
    draws: Draws,
    predicting: Mask | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> Variance:
    """Estimate the variance, over training samples, of the mean (m,) predicted for `new` (p, m).

    Let D_i be the mean of the trees that did not sample row i, minus that of all. The variance is
    (n
    - 1)/n · Σ D_i² (Efron 1992, JRSS B 54, 83-127). D_i is the covariance, over the trees, of their
    predictions and of whether they missed row i, divided by the probability P of that. The number B
    of trees adds (n - 1)·(1 - P)/P · v/B on average, v being the variance of the trees.

    For subsamples this is the infinitesimal jackknife with the factor n(n - 1)/(n - s)² (Wager and
    Athey 2018, JASA 113, 1228-1242); for bootstraps see Wager, Hastie and Efron (2014, JMLR 15,
    1625-1651) and ``benchmarks/inference/intervals.py``. Where trees draw groups, or from strata, i
    numbers groups, or the sum is over strata (Rao and Wu 1985, JASA 80, 620-630); for rows added by
    an update the factor (n - 1)/n is 1. Influences of several kinds are added before they are
    squared; errors of trees of one stream are correlated. `predicting` (B, m) are the trees of each
    row.
    """
    rows = rows_of_trees(kinds, draws, predicting is not None)
    raw, bias, of_trees = np.zeros((3, new.shape[1]))

    def products(first: Floats, second: Floats) -> Floats:
        return np.asarray(np.sum(first * second, axis=0))

    def run(block: slice) -> None:
        value = forest.value[leaves_of(forest.packed_for(new), new, block), 0]
        used = np.ones_like(value) if predicting is None else predicting[:, block]
        sums = jackknife_sums(deviations(value, kinds, used), rows, products)
        raw[block], bias[block] = sums.raw, sums.bias
        of_trees[block] = np.where(used.sum(axis=0) > 1, sums.of_trees, np.nan)

    for _ in in_blocks(run, row_blocks(new.shape[1], BLOCK), draws.n_jobs, advance):
        pass
    return Variance(raw, bias, of_trees, rows.n)


class RowsOfTrees(NamedTuple):
    """The units `out_of_bag` (B, u) of trees of `kinds` (B,), the same for all predicted rows."""

    kinds: Integers
    out_of_bag: Mask
    strata: list[Stratum]
    pairs: list[list[tuple[Integers, Integers, float]]]

    @property
    def n(self) -> int:
        """The number of training rows, or groups of them, that trees draw."""
        return self.out_of_bag.shape[1]


def rows_of_trees(kinds: Integers, draws: Draws, of_others: bool = False) -> RowsOfTrees:
    """Return the rows that trees of `kinds` (B,) drew; `of_others`: training rows are predicted."""
    strata = strata_of(draws, of_others)
    pairs = [pairs_of_one_stream(kinds, draws, stratum) for stratum in strata]
    return RowsOfTrees(kinds, out_of_bag_units(draws), strata, pairs)


class Sums(NamedTuple):
    """Sums of products of M numbers, of the shape that these products have."""

    raw: Floats
    bias: Floats
    of_trees: Floats


@one_thread()
def jackknife_sums(deviation: Floats, rows: RowsOfTrees, products: Products) -> Sums:
    """Return the sums of the jackknife over training rows and trees, of `deviations` (B, M)."""
    of_trees = products(deviation, deviation)
    raw, bias = np.zeros_like(of_trees), np.zeros_like(of_trees)
    for stratum, pairs in zip(rows.strata, rows.pairs, strict=True):
        scaled = deviation * stratum.scale[:, None]
        for block in row_blocks(stratum.end - stratum.begin, TRAINING_BLOCK):
            end_if_stopped()
            # deviations of a kind add up to 0: the indicators need not be centred
            here = slice(stratum.begin + block.start, stratum.begin + block.stop)
            influence = (scaled.T @ rows.out_of_bag[:, here].astype(np.float64)).T
            raw += products(influence, influence)
        for first, second, covariance in pairs:
            bias += covariance * products(scaled[first], scaled[second])
    return Sums(raw, bias, of_trees)


def deviations(value: Floats, kinds: Integers, used: NDArray) -> Floats:
    """Return values (B, m) less the mean of the trees `used` of the kind, per tree used: (B, m)."""
    deviation = value * used
    for g in np.unique(kinds):
        of_kind = kinds == g
        number = np.maximum(used[of_kind].sum(axis=0), 1)
        deviation[of_kind] -= used[of_kind] * (deviation[of_kind].sum(axis=0) / number)
    return deviation / np.maximum(used.sum(axis=0), 1)


def predicted_by_one(used: Mask | None, kinds: Integers, m: int) -> Mask:
    """Return which of m rows no two trees of one kind, of those `used` (B, m), predict."""
    if used is None:
        return np.zeros(m, dtype=np.bool_)
    return np.asarray(np.max([used[kinds == g].sum(axis=0) for g in np.unique(kinds)], axis=0) < 2)


def enough_trees(variance: Variance, n_trees: int) -> int:
    """Return how many trees would estimate the variances well enough; 0 if `n_trees` are enough.

    The Monte Carlo error over all rows should be a third at most; k times the trees have 1/k of the
    bias.
    """
    corrected, error = variance.corrected, variance.monte_carlo_error
    # errors of many rows average out
    error_of_mean = np.sqrt(np.sum(error**2, keepdims=True)) / len(error)
    mean = float(not_negative(np.mean(corrected, keepdims=True), error_of_mean)[0])
    bias = float(np.mean(variance.bias))
    if not mean > 0:
        return 0
    wanted = n_trees * (bias / mean) / (np.sqrt(1 + variance.n * LARGEST_SHARE**2 / 2) - 1)
    return 0 if wanted <= n_trees else int(-(-RESERVE * wanted // 100) * 100)


# Weighted means of rows, of which there may be none.
def weighted_mean(values: NDArray, weights: Floats) -> float:
    """Return the weighted mean of `values` (m,); NaN if no row has a positive weight."""
    if not weights.any():
        return float("nan")
    return float(np.average(values, weights=weights))
