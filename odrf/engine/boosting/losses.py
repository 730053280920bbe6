"""The losses of boosting: starting scores, derivatives, leaf values, predictions.

Losses are known by the names that users type, as in ``loss="squared_error"``: see `LOSSES`.

The scores f (K, n) are sums over trees, with one row of the array for each of the K outputs.  K is
the number of classes for the multinomial loss, the number of classes less one for the ordinal loss,
and 1 for the others.  Everything is weighted by case weights: a weight of 2 is the same as having
the row twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.survival.event_ranks import EventRanks, event_ranks
from odrf.engine.survival.likelihoods import (
    NO_TIMES,
    ErrorLaw,
    ExtremeValueError,
    LogisticError,
    LogTimes,
    NormalError,
    PartialLikelihood,
    best_line,
    best_scale,
    log_times,
    partial_likelihood,
)


class LeafRows(NamedTuple):
    """The rows that trees were grown on, with what leaf values are computed from.

    With several trees, each row is there once for each of them, and leaves are numbered over all.
    `leaf` (n,): number of each row's leaf, from 0 to `n_leaves` - 1.  `n_leaves`: how many numbers
    there are; some may have no row.  `residuals` (n,): response minus score.  `first`, `second`
    (n,): first and second derivative of the loss with respect to the score.  `weights` (n,): case
    weights, above 0.
    """

    leaf: NDArray[np.int64]
    n_leaves: int
    residuals: Array
    first: Array
    second: Array
    weights: Array

    def sums(self, values: Array) -> Array:
        """Return each leaf's weighted sum of `values` (n,)."""
        return np.asarray(np.bincount(self.leaf, self.weights * values, self.n_leaves), np.float64)


def newton_values(rows: LeafRows, l2: float) -> Array:
    """Return -G/(H + l2) of each leaf, G and H its sums of derivatives; 0 without rows."""
    gradient, curvature = np.empty(rows.n_leaves), np.empty(rows.n_leaves)
    _newton_steps(rows.leaf, rows.first, rows.second, rows.weights, l2, gradient, curvature)
    return gradient


@kernel
def _newton_steps(leaf, first, second, weights, l2, steps, curvature):
    """Write the Newton step of each leaf to `steps`; curvature (n_leaves,) is scratch."""
    steps[:], curvature[:] = 0.0, 0.0
    for i in range(np.uint64(len(leaf))):
        at, weight = np.uint64(leaf[i]), weights[i]
        steps[at] += weight * first[i]
        curvature[at] += weight * second[i]
    for k in range(len(steps)):
        total = curvature[k] + l2
        steps[k] = -steps[k] / total if total > 0.0 else 0.0


def median_values(rows: LeafRows) -> Array:
    """Return the weighted median (or mean of two) of each leaf's residuals; 0 without rows."""
    order = np.lexsort((rows.residuals, rows.leaf))
    leaf, values = rows.leaf[order], rows.residuals[order]
    passed = np.cumsum(rows.weights[order])
    present, first = np.unique(leaf, return_index=True)
    last = np.append(first[1:], len(leaf)) - 1
    before = np.where(first > 0, passed[first - 1], 0.0)
    half = 0.5 * (before + passed[last])
    # tolerance for the rounding of cumulative weights
    slack = 1e-12 * passed[-1]
    # within the leaf, even if all of its weights are less than that
    low = np.clip(np.searchsorted(passed, half - slack), first, last)
    high = np.minimum(np.searchsorted(passed, half + slack, side="right"), last)
    medians = np.zeros(rows.n_leaves)
    medians[present] = 0.5 * (values[low] + values[high])
    return medians


def huber_values(rows: LeafRows, delta: float) -> Array:
    """Return each leaf's median residual plus the mean of what is beyond it, clipped to ±δ."""
    median = median_values(rows)
    clipped = np.clip(rows.residuals - median[rows.leaf], -delta, delta)
    weight = rows.sums(np.ones_like(clipped))
    step = np.divide(rows.sums(clipped), weight, out=np.zeros(rows.n_leaves), where=weight > 0)
    return median + step


def weighted_quantile(values: Array, weights: Array, share: float) -> float:
    """Return the quantile of `values` (n,) where the weight exceeds `share`, or mean of two."""
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    wanted, slack = share * passed[-1], 1e-12 * passed[-1]
    last = len(values) - 1
    low = min(int(np.searchsorted(passed, wanted - slack)), last)
    high = min(int(np.searchsorted(passed, wanted + slack, side="right")), last)
    return float(0.5 * (values[order[low]] + values[order[high]]))


# The losses that boosting minimises: starting scores, derivatives, and predictions from scores.

Array = NDArray[np.float64]
# Least second derivative of a row: a row with 0 would have no weight in its leaf.
LEAST_CURVATURE = 1e-6
# Class shares at the start are at least this far from 0 and 1, so that their logits are finite.
LEAST_SHARE = 1e-6
# The exponentials of larger offsets, or of their negatives, may be infinite.
LARGEST_EXPONENT = 500.0
# Most steps to the start with offsets; an interval of 1e60 is halved some 250 times.
MOST_STEPS = 1000


class Derivatives(NamedTuple):
    """First and second derivatives (K, n) of each row's loss with respect to its scores; else 1."""

    first: Array
    second: Array


@dataclass(frozen=True)
class Loss(ABC):
    """A loss function of the response and the scores.

    `name`: the name that users type: ``loss=name``.  `kind`: the kind of response that it is for:
    ``"regression"``, ``"classification"`` or ``"survival"``.  `least_squares`: whether it is the
    squared error, so that all leaves can be refitted by least squares.  `penalised`: whether its
    leaf values have the penalty λ on their squares.  `of_counts`: whether responses are at least 0,
    and some above.  `binary`, `ordered`: whether it is for two classes only, or for ordered ones,
    whose median is predicted.
    """

    name: ClassVar[str]
    kind: ClassVar[str] = "regression"
    least_squares: ClassVar[bool] = False
    penalised: ClassVar[bool] = True
    of_counts: ClassVar[bool] = False
    binary: ClassVar[bool] = False
    ordered: ClassVar[bool] = False

    def outputs(self, n_classes: int) -> int:
        """Return the number of outputs K: scores of a row, and trees of a round of one run."""
        return 1

    @abstractmethod
    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the constants (K,) that, added to the offsets (n,), minimise the loss."""

    @abstractmethod
    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return derivatives of each row's loss; `weights` only enter parameters such as δ."""

    @abstractmethod
    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return the loss of each row (n,)."""

    def means(self, scores: Array) -> Array:
        """Return the predictions for these scores: means (n, 1), or probabilities (n, classes)."""
        return scores.T

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return the value of each leaf before the learning rate: a Newton step."""
        return newton_values(rows, l2)


@dataclass(frozen=True)
class SquaredError(Loss):
    """Half the squared error: trees are grown on residuals, leaf values are their means."""

    name: ClassVar[str] = "squared_error"
    least_squares: ClassVar[bool] = True

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the mean."""
        return np.array([np.average(y - offset, weights=weights)])

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return score minus response, and 1."""
        return Derivatives(scores - y, np.ones_like(scores))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return half the squared residuals."""
        return 0.5 * (y - scores[0]) ** 2


@dataclass(frozen=True)
class Absolute(Loss):
    """The absolute error: trees are grown on signs, leaf values are medians of the residuals."""

    name: ClassVar[str] = "absolute"
    penalised: ClassVar[bool] = False

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the median."""
        return np.array([weighted_quantile(y - offset, weights, 0.5)])

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return the sign of score minus response, and 1."""
        return Derivatives(np.sign(scores - y), np.ones_like(scores))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return the absolute residuals."""
        return np.abs(y - scores[0])

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return the median residuals; the penalty `l2` is not used."""
        return median_values(rows)


@dataclass(frozen=True)
class Huber(Loss):
    """Huber's loss: half the squared residual up to δ, linear beyond.

    As in Friedman (2001), δ is a quantile of the absolute residuals, computed in each round, and
    the value of a leaf is one step from the median of its residuals.  `losses` needs one δ for all
    rounds: the quantile of the absolute deviations of the response from its median.  Where it is 0,
    as of counts that are nearly all 0, it is the quantile of those that are not 0: with a δ of 0
    nothing would be learned.

    `quantile`: the level of the quantile.
    """

    name: ClassVar[str] = "huber"
    penalised: ClassVar[bool] = False
    quantile: float = 0.9

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the median."""
        return np.array([weighted_quantile(y - offset, weights, 0.5)])

    def delta(self, residuals: Array, weights: Array) -> float:
        """Return δ."""
        size = np.abs(residuals)
        delta = weighted_quantile(size, weights, self.quantile)
        if delta > 0.0 or not size.any():
            return delta
        return weighted_quantile(size[size > 0], weights[size > 0], self.quantile)

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return score minus response, clipped to ±δ, and 1."""
        delta = self.delta(y - scores[0], weights)
        return Derivatives(np.clip(scores - y, -delta, delta), np.ones_like(scores))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return Huber's loss, with the δ of the deviations of y from its median."""
        delta = self.delta(y - weighted_quantile(y, weights, 0.5), weights)
        size = np.abs(y - scores[0])
        return np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return Friedman's step; the penalty `l2` is not used."""
        return huber_values(rows, self.delta(rows.residuals, rows.weights))


@dataclass(frozen=True)
class Poisson(Loss):
    """Half the Poisson deviance, for responses of at least 0; scores are logarithms of the mean."""

    name: ClassVar[str] = "poisson"
    of_counts: ClassVar[bool] = True

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the logarithm of the mean; of a small positive number if all responses are 0."""
        largest = offset.max()
        shift = largest if abs(largest) > LARGEST_EXPONENT else 0.0
        exposure = np.average(np.exp(offset - shift), weights=weights)
        mean = np.average(y, weights=weights) / exposure
        return np.array([np.log(max(mean, LEAST_SHARE)) - shift])

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return mean minus response, and the mean."""
        mean = np.exp(scores)
        return Derivatives(mean - y, np.maximum(mean, LEAST_CURVATURE))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return half the deviance."""
        return scipy.special.xlogy(y, y) - y * scores[0] - y + np.exp(scores[0])

    def means(self, scores: Array) -> Array:
        """Return the means."""
        return np.exp(scores.T)

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return Newton steps, with steps upwards shortened to the optimum.

        With l2 = 0 the Newton step is x = Σy/Σμ - 1 and the optimum is log(1 + x).  Where the
        response is much larger than its fitted mean, the Newton step is far too long.
        """
        step = newton_values(rows, l2)
        return np.where(step > 0, np.log1p(np.maximum(step, 0.0)), step)


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """The negative log-likelihood of two classes; the score is the log odds of the second."""

    name: ClassVar[str] = "logistic"
    kind: ClassVar[str] = "classification"
    binary: ClassVar[bool] = True

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return log odds of class 2; with offsets, what makes the mean probability its share."""
        share = np.clip(np.average(y, weights=weights), LEAST_SHARE, 1 - LEAST_SHARE)
        odds = np.log(share / (1 - share))
        low, high = offset.min(), offset.max()
        if low == high:
            return np.array([odds - low])

        def excess(start: float) -> float:
            return float(np.average(scipy.special.expit(start + offset), weights=weights) - share)

        beyond = 1.0 + 1e-12 * max(-low, high)  # more than rounding, so that the signs differ
        bracket = odds - high - beyond, odds - low + beyond
        return np.array([scipy.optimize.brentq(excess, *bracket, maxiter=MOST_STEPS)])

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return p - y and p (1 - p)."""
        p = scipy.special.expit(scores)
        return Derivatives(p - y, np.maximum(p * (1 - p), LEAST_CURVATURE))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return -log p of the observed class."""
        return -scipy.special.log_expit((2 * y - 1) * scores[0])

    def means(self, scores: Array) -> Array:
        """Return the probabilities of both classes."""
        return np.column_stack([scipy.special.expit(-scores[0]), scipy.special.expit(scores[0])])


@dataclass(frozen=True)
class Multinomial(Loss):
    """The negative log-likelihood of K classes, with K scores, and K trees in each round of a run.

    Scores are determined only up to a common constant.  The factor K/(K - 1) of the second
    derivative is that of Friedman (2001), for scores that add up to 0.
    """

    name: ClassVar[str] = "multinomial"
    kind: ClassVar[str] = "classification"

    def outputs(self, n_classes: int) -> int:
        """Return the number of classes."""
        return n_classes

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the logarithms of the class shares."""
        totals = np.bincount(y.astype(np.int64), weights=weights, minlength=n_outputs)
        return np.log(np.maximum(totals / totals.sum(), LEAST_SHARE))

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return p - 1(observed class) and p (1 - p) K/(K - 1)."""
        K = len(scores)
        p = scipy.special.softmax(scores, axis=0)
        curvature = p * (1 - p) * (K / (K - 1))
        p[y.astype(np.int64), np.arange(len(y))] -= 1
        return Derivatives(p, np.maximum(curvature, LEAST_CURVATURE))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return -log p of the observed class."""
        return -scipy.special.log_softmax(scores, axis=0)[y.astype(np.int64), np.arange(len(y))]

    def means(self, scores: Array) -> Array:
        """Return the probabilities of the classes."""
        return scipy.special.softmax(scores, axis=0).T


@dataclass(frozen=True)
class Ordinal(Loss):
    """For ordered classes, the sum of the negative log-likelihoods of being above each class.

    The last class is left out, so there is one output less than there are classes.  Each output has
    a score, the log odds of being above class k, and a tree in each round of a run.  These are the
    two-class problems of Frank and Hall (ECML 2001).  Predicted probabilities of being above k are
    made non-increasing in k.
    """

    name: ClassVar[str] = "ordinal"
    kind: ClassVar[str] = "classification"
    ordered: ClassVar[bool] = True

    def outputs(self, n_classes: int) -> int:
        """Return the number of classes less one."""
        return n_classes - 1

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the log odds of being above each class."""
        shares = [np.average(above, weights=weights) for above in self._above(y, n_outputs)]
        odds = np.clip(shares, LEAST_SHARE, 1 - LEAST_SHARE)
        return np.asarray(np.log(odds / (1 - odds)))

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return p - 1(above k) and p (1 - p) for each k, with p the probability of being above."""
        p = scipy.special.expit(scores)
        return Derivatives(
            p - self._above(y, len(scores)), np.maximum(p * (1 - p), LEAST_CURVATURE)
        )

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return the sum over k of -log of the probability of the observed side of k."""
        sides = 2.0 * self._above(y, len(scores)) - 1.0
        return -scipy.special.log_expit(sides * scores).sum(axis=0)

    def means(self, scores: Array) -> Array:
        """Return the probabilities of the classes."""
        above = np.minimum.accumulate(scipy.special.expit(scores), axis=0)
        return -np.diff(above, axis=0, prepend=1.0, append=0.0).T

    def _above(self, y: Array, n_outputs: int) -> NDArray[np.bool_]:
        """Return the mask (n_outputs, n) of the rows whose class is above k."""
        return y > np.arange(n_outputs)[:, None]


# Losses of times to an event.
# A row's loss needs more than one number, and Cox's those of other rows.  So these losses hold the
# times of all training rows, and their responses `y` are numbers of rows: any part of the rows,
# such as those of a fold, is known by its numbers.

NO_RANKS = event_ranks(np.empty(0), np.empty(0, dtype=np.int64), None, np.empty(0))


@dataclass(frozen=True, eq=False)
class SurvivalLoss(Loss):
    """A loss of times to an event; responses are numbers of rows.  `of_logarithms`: times > 0."""

    kind: ClassVar[str] = "survival"
    of_logarithms: ClassVar[bool] = False

    @abstractmethod
    def knowing(self, time: Array, event: NDArray[np.bool_], start: Array | None) -> SurvivalLoss:
        """Return the loss that knows these rows.

        `time`, `event` (n,): end of the observation, and whether the event happened then.  `start`
        (n,): the row is observed after this time; None: from the beginning.
        """


@dataclass(frozen=True, eq=False)
class Cox(SurvivalLoss):
    """The negative log partial likelihood of Cox (1972), with the ties of Efron (1977).

    The score is the logarithm of the hazard relative to a baseline.  A constant changes nothing, so
    boosting starts from 0.  An event of weight 2 is one event, and no tie of two: in this a weight
    differs from the row twice.  `ranks`: the times of all training rows.
    """

    name: ClassVar[str] = "cox"
    ranks: EventRanks = NO_RANKS

    def knowing(self, time: Array, event: NDArray[np.bool_], start: Array | None) -> Cox:
        """Return the loss that knows the ranks of these rows."""
        return replace(self, ranks=event_ranks(time, event, start, np.unique(time[event])))

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return 0."""
        return np.zeros(1)

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return exposed hazard less event, and its curvature, among rows of positive weight."""
        terms = self._terms(y, scores, weights)
        return Derivatives(terms.first[None, :], np.maximum(terms.second, LEAST_CURVATURE)[None, :])

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return what each row's event adds, among the rows of positive weight; 0 if censored."""
        return self._terms(y, scores, weights).losses

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return Newton steps x ≈ O/E - 1 of O events, E expected; upwards log(1 + x) is best."""
        step = newton_values(rows, l2)
        return np.where(step > 0, np.log1p(np.maximum(step, 0.0)), step)

    def _terms(self, y: Array, scores: Array, weights: Array) -> PartialLikelihood:
        rows, (code, entry, *_) = y.astype(np.int64), self.ranks
        entry = entry[rows] if len(entry) else entry
        ranks = self.ranks._replace(code=code[rows], entry=entry)
        return partial_likelihood(ranks, weights, scores[0])


# Losses of accelerated failure times: log T = f + σ ε, with ε of a known law and σ estimated.


@dataclass(frozen=True, eq=False)
class FailureTimeLoss(SurvivalLoss):
    """The negative log-likelihood of log T = f + σ ε, of times that may be censored or truncated.

    The score is f.  σ is estimated anew from the scores whenever it is needed, by maximum
    likelihood: in each round, as by Schmid and Hothorn (2008), and for the loss of any rows.
    `law`: the law of ε.  `times`: those of all training rows.
    """

    law: ClassVar[ErrorLaw]
    of_logarithms: ClassVar[bool] = True
    times: LogTimes = NO_TIMES

    def knowing(
        self, time: Array, event: NDArray[np.bool_], start: Array | None
    ) -> FailureTimeLoss:
        """Return the loss that knows the logarithms of these times, which are above 0."""
        return replace(self, times=log_times(time, event, start))

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the f that, with the best σ, has the largest likelihood."""
        times = self._of(y)
        return best_line(self.law, times, weights, np.ones((len(y), 1)), offset)[0]

    def scale(self, y: Array, scores: Array, weights: Array) -> float:
        """Return the σ with the largest likelihood for these scores, between 0.001 and 1000."""
        return best_scale(self.law, self._of(y), scores[0], weights)

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return first derivatives, and curvatures that are at least `LEAST_CURVATURE`/σ²."""
        law, times, scale = self.law, self._of(y), self.scale(y, scores, weights)
        curvature = times.curvatures(law, scores[0], scale)
        return Derivatives(
            (times.pulls(law, scores[0], scale) / -scale)[None, :],
            (np.maximum(curvature, LEAST_CURVATURE) / scale**2)[None, :],
        )

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return minus the log-likelihood of each row, with the best σ for these rows."""
        return self._of(y).losses(self.law, scores[0], self.scale(y, scores, weights))

    def means(self, scores: Array) -> Array:
        """Return the times e^f at which ε is 0: medians, and for Weibull's law 63 % quantiles."""
        return np.exp(scores.T)

    def _of(self, y: Array) -> LogTimes:
        return self.times.of(y.astype(np.int64))


@dataclass(frozen=True, eq=False)
class LogNormal(FailureTimeLoss):
    """Log-normal times: ε is standard normal."""

    name: ClassVar[str] = "lognormal"
    law: ClassVar[ErrorLaw] = NormalError()


@dataclass(frozen=True, eq=False)
class LogLogistic(FailureTimeLoss):
    """Log-logistic times: ε is standard logistic."""

    name: ClassVar[str] = "loglogistic"
    law: ClassVar[ErrorLaw] = LogisticError()


@dataclass(frozen=True, eq=False)
class Weibull(FailureTimeLoss):
    """Weibull's times: ε is the logarithm of an exponential time.

    Hazards are proportional, too: exp(-f/σ) is the relative hazard, 1/σ the shape.
    """

    name: ClassVar[str] = "weibull"
    law: ClassVar[ErrorLaw] = ExtremeValueError()


# All losses by the names that users type.

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (
        SquaredError,
        Absolute,
        Huber,
        Poisson,
        LogisticLoss,
        Multinomial,
        Ordinal,
        Cox,
        LogNormal,
        LogLogistic,
        Weibull,
    )
}
