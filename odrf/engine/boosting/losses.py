"""The losses that boosting minimises: starting scores, derivatives, and predictions from scores.

Losses are known by the names that users type, as in ``loss="squared_error"``: see
`odrf.engine.boosting.every_loss`.  Those of times to an event are in modules of their own.

The scores f (K, n) are sums over trees, with one row of the array for each of the K outputs.  K is
the number of classes for the multinomial loss, the number of classes less one for the ordinal loss,
and 1 for the others.  Everything is weighted by case weights: a weight of 2 is the same as having
the row twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.boosting.leaves import (
    LeafRows,
    huber_values,
    median_values,
    newton_values,
    weighted_quantile,
)

__all__ = [
    "Absolute",
    "Derivatives",
    "Huber",
    "LogisticLoss",
    "Loss",
    "Multinomial",
    "Ordinal",
    "Poisson",
    "SquaredError",
]

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
    """First and second derivatives of each row's loss with respect to its scores.

    Attributes
    ----------
    first, second : (K, n) float64
        `second` is 1 for losses whose second derivative is not used.
    """

    first: Array
    second: Array


@dataclass(frozen=True)
class Loss(ABC):
    """A loss function of the response and the scores.

    Attributes
    ----------
    name : str
        The name that users type: ``loss=name``.
    kind : str
        The kind of response that it is for: ``"regression"``, ``"classification"`` or
        ``"survival"``.
    least_squares : bool
        Whether it is the squared error, so that all leaves can be refitted by least squares.
    penalised : bool
        Whether its leaf values have the penalty λ on their squares.
    of_counts : bool
        Whether responses are at least 0, and some above.
    binary, ordered : bool
        Whether it is for two classes only, or for ordered ones, whose median is predicted.
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
        """Return the derivatives of each row's loss, not multiplied by `weights`.

        The weights only enter parameters that all rows share, such as the δ of Huber's loss.
        """

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

    Attributes
    ----------
    quantile : float
        The level of the quantile.
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
        """Return the log odds of the second class.

        With offsets, the constant with which the mean probability equals the class share.
        """
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
