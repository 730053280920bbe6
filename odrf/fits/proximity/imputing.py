"""Empty cells filled by the values of near rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from odrf.design.missing import filled, learn_fills
from odrf.design.new_rows import training_frame
from odrf.engine.running import row_blocks
from odrf.fits.fit import AnyFit
from odrf.fits.proximity.leaf_sharing import indicators_of
from odrf.statistics.proximity import shared

__all__ = ["imputed"]

# Rows with empty cells that are compared with all training rows at once.
ROWS = 512


def imputed(fit: AnyFit, frame: pd.DataFrame, rounds: int) -> pd.DataFrame:
    """Return the variables of rows with their empty cells filled.

    First by the median or the most frequent level of the training rows; then, in each of the
    `rounds`, by the mean or level of the training rows that know the cell, weighted by the share of
    trees in which they share a leaf with the filled row (Breiman 2003).

    Parameters
    ----------
    fit : AnyFit
    frame : DataFrame
        The variables of the rows.
    rounds : int
    """
    training = training_frame(fit.design, fit.data)
    empty = frame.isna()
    where = np.flatnonzero(empty.to_numpy().any(axis=1))
    complete = filled(frame, learn_fills(training, list(frame.columns)))
    if not len(where):
        return complete
    own = indicators_of(fit, fit.data.X)
    for _ in range(rounds):
        parts = [where[block] for block in row_blocks(len(where), ROWS)]
        found = [
            _fills(fit, complete.iloc[part], empty.iloc[part], training, own) for part in parts
        ]
        for name in frame.columns[empty.any()]:
            column = complete[name].astype(object)
            for part, fills in zip(parts, found, strict=True):
                at = part[empty[name].to_numpy()[part]]
                column.iloc[at] = fills[name]
            complete[name] = _in_type_of(column, complete[name])
    return complete


def _fills(
    fit: AnyFit,
    rows: pd.DataFrame,
    empty: pd.DataFrame,
    training: pd.DataFrame,
    own: scipy.sparse.csr_array,
) -> dict[str, list[Any]]:
    """Return by variable what fills the empty cells of the rows, in their order."""
    X, _ = fit.design.matrix(rows)
    near = shared(indicators_of(fit, X), own, fit.forest.n_trees)
    fills = {}
    for name in rows.columns[empty.any()]:
        known = training[name].notna().to_numpy()
        weights = near[np.flatnonzero(empty[name].to_numpy())][:, np.flatnonzero(known)]
        fills[name] = _weighted(training[name][known], weights)
    return fills


def _weighted(known: pd.Series, weights: scipy.sparse.csr_array) -> list[Any]:
    """Return the weighted mean of numbers, or the level of the largest weight, for each row."""
    total = np.asarray(weights.sum(axis=1)).ravel()
    if is_numeric_dtype(known.dtype) and not is_bool_dtype(known.dtype):
        values = known.to_numpy(dtype=np.float64)
        sums = np.asarray(weights @ values)
        return list(np.where(total > 0, sums / np.where(total > 0, total, 1.0), np.median(values)))
    codes, levels = pd.factorize(known, sort=True)
    sums = np.asarray(weights @ _indicators(codes, len(levels)))
    usual = int(np.bincount(codes).argmax())
    return list(levels.take(np.where(total > 0, sums.argmax(axis=1), usual)))


def _indicators(codes: NDArray[np.int64], n_levels: int) -> NDArray[np.float64]:
    return (codes[:, None] == np.arange(n_levels)).astype(np.float64)


def _in_type_of(column: pd.Series, before: pd.Series) -> pd.Series:
    """Return filled cells in the type of the column before; whole numbers become floats."""
    if is_numeric_dtype(before.dtype) and not is_bool_dtype(before.dtype):
        return column.astype(np.float64)
    return column.astype(before.dtype)
