"""The logarithmic opinion pool: class probabilities of several models as one.

The pooled probability of class k is proportional to the product over the models g of p_gk to the
power a_g.  With one model this is its probabilities to a power, which keeps the order of the
classes; the exponents of several weigh them, and their sum says how much sharper the pool is than
their geometric mean.  The log loss is convex in the exponents: they are the coefficients of a
conditional logit model with the logarithms of the probabilities as predictors.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.running import one_thread

__all__ = ["logarithms", "pool_exponents", "pooled"]

Array = NDArray[np.float64]

# Smaller probabilities count as this: 0 has no logarithm, and a thousand trees cannot distinguish
# smaller ones from 0.
LEAST = 1e-3
# So many rows, in which all classes are equally probable, are added to the rows: otherwise few rows
# that are all predicted correctly would have infinite exponents.
ROWS_ADDED = 1.0


def logarithms(p: Array) -> Array:
    """Return the logarithms of probabilities, those of very small ones cut off."""
    return np.log(np.clip(p, LEAST, 1.0))


def pooled(logs: Array, exponents: Array) -> Array:
    """Return the pooled probabilities (n, K).

    Parameters
    ----------
    logs : (G, n, K) float64
        `logarithms` of each model's probabilities.
    exponents : (G,) or (G, n, 1) float64
        The same for all rows, or those of each row.
    """
    score = np.zeros(logs.shape[1:])
    # one by one: BLAS would round a row alone in another way than the row among others
    for exponent, log in zip(exponents, logs, strict=True):
        score += exponent * log
    odds = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@one_thread()
def pool_exponents(logs: Array, code: NDArray[np.int64], weights: Array) -> Array:
    """Return the exponents (G,), at least 0, of the pool with the smallest log loss.

    Parameters
    ----------
    logs : (G, n, K) float64
        `logarithms` of each model's probabilities of n rows that it has not learned from.
    code : (n,) int64
        The classes of the rows.
    weights : (n,) float64
        Case weights.

    References
    ----------
    C. Genest and J. V. Zidek (1986). Combining probability distributions: a critique and an
    annotated bibliography. Statistical Science 1, 114-148.

    C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger (2017). On calibration of modern neural networks.
    ICML: one model.
    """
    G, _, K = logs.shape
    share = weights / weights.sum()
    # the share of the added rows in all; the row with the largest weight counts as one row
    added = ROWS_ADDED / (ROWS_ADDED + weights.sum() / weights.max())
    target = (1 - added) * np.eye(K)[code] + added / K

    def loss(exponents: Array) -> tuple[float, Array]:
        score = np.einsum("g,gik->ik", exponents, logs)
        norm = scipy.special.logsumexp(score, axis=1)
        off = share[:, None] * (np.exp(score - norm[:, None]) - target)
        value = share @ (norm - np.einsum("ik,ik->i", target, score))
        return float(value), np.einsum("ik,gik->g", off, logs)

    precise = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000}
    found = scipy.optimize.minimize(
        loss, np.full(G, 1 / G), jac=True, bounds=[(0.0, None)] * G, method="L-BFGS-B",
        options=precise,
    )  # fmt: skip
    return np.asarray(found.x)
