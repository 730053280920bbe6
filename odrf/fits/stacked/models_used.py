"""Which models of a stack are used: all, or the forest alone.

The weights of probabilities minimise log loss.  With few rows for each class, single rows that were
thought improbable decide it, and the weights overfit.  The Brier score is bounded, and so tells
with few rows already whether other models are of use.  The weights of numbers are pulled to equal
ones, and there such a rule gains nothing.
"""

from __future__ import annotations

import numpy as np

from odrf.fits.stacked.weighing import StackRows, gain_and_error, stack_predictions

__all__ = ["models_used"]

FOREST_ALONE = [0]
# In standard errors.  The weights are found on the rows that judge: if k other models tell nothing,
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
