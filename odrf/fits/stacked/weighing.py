"""How the models of a stack are put together: weights from out-of-bag predictions (Breiman 1996).

Numbers are averaged.  Class probabilities are pooled: the weighted geometric mean, to a power.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.fits.stacking import held_weights
from odrf.pruning.held_out import losses_of
from odrf.statistics.means import weighted_mean
from odrf.statistics.probabilities.logarithmic_pool import logarithms, pool_exponents, pooled

__all__ = ["errors_of", "put_together", "stacking_weights"]

# Models that tell nothing have exponents of nearly 0, and all classes would be equally probable.
LEAST_POWER = 0.1


def errors_of(
    values: Sequence[NDArray[np.float64]], data: TrainingData, ordered: bool
) -> NDArray[np.float64]:
    """Return the mean squared error, or the share of wrong labels, of each model (G,)."""
    errors = []
    for value in values:
        known = ~np.isnan(value[:, 0]) & (data.weights > 0)
        losses = losses_of(value[known], data.y[known], ordered)
        errors.append(weighted_mean(losses, data.weights[known]) if known.any() else np.nan)
    return np.array(errors)


def stacking_weights(
    values: Sequence[NDArray[np.float64]], data: TrainingData, n_classes: int
) -> tuple[NDArray[np.float64], float]:
    """Return the weights (G,), which add up to 1, and the power of pooled probabilities.

    Rows that are out of bag in every model decide; without any, the first model has all weight.

    Parameters
    ----------
    values : sequence of G arrays (n, K) float64
        Out-of-bag predictions of each model.
    data : TrainingData
    n_classes : int
        1 for a regression.
    """
    known = np.all([~np.isnan(value[:, 0]) for value in values], axis=0) & (data.weights > 0)
    first = np.eye(len(values))[0]
    if not known.any():
        return first, 1.0
    y, weights = data.y[known], data.weights[known]
    predicted = np.stack([value[known] for value in values])
    if n_classes == 1:
        off = (predicted[:, :, 0] - y) * np.sqrt(weights / weights.sum())
        return held_weights(off @ off.T, len(y)), 1.0
    exponents = pool_exponents(logarithms(predicted), y.astype(np.int64), weights)
    power = float(exponents.sum())
    return (exponents / power if power > 0 else first), max(power, LEAST_POWER)


def put_together(
    values: Sequence[NDArray[np.float64]], weights: Sequence[float | NDArray], power: float
) -> NDArray[np.float64]:
    """Return the prediction (n, K) of several models.

    Parameters
    ----------
    values : sequence of G arrays (n, K) float64
        What each predicts: numbers, or probabilities of K classes.
    weights : sequence of G numbers or arrays (n,)
        The weight of each; of each row they add up to 1.
    power : float
        The power of the geometric mean of probabilities.
    """
    columns = [np.reshape(weight, (-1, 1)) for weight in weights]
    if values[0].shape[1] > 1:
        return pooled(logarithms(np.stack(values)), np.array([power * each for each in columns]))
    total = np.zeros_like(values[0])
    for value, each in zip(values, columns, strict=True):
        total += each * value
    return total
