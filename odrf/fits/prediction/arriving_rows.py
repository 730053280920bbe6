"""How well a fit predicts the rows that it is about to be updated with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.engine.rows.coded import Matrix, indicated, with_rows
from odrf.engine.trees.unpacked import predict_few
from odrf.fits.fit import Fit
from odrf.fits.prediction.predicting import mean_values
from odrf.pruning.held_out import losses_of

__all__ = ["losses_by", "losses_on_arrival"]

# Rows are few if a tree has this many times as many nodes: to pack it then takes longer.
FEW = 16


def losses_on_arrival(fit: Fit, data: TrainingData) -> NDArray[np.float64]:
    """Return the losses (m,) of all rows that came after the first ones.

    Parameters
    ----------
    fit : Fit
        The fit before it is updated; it knows the losses of earlier updates.  NaN stands for those
        of rows that came before they were kept.
    data : TrainingData
        Its training rows, followed by the new ones.
    """
    before, n = len(fit.data.y), len(data.y)
    X = with_rows(data.X, np.arange(before, n))
    known = fit.arrival_losses
    if known is None:
        known = np.full(before - fit.control.sampling.first(before), np.nan)
    return np.concatenate([known, losses_by(fit, X, data.y[before:])])


def losses_by(fit: Fit, X: Matrix, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the losses (m,) of new rows X (p, m) with the responses y (m,), predicted by a fit.

    The loss is the squared error, or 1 for a wrong class.
    """
    few = FEW * len(y) * fit.forest.n_trees < fit.forest.n_nodes
    if few and fit.forest.surrogates is None:
        value = predict_few(fit.forest, indicated(X))
    else:
        value = mean_values(fit, X)
    return losses_of(value, y, fit.ordered)
