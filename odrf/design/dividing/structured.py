"""Folds that respect which rows belong together, and their order in time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design.design import Design
from odrf.design.folds import (
    FoldRows,
    block_of_times,
    fold_of_groups,
    fold_of_rows,
    folds_apart,
    rolling_origin,
)
from odrf.design.row_structure import RowStructure
from odrf.design.training_data import TrainingData
from odrf.errors import InputError

__all__ = [
    "RowsToDivide",
    "check_training_rows",
    "fold_numbers",
    "most_folds",
    "rows_to_divide",
    "strata_cells",
    "structured_folds",
]

WITH_EVENTS = (
    "cv=, or of odt(), which prunes by cross-validation unless alpha=None: use more rows with "
    "events"
)


class RowsToDivide(NamedTuple):
    """What folds of n rows depend on.

    Attributes
    ----------
    y : (n,) float64
        Response, or class codes 0 … K - 1.
    n_classes : int
        K, 1 for a number.
    weights : (n,) float64 or None
        Rows of weight 0 are dealt out apart from the others.
    structure : RowStructure or None
        Groups, order and strata of the rows.
    events : (n,) bool or None
        Which rows had an event, if the response is a time to an event.
    """

    y: NDArray[np.float64]
    n_classes: int
    weights: NDArray[np.float64] | None = None
    structure: RowStructure | None = None
    events: NDArray[np.bool_] | None = None

    @property
    def balanced(self) -> NDArray[np.int64] | None:
        """Codes (n,) of what each fold has the same shares of: classes, or events; else None."""
        if self.events is not None:
            return self.events.astype(np.int64)
        return self.y.astype(np.int64) if self.n_classes > 1 else None

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Codes 0, 1, … of the groups (n,)."""
        return None if self.structure is None else _codes(self.structure.groups)

    @property
    def order(self) -> NDArray[np.int64] | None:
        """Codes 0, 1, … of the times (n,)."""
        return None if self.structure is None else _codes(self.structure.order)

    @property
    def strata(self) -> NDArray[np.int64] | None:
        """Codes 0, 1, … of the strata (n,)."""
        return None if self.structure is None else _codes(self.structure.strata)


def rows_to_divide(design: Design, data: TrainingData) -> RowsToDivide:
    """Return the training rows of a fit."""
    events = None if data.times is None else data.times.event > 0
    return RowsToDivide(data.y, design.response.n_classes, data.weights, data.structure, events)


def most_folds(rows: RowsToDivide) -> int:
    """Return how many folds there can be: as many as rows, groups, or times after the first."""
    if rows.order is not None:
        return int(rows.order.max())
    return len(rows.y) if rows.groups is None else int(rows.groups.max()) + 1


def structured_folds(rows: RowsToDivide, k: int, seed: int) -> list[FoldRows]:
    """Return k folds: in time if the rows have an order, else of whole groups, or at random.

    k is at most `most_folds`.

    Raises
    ------
    InputError
        If the training rows of a fold all have weight 0, have no events or, in time or with whole
        groups, are of one class only.
    """
    order, groups = rows.order, rows.groups
    if order is None:
        folds = folds_apart(fold_numbers(rows, k, seed), k)
        if rows.events is not None and groups is None:
            check_training_rows(folds, rows, WITH_EVENTS)
        elif groups is not None:
            check_training_rows(folds, rows, "groups=: use fewer folds, or other groups")
        else:
            _check_weights(folds, rows, "weights=: leave out rows of weight 0")
        return folds
    folds = rolling_origin(order, k)
    check_training_rows(folds, rows, "order=: use fewer folds, so that more rows come first")
    return folds


def fold_numbers(rows: RowsToDivide, k: int, seed: int) -> NDArray[np.int64]:
    """Return the fold 0 … k - 1 of each row (n,): whole groups, else blocks of time, else random.

    Folds of random rows or groups keep the shares of classes and strata.
    """
    order, groups = rows.order, rows.groups
    if groups is not None:
        return fold_of_groups(groups, strata_cells(rows), k, seed)
    if order is not None:
        return block_of_times(order, k)
    if rows.strata is None:
        codes = rows.balanced
        number = 1 if codes is None else int(codes.max()) + 1
        return fold_of_rows(rows.y if codes is None else codes, number, k, seed, rows.weights)
    cells = strata_cells(rows)
    return fold_of_rows(cells.astype(np.float64), int(cells.max()) + 1, k, seed, rows.weights)


def check_training_rows(folds: list[FoldRows], rows: RowsToDivide, way_out: str) -> None:
    """Raise `InputError` if training rows are of one class, without events, or of weight 0."""
    _check_weights(folds, rows, way_out)
    _check_events(folds, rows, way_out)
    if rows.n_classes == 1:
        return
    for number, (train, _) in enumerate(folds, start=1):
        if (rows.y[train] == rows.y[train][0]).all():
            raise InputError(
                f"the training rows of fold {number} are all of one class, so that no model can be "
                f"fitted; the folds are those of {way_out}"
            )


def _check_weights(folds: list[FoldRows], rows: RowsToDivide, way_out: str) -> None:
    if rows.weights is None:
        return
    for number, (train, _) in enumerate(folds, start=1):
        if not rows.weights[train].any():
            raise InputError(
                f"the training rows of fold {number} all have weight 0, so that no model can be "
                f"fitted; the folds are those of {way_out}"
            )


def _check_events(folds: list[FoldRows], rows: RowsToDivide, way_out: str) -> None:
    if rows.events is None:
        return
    counted = rows.events if rows.weights is None else rows.events & (rows.weights > 0)
    for number, (train, _) in enumerate(folds, start=1):
        if not counted[train].any():
            raise InputError(
                f"the training rows of fold {number} have no events, so that no model can be "
                f"fitted; the folds are those of {way_out}"
            )


def strata_cells(rows: RowsToDivide) -> NDArray[np.int64]:
    """Return codes (n,) of combinations of stratum, class or event, and whether the weight is 0."""
    of_rows = [codes for codes in (rows.strata, rows.balanced) if codes is not None]
    if rows.weights is not None:
        of_rows.append((rows.weights == 0).astype(np.int64))
    code: NDArray[np.int64] = np.zeros(len(rows.y), dtype=np.int64)
    for part in of_rows:
        code = np.unique(code * (int(part.max()) + 1) + part, return_inverse=True)[1]
    return code


def _codes(values: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Return codes 0, 1, … (n,), each of which some row has, in the order of the values."""
    return None if values is None else np.unique(values, return_inverse=True)[1]
