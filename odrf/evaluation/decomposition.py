"""Bias, variance and noise: the terms of a model's expected error on a row.

A model is fitted to R training samples and predicts the same m rows each time.  Every function
takes these predictions and the truth of the rows, and returns the value of each term for each
row, to be averaged over rows.  In every row the terms add up to the error exactly.

Classes: G. M. James, "Variance and bias for general loss functions", Machine Learning 51 (2003),
as in Tomita et al., Appendix F; R. Kohavi and D. Wolpert, "Bias plus variance decomposition for
zero-one loss functions", ICML (1996), as in Gupta et al., equations (26) to (29).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["James", "KohaviWolpert", "Squared", "james", "kohavi_wolpert", "squared"]


class James(NamedTuple):
    """James' terms of the 0-1 loss, each (m,) float64.

    ``error = bayes_error + systematic_effect + variance_effect``.

    Attributes
    ----------
    error : probability that a prediction is wrong.
    bayes_error : 1 - P(Y = h* | x), h* being the most likely class.
    bias : 1 if the systematic prediction h̄, the class predicted most often, is not h*, else 0.
    variance : share of predictions that are not h̄.
    systematic_effect : P(Y = h* | x) - P(Y = h̄ | x), what bias adds to the error.
    variance_effect : P(Y = h̄ | x) - P(Y = h | x), what variance adds; below 0 where it helps.
    """

    error: NDArray[np.float64]
    bayes_error: NDArray[np.float64]
    bias: NDArray[np.float64]
    variance: NDArray[np.float64]
    systematic_effect: NDArray[np.float64]
    variance_effect: NDArray[np.float64]


class KohaviWolpert(NamedTuple):
    """Kohavi and Wolpert's terms of the 0-1 loss, each (m,) float64.

    ``error = noise + bias2 + variance``.

    Attributes
    ----------
    noise : half of 1 - Σ P(Y = k | x)².
    bias2 : half of Σ (P(Y = k | x) - P(h = k | x))²; estimated without bias, so can be negative.
    variance : half of 1 - Σ P(h = k | x)²; estimated without bias.
    """

    noise: NDArray[np.float64]
    bias2: NDArray[np.float64]
    variance: NDArray[np.float64]


class Squared(NamedTuple):
    """Terms of the squared error, each (m,) float64.

    ``error = noise + bias2 + variance``.

    Attributes
    ----------
    error : mean squared difference of prediction and response.
    noise : variance of the response.
    bias2 : (m(x) - E h(x))²; estimated without bias, so can be negative.
    variance : variance of the predictions; estimated without bias.
    """

    error: NDArray[np.float64]
    noise: NDArray[np.float64]
    bias2: NDArray[np.float64]
    variance: NDArray[np.float64]


def james(predicted: NDArray[np.int64], truth: NDArray[np.float64]) -> James:
    """Decompose the 0-1 loss by James' definitions.

    If several classes are equally likely, predicting any of them has no bias.  If several are
    predicted equally often, each of them counts as h̄ with equal weight.  So the result does not
    depend on the names or the order of the classes.

    Parameters
    ----------
    predicted : (R, m) int64
        Codes of the predicted classes, 0 … K - 1, by training sample and row.
    truth : (m, K) float64
        P(Y = k | x) of each row.

    Examples
    --------
    >>> terms = james(np.array([[0], [0], [1]]), np.array([[0.25, 0.75]]))
    >>> terms.bias, terms.systematic_effect, terms.variance_effect.round(3)
    (array([1.]), array([0.5]), array([-0.167]))
    """
    share = _shares(predicted, truth.shape[1])
    most = share.max(axis=1)
    often = share == most[:, np.newaxis]
    systematic = often / often.sum(axis=1, keepdims=True)
    best = truth.max(axis=1)
    right_if_systematic = np.sum(systematic * truth, axis=1)
    right = np.sum(share * truth, axis=1)
    return James(
        error=1 - right,
        bayes_error=1 - best,
        bias=np.sum(systematic * (truth < best[:, np.newaxis]), axis=1),
        variance=1 - most,
        systematic_effect=best - right_if_systematic,
        variance_effect=right_if_systematic - right,
    )


def kohavi_wolpert(predicted: NDArray[np.int64], truth: NDArray[np.float64]) -> KohaviWolpert:
    """Decompose the 0-1 loss by Kohavi and Wolpert's definitions.

    The shares of the classes among R predictions are estimates.  Their sampling error makes the
    squared distance from the truth too large, and the variance too small, by V / (R - 1), where V
    is half of 1 - Σ share².  Equation (27) of Gupta et al. corrects the squared distance only; here
    both are corrected, so that the terms add up.  Their equations have no factor of one half: with
    labels as the truth, twice `bias2` is (27), and twice `variance`, times (R - 1)/R, is (28).

    Parameters
    ----------
    predicted : (R, m) int64
        Codes of the predicted classes, 0 … K - 1, by training sample and row; R is 2 or more.
    truth : (m, K) float64
        P(Y = k | x) of each row; 1 for an observed label that is taken for the truth.

    Examples
    --------
    >>> terms = kohavi_wolpert(np.array([[0], [1]]), np.array([[0.0, 1.0]]))
    >>> terms.noise, terms.bias2, terms.variance
    (array([0.]), array([0.]), array([0.5]))
    """
    share, R = _shares(predicted, truth.shape[1]), len(predicted)
    uncorrected = (1 - np.sum(share**2, axis=1)) / 2
    correction = uncorrected / (R - 1)
    return KohaviWolpert(
        noise=(1 - np.sum(truth**2, axis=1)) / 2,
        bias2=np.sum((truth - share) ** 2, axis=1) / 2 - correction,
        variance=uncorrected + correction,
    )


def squared(predicted: NDArray[np.float64], truth: NDArray[np.float64], noise: float) -> Squared:
    """Decompose the squared error.

    The mean of R predictions is an estimate.  Its sampling error makes the squared distance from
    the truth too large by variance / R, which is subtracted.

    Parameters
    ----------
    predicted : (R, m) float64
        Predictions, by training sample and row; R is 2 or more.
    truth : (m,) float64
        m(x) of each row.
    noise : float
        Variance of the response given x.

    Examples
    --------
    >>> squared(np.array([[1.0], [3.0]]), np.array([4.0]), noise=1.0)
    Squared(error=array([6.]), noise=array([1.]), bias2=array([3.]), variance=array([2.]))
    """
    variance = predicted.var(axis=0, ddof=1)
    bias2 = (truth - predicted.mean(axis=0)) ** 2 - variance / len(predicted)
    error = noise + np.mean((truth - predicted) ** 2, axis=0)
    return Squared(error, np.full(len(truth), noise), bias2, variance)


def _shares(predicted: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Return the share of predictions of each class, (m, K)."""
    R, m = predicted.shape
    cell = np.arange(m) * n_classes + predicted
    return np.bincount(cell.ravel(), minlength=m * n_classes).reshape(m, n_classes) / R
