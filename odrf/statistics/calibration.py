"""Whether events happen as often as predicted, and maps to calibrated probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.engine.running import end_if_stopped, one_thread
from odrf.statistics.effects import reach_in_errors

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Groups = Integers | None
Loss = Callable[[Floats], tuple[float, Floats]]


@one_thread()
def variance_of_groups(parts: Floats, groups: Integers) -> float:
    """Return the variance of the sum of `parts` (n,), of mean 0, of G independent groups."""
    sums = np.bincount(np.unique(groups, return_inverse=True)[1], parts)
    G = len(sums)
    return float(sums @ sums) * G / (G - 1) if G > 1 else float("nan")


def normal_or_t(level: float, groups: Groups) -> float:
    """Return how many standard errors an interval extends: normal, or Student's t with G - 1."""
    if groups is None:
        return reach_in_errors(level)
    G = len(np.unique(groups))
    return reach_in_errors(level, G - 1) if G > 1 else float("nan")


@one_thread()
def effective_rows(event: Floats, weights: Floats, groups: Groups, level: float) -> float:
    """Return how many independent rows of equal weight determine the event rate as precisely.

    Kish's number; with G groups rate·(1 - rate) / variance over groups, corrected by quantiles of
    Student's t (Korn and Graubard 1998, Survey Methodology 24, 193-201), Kish's number at most.
    Where all rows agree, the groups count.
    """
    share = weights / weights.sum()
    kish = float(1 / (share @ share))
    if groups is None:
        return kish
    G, rate = len(np.unique(groups)), float(share @ event)
    if G < 2:
        return 1.0
    if (event == event[0]).all():
        return min(float(G), kish)
    variance = variance_of_groups(share * (event - rate), groups)
    if variance == 0:
        return kish
    tails = scipy.special.stdtrit([max(len(event) - 1, 1), G - 1], (1 + level) / 2)
    size = rate * (1 - rate) / variance * float(tails[0] / tails[1]) ** 2
    return min(max(size, 1.0), kish)


# Whether events happen as often as predicted: reliability, and the parts of the Brier score.
class BrierParts(NamedTuple):
    """The Brier score and its parts: score = miscalibration - discrimination + uncertainty."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def recalibrated(p: Floats, event: Floats, weights: Floats) -> Floats:
    """Return the isotonic regression (n,) of the events on the probabilities p (n,)."""
    level, at = np.unique(p, return_inverse=True)
    total = np.bincount(at, weights, len(level))
    mean = np.bincount(at, weights * event, len(level)) / total
    return np.asarray(scipy.optimize.isotonic_regression(mean, weights=total).x[at])


def effective_number(weights: Floats) -> float:
    """Return Kish's effective number of rows of equal weight."""
    share = weights / weights.max()
    return float(share.sum() ** 2 / (share**2).sum())


def brier_parts(p: Floats, event: Floats, weights: Floats) -> BrierParts:
    """Return the parts of the Brier score of p (n,); `event` (n,) is 1 or 0.

    Dimitriadis, Gneiting and Jordan (2021, PNAS 118, e2016191118).
    """

    def score(q: Floats | float) -> float:
        return float(np.average((q - event) ** 2, weights=weights))

    own, best = score(p), score(recalibrated(p, event, weights))
    base = score(float(np.average(event, weights=weights)))
    return BrierParts(own, own - best, base - best, base)


def reliability_table(
    p: Floats,
    event: Floats,
    weights: Floats,
    bins: int,
    level: float,
    groups: Integers | None = None,
) -> pd.DataFrame:
    """Return mean probability and event rate in bins of about equally many rows.

    Columns: ``predicted``, ``observed``, ``conf_low``, ``conf_high`` (Clopper and Pearson, with
    `effective_rows`), ``rows``. Equal probabilities are in one bin.
    """
    edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1]))
    bin_of_row = np.searchsorted(edges, p, side="left")
    rows = []
    for b in np.unique(bin_of_row):
        inside = bin_of_row == b
        w, of_bin = weights[inside], None if groups is None else groups[inside]
        rate, ends = rate_with_interval(event[inside], w, of_bin, level)
        rows.append((float(np.average(p[inside], weights=w)), rate, *ends, int(inside.sum())))
    return pd.DataFrame(rows, columns=["predicted", "observed", "conf_low", "conf_high", "rows"])


def rate_with_interval(
    event: Floats, weights: Floats, groups: Groups, level: float
) -> tuple[float, tuple[float, float]]:
    """Return the rate of events (n,), and its interval by Clopper and Pearson."""
    from statsmodels.stats.proportion import proportion_confint  # noqa: PLC0415 - slow to load

    rate, size = (
        float(np.average(event, weights=weights)),
        effective_rows(event, weights, groups, level),
    )
    return rate, proportion_confint(rate * size, size, 1 - level, "beta")


def calibrated_band(
    p: Floats, weights: Floats, at: Floats, level: float, seed: int, samples: int = 200
) -> Floats:
    """Return pointwise limits (2, m), `at` m points, of the curve recalibrated for right p (n,)."""
    rng = np.random.default_rng(seed)
    order = np.argsort(p, kind="stable")
    p, weights = p[order], weights[order]
    curves = np.empty((samples, len(at)))
    for s in range(samples):
        end_if_stopped()
        event = (rng.random(len(p)) < p).astype(np.float64)
        curves[s] = np.interp(at, p, recalibrated(p, event, weights))
    return np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)


# The logarithmic opinion pool: class probabilities of several models as one.
# The pooled probability of class k is proportional to the product over the models g of p_gk to the
# power a_g.  With one model this is its probabilities to a power, which keeps the order of the
# classes; the exponents of several weigh them, and their sum shows how much sharper the pool is
# than their geometric mean.  The log loss is convex in the exponents: they are the coefficients of
# a conditional logit model with the logarithms of the probabilities as predictors.


# Smaller probabilities count as this: 0 has no logarithm, and a thousand trees cannot distinguish
# smaller ones from 0.
LEAST_IN_POOL = 1e-3
# So many rows, in which all classes are equally probable, are added to the rows: otherwise few rows
# that are all predicted correctly would have infinite exponents.
ROWS_ADDED = 1.0


def logarithms(p: Floats) -> Floats:
    """Return the logarithms of probabilities, those of very small ones cut off."""
    return np.log(np.clip(p, LEAST_IN_POOL, 1.0))


def pooled(logs: Floats, exponents: Floats) -> Floats:
    """Return the pool (n, K) of `logarithms` (G, n, K), with exponents (G,) or (G, n, 1)."""
    score = np.zeros(logs.shape[1:])
    # one by one: BLAS would round a row alone in another way than the row among others
    for exponent, log in zip(exponents, logs, strict=True):
        score += exponent * log
    odds = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@one_thread()
def pool_exponents(logs: Floats, code: Integers, weights: Floats) -> Floats:
    """Return the exponents (G,) ≥ 0 of the pool of `logarithms` (G, n, K) with the least log loss.

    The probabilities are of rows that the models have not learned from, with classes `code` (n,)
    (Genest and Zidek 1986, Statistical Science 1, 114-148; for G = 1 Guo and others 2017, ICML).
    """
    G, _, K = logs.shape
    share = weights / weights.sum()
    # the share of the added rows in all; the row with the largest weight counts as one row
    added = ROWS_ADDED / (ROWS_ADDED + weights.sum() / weights.max())
    target = (1 - added) * np.eye(K)[code] + added / K

    def loss(exponents: Floats) -> tuple[float, Floats]:
        score = np.einsum("g,gik->ik", exponents, logs)
        norm = scipy.special.logsumexp(score, axis=1)
        off = share[:, None] * (np.exp(score - norm[:, None]) - target)
        value = share @ (norm - np.einsum("ik,ik->i", target, score))
        return float(value), np.einsum("ik,gik->g", off, logs)

    return _minimum(loss, np.full(G, 1 / G), [(0.0, None)] * G)


def _minimum(loss: Loss, start: Floats, bounds: list[tuple[float | None, None]]) -> Floats:
    precise = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000}
    return np.asarray(
        scipy.optimize.minimize(
            loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=precise
        ).x
    )


# Maps from predicted to calibrated probabilities: a power, isotonic, Platt's, and beta.
POWER, ISOTONIC, PLATT, BETA = "power", "isotonic", "platt", "beta"
METHODS = (POWER, ISOTONIC, PLATT, BETA)
# Probabilities of 0 and 1 have no finite log odds.
LEAST = 1e-4


@dataclass(frozen=True, eq=False)
class Steps:
    """An increasing function through points `at`, `value` (m,); straight between them."""

    at: Floats
    value: Floats

    def __call__(self, p: Floats) -> Floats:
        """Return the calibrated probabilities of p (n,)."""
        return np.interp(p, self.at, self.value)


@dataclass(frozen=True)
class LogOdds:
    """log odds = c + a·log p - b·log(1 - p); of Platt's method a = b."""

    a: float
    b: float
    c: float

    def __call__(self, p: Floats) -> Floats:
        """Return the calibrated probabilities of p (n,)."""
        yes, no = _logarithms(p)
        return np.asarray(scipy.special.expit(self.c + self.a * yes - self.b * no))


@dataclass(frozen=True)
class Power:
    """Probabilities of all classes to the power `exponent`, scaled to add up to 1."""

    exponent: float

    def __call__(self, p: Floats) -> Floats:
        """Return the calibrated probabilities of p (n, K)."""
        return pooled(logarithms(p)[None], np.array([self.exponent]))

    def of_one(self, p: Floats) -> Floats:
        """Return those (n,) of a class with probabilities p (n,), where there is one other."""
        return self(np.stack([1 - p, p], axis=1))[:, 1]


def power_map(p: Floats, code: Integers, weights: Floats) -> Power:
    """Learn a power from probabilities p (n, K) and the classes that were seen (n,)."""
    return Power(float(pool_exponents(logarithms(p)[None], code, weights)[0]))


@one_thread()
def recalibration_map(method: str, p: Floats, event: Floats, weights: Floats) -> Steps | LogOdds:
    """Return a map learned from probabilities p (n,) of an event, and whether it happened (n,).

    "isotonic"; "platt", a logistic regression on the log odds (Platt 1999); "beta", one on log p
    and log(1 - p), with coefficients that are not negative (Kull, Silva Filho and Flach 2017).
    """
    if method == ISOTONIC:
        at, first = np.unique(p, return_index=True)
        return Steps(at, recalibrated(p, event, weights)[first])
    yes, no = _logarithms(p)
    share = weights / weights.sum()
    one = np.ones(len(p))
    columns = np.stack([yes - no, one] if method == PLATT else [yes, -no, one])
    target = _moderate(event, weights)

    def loss(theta: Floats) -> tuple[float, Floats]:
        score = theta @ columns
        off = share * (scipy.special.expit(score) - target)
        return float(share @ (np.logaddexp(0.0, score) - target * score)), columns @ off

    start = np.r_[np.ones(len(columns) - 1), 0.0]
    bounds = [*[(0.0, None)] * (len(columns) - 1), (None, None)]
    theta = _minimum(loss, start, bounds)
    return LogOdds(float(theta[0]), float(theta[-2]), float(theta[-1]))


def _moderate(event: Floats, weights: Floats) -> Floats:
    """Return Platt's targets (n,), a little inside 0 and 1: no few rows make a probability sure."""
    size = effective_number(weights)
    yes = size * float(np.average(event, weights=weights))
    return np.where(event > 0, (yes + 1) / (yes + 2), 1 / (size - yes + 2))


def _logarithms(p: Floats) -> tuple[Floats, Floats]:
    inside = np.clip(p, LEAST, 1 - LEAST)
    return np.log(inside), np.log1p(-inside)


# Rows whose predicted probabilities are compared with their classes.
class ClassEvents(NamedTuple):
    """One class as an event: its label, probabilities (n,) and whether it happened (n,)."""

    label: object
    p: Floats
    event: Floats


class EvaluatedRows(NamedTuple):
    """Rows with predicted probabilities (n, K), classes `code` (n,), and `groups` (n,) or None."""

    probabilities: Floats
    code: Integers
    weights: Floats
    classes: pd.Index
    source: str
    groups: Integers | None = None

    def facts(self) -> dict[str, str]:
        """Return how many rows, and groups of rows, there are, for summaries."""
        rows = {"Rows": f"{len(self.code)} {self.source}"}
        if self.groups is None:
            return rows
        return rows | {"Independent": f"{len(np.unique(self.groups))} groups of rows"}

    def events(self) -> list[ClassEvents]:
        """Return the second of two classes, or each of several, as an event that can happen."""
        codes = range(1, 2) if len(self.classes) == 2 else range(len(self.classes))
        events = [
            ClassEvents(self.classes[k], self.probabilities[:, k], (self.code == k).astype(float))
            for k in codes
        ]
        return [each for each in events if 0 < each.event.sum() < len(each.event)]


# Class probabilities under other priors, and priors estimated from unlabelled rows.
# Suppose that the classes have other shares (priors) in a population than in training, but the same
# distribution of predictors within each class.  Then, by Bayes' rule, the probabilities p become
# p'_k ∝ p_k·π'_k/π_k, with π the priors in training and π' the new ones (Saerens, Latinne and
# Decaestecker 2002, equation (2.4)).  Unknown π' are estimated by maximum likelihood from the
# unlabelled rows, with the EM algorithm: π'_k becomes the mean of p'_k, until it no longer changes
# (equation (2.9)).


class Estimate(NamedTuple):
    """Priors of the classes (K,), the number of EM steps, and whether they converged."""

    priors: Floats
    steps: int
    settled: bool


def shifted(probabilities: Floats, trained: Floats, priors: Floats) -> Floats:
    """Return class probabilities (m, K) under `priors` (K,) in place of those `trained` (K,)."""
    ratio = np.divide(priors, trained, out=np.zeros_like(priors), where=trained > 0)
    weighted = probabilities * ratio
    return weighted / weighted.sum(axis=1, keepdims=True)


def estimated_priors(
    probabilities: Floats, trained: Floats, max_steps: int, tolerance: float
) -> Estimate:
    """Estimate the priors by EM from `probabilities` (m, K), from those `trained` (K,) on."""
    priors = trained
    for step in range(1, max_steps + 1):
        updated = shifted(probabilities, trained, priors).mean(axis=0)
        change = float(np.abs(updated - priors).max())
        priors = updated
        if change <= tolerance:
            return Estimate(priors, step, True)
    return Estimate(priors, max_steps, False)
