"""Rows as columns of the data and as a matrix: what effects and explanations change values in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.reading_back import training_frame
from odrf.engine.rows.coded import Matrix
from odrf.errors import InputError
from odrf.fits.fit import AnyFit

__all__ = ["RawRows", "raw_rows"]


@dataclass(frozen=True, eq=False)
class RawRows:
    """Rows whose variables can be given other values; see `odrf.design.replacing.with_values`.

    Attributes
    ----------
    frame : DataFrame of n rows
        The columns of the data that the predictors are computed from.
    X : Matrix (p, n)
        Their scaled predictors.
    weights : (n,) float64
        Case weights of training rows; 1 for new rows.
    training : bool
        Whether they are the training rows.
    complete : (N,) bool
        Which rows of the new data frame these are; of the training rows, all.
    """

    frame: pd.DataFrame
    X: Matrix
    weights: NDArray[np.float64]
    training: bool
    complete: NDArray[np.bool_]


def raw_rows(fit: AnyFit, newdata: pd.DataFrame | None = None) -> RawRows:
    """Return the training rows, or those of `newdata` that can be predicted.

    Parameters
    ----------
    fit : AnyFit
    newdata : DataFrame, optional
        Rows with the columns that the predictors need; by default the training rows.

    Raises
    ------
    InputError
        `newdata` cannot be predicted, or no row of it is complete; the fit does not hold its
        training rows.
    """
    design, data = fit.design, fit.data
    if newdata is None:
        every = np.ones(data.n_rows, dtype=np.bool_)
        return RawRows(training_frame(design, data), data.X, data.weights, True, every)
    X, complete = design.matrix(newdata)
    if not complete.any():
        raise InputError("newdata has no row that can be predicted: give at least one complete row")
    frame = design.schema.select(newdata)[complete]
    return RawRows(frame, X, np.ones(len(frame)), False, complete)
