"""Rows as columns of the data and as a matrix: what effects and explanations change values in."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.new_rows import training_frame
from odrf.engine.factors import Matrix
from odrf.errors import InputError
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import AnyFit

__all__ = ["RawRows", "offsets_of", "raw_rows", "rows_of_scores"]


@dataclass(frozen=True, eq=False)
class RawRows:
    """Rows whose variables can be given other values; see `odrf.design.new_rows.with_values`.

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
    offset : (n,) float64
        What is added to the scores of boosted trees.
    """

    frame: pd.DataFrame
    X: Matrix
    weights: NDArray[np.float64]
    training: bool
    complete: NDArray[np.bool_]
    offset: NDArray[np.float64]


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
        `newdata` cannot be predicted, or no row of it is complete, or it lacks the offsets of the
        fit; the fit does not hold its training rows.
    """
    rows = rows_of_scores(fit, newdata)
    return replace(rows, offset=offsets_of(fit, newdata, rows.complete))


def rows_of_scores(fit: AnyFit, newdata: pd.DataFrame | None = None) -> RawRows:
    """Return rows as `raw_rows` does, with offsets of 0: what of scores the trees tell.

    Raises
    ------
    InputError
        As by `raw_rows`; offsets are not needed.
    """
    design, data = fit.design, fit.data
    if newdata is None:
        every = np.ones(data.n_rows, dtype=np.bool_)
        frame, none = training_frame(design, data), np.zeros(data.n_rows)
        return RawRows(frame, data.X, data.weights, True, every, none)
    X, complete = design.matrix(newdata)
    if not complete.any():
        raise InputError("newdata has no row that can be predicted: give at least one complete row")
    frame = design.schema.select(newdata)[complete]
    return RawRows(frame, X, np.ones(len(frame)), False, complete, np.zeros(len(frame)))


def offsets_of(
    fit: AnyFit, newdata: pd.DataFrame | None, complete: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the offsets of the training rows, or of the `complete` rows of `newdata`.

    Raises
    ------
    InputError
        The fit has offsets, and `newdata` lacks their column, or there is no such column.
    """
    if not isinstance(fit, BoostedFit):
        return np.zeros(int(complete.sum()))
    return fit.offset.values if newdata is None else fit.offset.of(newdata, None, complete)
