"""The weight of each model of a stack, from out-of-bag predictions (Breiman 1996)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.engine.trees.prediction_rule import predicted_classes
from odrf.fits.stacking import held_weights, held_weights_of_classes
from odrf.options.kinds import BRIER
from odrf.pruning.held_out import losses_of
from odrf.statistics.means import weighted_mean

__all__ = ["errors_of", "label_weights", "stacking_weights"]

# The weights of the second of two models that are tried for few wrong labels, and how many next to
# each other are judged together: a single one may be best by chance.
TRIED, NEIGHBOURS = np.linspace(0, 1, 21), 5


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
    values: Sequence[NDArray[np.float64]],
    data: TrainingData,
    n_classes: int,
    objective: str,
    ordered: bool,
) -> NDArray[np.float64]:
    """Return the weights (G,), which add up to 1, from out-of-bag predictions (n, K) of each model.

    Rows that are out of bag in every model decide; without any, the first model has all weight.
    """
    known = np.all([~np.isnan(value[:, 0]) for value in values], axis=0) & (data.weights > 0)
    first = np.eye(len(values))[0]
    if len(values) == 1 or not known.any():
        return first
    y, share = data.y[known], data.weights[known] / data.weights[known].sum()
    predicted = np.stack([value[known] for value in values])
    if n_classes == 1:
        off = (predicted[:, :, 0] - y) * np.sqrt(share)
        return held_weights(off @ off.T, len(y))
    if objective != BRIER:
        return label_weights(predicted, y, share, ordered)
    target = np.eye(n_classes)[y.astype(np.int64)]
    centre = share @ target
    off, target = ((each - centre) * np.sqrt(share)[:, None] for each in (predicted, target))
    products = np.einsum("gik,hik->gh", off, off)
    relations = np.einsum("gik,ik->g", off, target)
    errors = np.diag(products) - 2 * relations + np.sum(target**2)
    return held_weights_of_classes(products, relations, errors, len(y))


def label_weights(
    predicted: NDArray[np.float64],
    y: NDArray[np.float64],
    share: NDArray[np.float64],
    ordered: bool,
) -> NDArray[np.float64]:
    """Return the weights (2,) of two models whose mean gives the fewest wrong labels.

    Each weight counts with those next to it.  Of weights that give equally few, those nearest to
    equal ones are taken.

    Parameters
    ----------
    predicted : (2, n, K) float64
        Class probabilities.
    y : (n,) float64
        Class codes.
    share : (n,) float64
        Case weights, which add up to 1.
    ordered : bool
        Whether the predicted class is the median.
    """
    first, second = predicted
    wrong = [share @ (predicted_classes((1 - w) * first + w * second, ordered) != y) for w in TRIED]
    ends = np.pad(wrong, NEIGHBOURS // 2, mode="edge")
    together = np.round(np.convolve(ends, np.full(NEIGHBOURS, 1 / NEIGHBOURS), "valid"), 12)
    best = min(zip(together, np.abs(TRIED - 0.5), TRIED, strict=True))[2]
    return np.array([1 - best, best])
