"""The losses that boosting lowers: where it starts, gradients, and what its sums mean.

Scores f (K, n) are what the trees add up to, one row of the array for each output: one for numbers
and for two classes, one per class for more.  Everything is weighted by case weights, so that a
weight of 2 is the same as the row twice.
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
    "LOSSES",
    "Absolute",
    "Huber",
    "LogisticLoss",
    "Loss",
    "Multinomial",
    "Ordinal",
    "Poisson",
    "Slopes",
    "SquaredError",
]

Array = NDArray[np.float64]
# What a row still weighs when its class is certain: 0 would lose it.
LEAST_CURVATURE = 1e-6
# Shares at the start are no nearer to 0 and 1: their logits must be finite.
LEAST_SHARE = 1e-6


class Slopes(NamedTuple):
    """First and second derivatives of each row's loss by its scores.

    Attributes
    ----------
    first, second : (K, n) float64
        `second` is 1 where the loss has no curvature to go by.
    """

    first: Array
    second: Array


@dataclass(frozen=True)
class Loss(ABC):
    """A loss.

    Attributes
    ----------
    name : str
        As ``loss=`` takes it.
    kind : str
        The kind of response that it is for.
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
        """Return K, the scores of each row."""
        return 1

    @abstractmethod
    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the constants (K,) that, added to the offsets (n,), have the smallest loss."""

    @abstractmethod
    def slopes(self, y: Array, scores: Array, weights: Array) -> Slopes:
        """Return the derivatives of each row's loss; `weights` only scale what rows share."""

    @abstractmethod
    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return the loss of each row (n,)."""

    def means(self, scores: Array) -> Array:
        """Return what scores stand for: the response (n, 1), or probabilities (n, classes)."""
        return scores.T

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return what each leaf is to add before shrinkage: a Newton step."""
        return newton_values(rows, l2)


@dataclass(frozen=True)
class SquaredError(Loss):
    """Half the squared error: slopes are residuals, leaves their means."""

    name: ClassVar[str] = "squared_error"
    least_squares: ClassVar[bool] = True

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the mean."""
        return np.array([np.average(y - offset, weights=weights)])

    def slopes(self, y: Array, scores: Array, weights: Array) -> Slopes:
        """Return the residuals, turned round, and 1."""
        return Slopes(scores - y, np.ones_like(scores))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return half the squared residuals."""
        return 0.5 * (y - scores[0]) ** 2


@dataclass(frozen=True)
class Absolute(Loss):
    """The absolute error: trees are grown on signs, leaves are medians of the residuals."""

    name: ClassVar[str] = "absolute"
    penalised: ClassVar[bool] = False

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the median."""
        return np.array([weighted_quantile(y - offset, weights, 0.5)])

    def slopes(self, y: Array, scores: Array, weights: Array) -> Slopes:
        """Return signs and 1."""
        return Slopes(np.sign(scores - y), np.ones_like(scores))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return the absolute residuals."""
        return np.abs(y - scores[0])

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return the medians; a penalty has no part in them."""
        return median_values(rows)


@dataclass(frozen=True)
class Huber(Loss):
    """Huber's loss: squared up to δ, linear beyond.

    As Friedman (2001) has it, δ is in each round that quantile of the absolute residuals, and a
    leaf's value one step from the median of its residuals.  `losses` needs one δ for all rounds:
    that of the deviations from the median.

    Attributes
    ----------
    quantile : float
    """

    name: ClassVar[str] = "huber"
    penalised: ClassVar[bool] = False
    quantile: float = 0.9

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the median."""
        return np.array([weighted_quantile(y - offset, weights, 0.5)])

    def bend(self, residuals: Array, weights: Array) -> float:
        """Return δ."""
        return weighted_quantile(np.abs(residuals), weights, self.quantile)

    def slopes(self, y: Array, scores: Array, weights: Array) -> Slopes:
        """Return the residuals, turned round and held within ±δ, and 1."""
        bend = self.bend(y - scores[0], weights)
        return Slopes(np.clip(scores - y, -bend, bend), np.ones_like(scores))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return Huber's loss at the δ of deviations from the median."""
        bend = self.bend(y - weighted_quantile(y, weights, 0.5), weights)
        size = np.abs(y - scores[0])
        return np.where(size <= bend, 0.5 * size**2, bend * (size - 0.5 * bend))

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return Friedman's step; a penalty has no part in it."""
        return huber_values(rows, self.bend(rows.residuals, rows.weights))


@dataclass(frozen=True)
class Poisson(Loss):
    """Half the Poisson deviance of numbers of at least 0; scores are logarithms of the mean."""

    name: ClassVar[str] = "poisson"
    of_counts: ClassVar[bool] = True

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the logarithm of the mean, of a tiny one where there is nothing but zeros."""
        mean = np.average(y, weights=weights) / np.average(np.exp(offset), weights=weights)
        return np.array([np.log(max(mean, LEAST_SHARE))])

    def slopes(self, y: Array, scores: Array, weights: Array) -> Slopes:
        """Return mean less response, and the mean."""
        mean = np.exp(scores)
        return Slopes(mean - y, np.maximum(mean, LEAST_CURVATURE))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return half the deviance."""
        return scipy.special.xlogy(y, y) - y * scores[0] - y + np.exp(scores[0])

    def means(self, scores: Array) -> Array:
        """Return the means."""
        return np.exp(scores.T)

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return Newton's steps, upwards no farther than to the leaf's own mean.

        Newton's step is x = Σy/Σμ - 1, the best one log(1 + x): where few were expected and many
        came, the first is far too long.
        """
        step = newton_values(rows, l2)
        return np.where(step > 0, np.log1p(np.maximum(step, 0.0)), step)


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """The negative log-likelihood of two classes; the score is the second's log odds."""

    name: ClassVar[str] = "logistic"
    kind: ClassVar[str] = "classification"
    binary: ClassVar[bool] = True

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the log odds; with offsets, those by which the mean probability is the share."""
        share = np.clip(np.average(y, weights=weights), LEAST_SHARE, 1 - LEAST_SHARE)
        odds = np.log(share / (1 - share))
        if not offset.any():
            return np.array([odds])

        def excess(start: float) -> float:
            return float(np.average(scipy.special.expit(start + offset), weights=weights) - share)

        return np.array([scipy.optimize.brentq(excess, odds - offset.max(), odds - offset.min())])

    def slopes(self, y: Array, scores: Array, weights: Array) -> Slopes:
        """Return p - y and p (1 - p)."""
        p = scipy.special.expit(scores)
        return Slopes(p - y, np.maximum(p * (1 - p), LEAST_CURVATURE))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return -log p of the row's own class."""
        return -scipy.special.log_expit((2 * y - 1) * scores[0])

    def means(self, scores: Array) -> Array:
        """Return the probabilities of both classes."""
        return np.column_stack([scipy.special.expit(-scores[0]), scipy.special.expit(scores[0])])


@dataclass(frozen=True)
class Multinomial(Loss):
    """The negative log-likelihood of several classes, each with a score and a tree in each round.

    The scores are settled up to a constant only; the factor K/(K - 1) of the curvature is that of
    Friedman (2001), for scores that add up to 0.
    """

    name: ClassVar[str] = "multinomial"
    kind: ClassVar[str] = "classification"

    def outputs(self, n_classes: int) -> int:
        """Return the number of classes."""
        return n_classes

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the logarithms of the classes' shares."""
        totals = np.bincount(y.astype(np.int64), weights=weights, minlength=n_outputs)
        return np.log(np.maximum(totals / totals.sum(), LEAST_SHARE))

    def slopes(self, y: Array, scores: Array, weights: Array) -> Slopes:
        """Return p - 1(own class) and p (1 - p) K/(K - 1)."""
        K = len(scores)
        p = scipy.special.softmax(scores, axis=0)
        curvature = p * (1 - p) * (K / (K - 1))
        p[y.astype(np.int64), np.arange(len(y))] -= 1
        return Slopes(p, np.maximum(curvature, LEAST_CURVATURE))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return -log p of the row's own class."""
        return -scipy.special.log_softmax(scores, axis=0)[y.astype(np.int64), np.arange(len(y))]

    def means(self, scores: Array) -> Array:
        """Return the probabilities of the classes."""
        return scipy.special.softmax(scores, axis=0).T


@dataclass(frozen=True)
class Ordinal(Loss):
    """Of ordered classes, the negative log-likelihoods of being above each but the last, added up.

    Each has a score, the log odds, and a tree in each round, as the two-class problems of Frank and
    Hall (ECML 2001) have; their probabilities are made to fall from class to class.
    """

    name: ClassVar[str] = "ordinal"
    kind: ClassVar[str] = "classification"
    ordered: ClassVar[bool] = True

    def outputs(self, n_classes: int) -> int:
        """Return the number of classes less one."""
        return n_classes - 1

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return the log odds of the rows that are above each class."""
        shares = [np.average(above, weights=weights) for above in self._above(y, n_outputs)]
        odds = np.clip(shares, LEAST_SHARE, 1 - LEAST_SHARE)
        return np.asarray(np.log(odds / (1 - odds)))

    def slopes(self, y: Array, scores: Array, weights: Array) -> Slopes:
        """Return p - 1(above) and p (1 - p) of each."""
        p = scipy.special.expit(scores)
        return Slopes(p - self._above(y, len(scores)), np.maximum(p * (1 - p), LEAST_CURVATURE))

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return the sum of -log of what each score gives to the side that the row is on."""
        sides = 2.0 * self._above(y, len(scores)) - 1.0
        return -scipy.special.log_expit(sides * scores).sum(axis=0)

    def means(self, scores: Array) -> Array:
        """Return the probabilities of the classes."""
        above = np.minimum.accumulate(scipy.special.expit(scores), axis=0)
        return -np.diff(above, axis=0, prepend=1.0, append=0.0).T

    def _above(self, y: Array, n_outputs: int) -> NDArray[np.bool_]:
        """Return which rows are above each class (n_outputs, n)."""
        return y > np.arange(n_outputs)[:, None]


LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (SquaredError, Absolute, Huber, Poisson, LogisticLoss, Multinomial, Ordinal)
}
