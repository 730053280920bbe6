"""How the models of a stack are put together: weights from out-of-bag predictions (Breiman 1996).

Numbers are averaged.  Class probabilities are pooled: the weighted geometric mean, to a power.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.engine.running import one_thread
from odrf.fits.stacking import held_weights
from odrf.pruning.validation import losses_of
from odrf.statistics.calibration import logarithms, pool_exponents, pooled
from odrf.statistics.jackknife import weighted_mean

# How the models of a stack are put together: weights from out-of-bag predictions (Breiman 1996).

# Models without information have exponents of nearly 0, and all classes would be equally probable.
LEAST_POWER = 0.1
LEAST_PROBABILITY = 1e-15
# A gain of fewer standard errors counts as noise.
LEAST_GAIN = 2.0


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


class StackRows(NamedTuple):
    """Rows that count, and are out of bag in all models of a stack.

    `values` (G, m, K) are the predictions of the models: numbers with K = 1, or probabilities of K
    classes; `y` (m,) responses or class codes; `weights` (m,) case weights, above 0.
    """

    values: NDArray[np.float64]
    y: NDArray[np.float64]
    weights: NDArray[np.float64]

    def by(self, models: Sequence[int]) -> StackRows:
        """Return the rows with the predictions of some of the models."""
        return self._replace(values=self.values[list(models)])


def stack_rows(values: Sequence[NDArray[np.float64]], data: TrainingData) -> StackRows:
    """Return the rows that all models predict out of bag; `values` are G arrays (n, K)."""
    known = np.all([~np.isnan(value[:, 0]) for value in values], axis=0) & (data.weights > 0)
    predicted = np.stack([value[known] for value in values])
    return StackRows(predicted, data.y[known], data.weights[known])


@one_thread()
def stacking_weights(rows: StackRows) -> tuple[NDArray[np.float64], float]:
    """Return the weights (G,), which add up to 1, and the power of pooled probabilities.

    Without any row the first model has all weight.
    """
    values, y, weights = rows
    first = np.eye(len(values))[0]
    if not len(y):
        return first, 1.0
    if values.shape[2] == 1:
        off = (values[:, :, 0] - y) * np.sqrt(weights / weights.sum())
        return held_weights(off @ off.T, len(y)), 1.0
    exponents = pool_exponents(logarithms(values), y.astype(np.int64), weights)
    power = float(exponents.sum())
    return (exponents / power if power > 0 else first), max(power, LEAST_POWER)


def stack_predictions(rows: StackRows) -> NDArray[np.float64]:
    """Return the predictions of the stack (m, K)."""
    weights, power = stacking_weights(rows)
    return put_together(list(rows.values), list(weights), power)


def stack_losses(rows: StackRows) -> NDArray[np.float64]:
    """Return the squared error of the stack (m,), or minus the log probability of the class."""
    predicted, y = stack_predictions(rows), rows.y
    if predicted.shape[1] == 1:
        return np.asarray((predicted[:, 0] - y) ** 2)
    of_class = predicted[np.arange(len(y)), y.astype(np.int64)]
    return -np.log(np.maximum(of_class, LEAST_PROBABILITY))


def gain_with(
    values: Sequence[NDArray[np.float64]], added: NDArray[np.float64], data: TrainingData
) -> tuple[float, float]:
    """Return by how much the loss of a stack falls with one more model, and its standard error.

    `values` are G arrays (n, K), and `added` is another.  Less than two rows give 0 and 0.
    """
    rows = stack_rows([*values, added], data)
    if len(rows.y) < 2:
        return 0.0, 0.0
    fewer = stack_losses(rows.by(range(len(values)))) - stack_losses(rows)
    return gain_and_error(fewer, rows.weights)


def gain_and_error(fewer: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of the rows' gains (m,) with these weights, and its standard error."""
    gain, share = weighted_mean(fewer, weights), weights / weights.sum()
    return gain, float(np.sqrt((share**2 * (fewer - gain) ** 2).sum()))


def rises_without(rows: StackRows, used: Sequence[int]) -> NDArray[np.float64]:
    """Return by what share the loss of a stack would rise without each model (G,).

    The others would have weights of their own.  Without a model that is not among the `used` ones
    nothing changes.  NaN where there is no other, or no row.
    """
    models = range(len(rows.values))
    nothing = np.full(len(models), np.nan)
    if len(models) == 1 or not len(rows.y):
        return nothing
    whole = weighted_mean(stack_losses(rows.by(used)), rows.weights)
    without = np.full(len(models), whole)
    for g in used:
        others = rows.by([h for h in models if h != g])
        without[g] = weighted_mean(stack_losses(others), rows.weights)
    return without / whole - 1 if whole > 0 else nothing


def put_together(
    values: Sequence[NDArray[np.float64]], weights: Sequence[float | NDArray], power: float
) -> NDArray[np.float64]:
    """Return the prediction (n, K) of several models, numbers or probabilities of K classes.

    `values` are G arrays (n, K), `weights` G numbers or arrays (n,), which for each row add up to
    1; `power` is that of the geometric mean of probabilities.
    """
    columns = [np.reshape(weight, (-1, 1)) for weight in weights]
    if values[0].shape[1] > 1:
        return pooled(logarithms(np.stack(values)), np.array([power * each for each in columns]))
    total = np.zeros_like(values[0])
    for value, each in zip(values, columns, strict=True):
        total += each * value
    return total


# The weights of probabilities minimise log loss.  With few rows for each class, single rows that
# were thought improbable decide it, and the weights overfit.  The Brier score is bounded, and so
# tells with few rows already whether other models are of use.  The weights of numbers are pulled to
# equal ones, and there such a rule gains nothing.

FOREST_ALONE = [0]
# In standard errors.  The weights are found on the validation rows: if k other models tell nothing,
# chance lowers the loss by about √χ²(k)/2 standard errors, 0.8 on average for the usual k = 3.
LEAST_GAIN_IN_SCORE = 0.75


def models_used(rows: StackRows) -> list[int]:
    """Return the numbers of the models that are used; the first is the forest.

    Of classes it is used alone unless all models together lower the out-of-bag Brier score by more
    than three quarters of a standard error.
    """
    everything = list(range(len(rows.values)))
    if rows.values.shape[2] == 1 or len(everything) == 1 or not len(rows.y):
        return everything
    observed = np.eye(rows.values.shape[2])[rows.y.astype(np.int64)]
    alone, together = (
        ((stack_predictions(some) - observed) ** 2).sum(axis=1)
        for some in (rows.by(FOREST_ALONE), rows)
    )
    gain, std_error = gain_and_error(alone - together, rows.weights)
    return everything if gain > LEAST_GAIN_IN_SCORE * std_error else FOREST_ALONE
