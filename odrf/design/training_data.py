"""The training rows as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.missing import find_missing
from odrf.design.columns.sparse_columns import with_sparse_columns
from odrf.design.columns.unseen_levels import unseen_levels_expected
from odrf.design.row_structure import RowStructure
from odrf.design.survival.survival_times import SurvivalTimes
from odrf.engine.factors import Matrix, layout_of, stored, with_layout, with_rows
from odrf.engine.resamples import RowCodes
from odrf.errors import InputError

__all__ = ["RowsApart", "TrainingData", "rows_apart"]


@dataclass(frozen=True, eq=False)
class RowsApart:
    """Rows of weight 0, which a fit knows nothing of, and predicts with its training rows.

    Attributes
    ----------
    frame : DataFrame of m rows
        The columns that predictors, response and offset are computed from.
    where : (n + m,) bool
        Which of the training rows and these, in the order of the data frame, these are.
    """

    frame: pd.DataFrame
    where: NDArray[np.bool_]

    def among(self, of_training: Any, of_these: Any) -> Any:
        """Return series or data frames of the n training rows and of these, in their order."""
        both = pd.concat([of_training, of_these])
        return both.iloc[np.argsort(np.argsort(self.where, kind="stable"))]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The training rows as arrays.

    Attributes
    ----------
    X : Matrix (p, n)
        Predictors scaled to [0, 1], one row of the array per column; those with empty cells so that
        their mean is 0.  With codes for factors of many levels, see `odrf.engine.factors`.
    y : (n,) float64
        Response, or class codes 0 … K - 1.  Of times to an event, martingale residuals without
        predictors: events less cumulative hazards.
    weights : (n,) float64
        Case weights times class weights, divided by `weight_unit`; 1 without either.  Rows of
        weight 0 are no training rows.
    index : pandas.Index
        Labels of the n rows.
    complete : (N,) bool
        True for the rows of the data frame that are used; the others have missing values, or
        weight 0.
    missing_columns : dict
        Numbers of missing values per column, largest first; empty if no row was left out.
    empty_cells : dict
        The same of the rows that are used, for the columns of the predictors.
    class_weights : (K,) float64 or None
        The factors by which the case weights of each class were multiplied, if any.
    weight_unit : float
        What the weights are divided by so that their squares and sums are in the range of floats: a
        power of two, and 1 unless they are very large or very small; see
        `odrf.design.weights.unit_of`.
    kept : DataFrame of n rows, or None
        Columns of the data that cannot be read back from `X`; see `odrf.design.reading_back`.
    structure : RowStructure or None
        Groups, order and strata of the n rows, if there are any.
    times : SurvivalTimes or None
        Times and events of the n rows, if the response is ``Surv()``.
    weightless : (N,) bool or None
        True for the rows of the data frame with weight 0, if there are any.
    apart : RowsApart or None
        Those of them that can be predicted; none after an update.
    """

    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    index: pd.Index
    complete: NDArray[np.bool_]
    missing_columns: dict[str, int]
    empty_cells: dict[str, int]
    class_weights: NDArray[np.float64] | None = None
    weight_unit: float = 1.0
    kept: pd.DataFrame | None = None
    structure: RowStructure | None = None
    times: SurvivalTimes | None = None
    weightless: NDArray[np.bool_] | None = None
    apart: RowsApart | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"X": (with_sparse_columns(stored(self.X)), layout_of(self.X))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        array, layout = state["X"]
        self.__dict__.update(state, X=with_layout(array.matrix(), layout))

    @property
    def has_rows(self) -> bool:
        """Whether the rows are there; see `odrf.design.withheld`."""
        return True

    @property
    def n_rows(self) -> int:
        """Number of training rows n."""
        return len(self.index)

    @property
    def n_dropped(self) -> int:
        """Number of rows left out because of missing values."""
        return int((~self.considered).sum())

    @property
    def considered(self) -> NDArray[np.bool_]:
        """`complete`, without the rows of weight 0: as if they were not in the data frame."""
        return self.complete if self.weightless is None else self.complete[~self.weightless]

    @property
    def codes(self) -> RowCodes | None:
        """Codes of groups, order and strata, as the engine reads them."""
        return None if self.structure is None else self.structure.codes

    def require_times(self) -> SurvivalTimes:
        """Return the times to an event of the rows.

        Raises
        ------
        InputError
            The response is something else.
        """
        if self.times is None:
            raise InputError("the response is no time to an event: write Surv(time, event) ~ .")
        return self.times

    def keeping(self, rows: NDArray[np.bool_]) -> TrainingData:
        """Return the `rows` (n,) alone."""
        X = with_rows(self.X, rows)
        return replace(
            self,
            X=X,
            y=self.y[rows],
            weights=self.weights[rows],
            index=self.index[rows],
            kept=None if self.kept is None else self.kept[rows],
            structure=None if self.structure is None else self.structure.keeping(rows),
            times=None if self.times is None else self.times.keeping(rows),
            apart=None,
        )


def rows_apart(
    data: pd.DataFrame,
    apart: NDArray[np.bool_],
    complete: NDArray[np.bool_],
    required: Sequence[str],
    read: Callable[[pd.DataFrame], object],
) -> RowsApart | None:
    """Return the rows `apart` (N,) of a data frame; None if there are none that can be predicted.

    `complete` (N,) are the training rows.  Rows that lack one of the `required` columns are left
    out, as of the training rows.  `read` raises an `InputError` if rows cannot be predicted.
    """
    apart = apart & find_missing(data, required).complete
    try:
        with unseen_levels_expected():
            read(data[apart])
    except InputError:
        return None
    return RowsApart(data[apart], apart[complete | apart]) if apart.any() else None
