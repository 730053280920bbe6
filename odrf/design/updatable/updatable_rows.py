"""Training rows in arrays with room for more: they come at the end, and are marked as they leave.

So nothing moves, and the rows of an earlier update are those that were there then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.adding_rows import Known, NewRows, both_counts
from odrf.design.training_data import TrainingData
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.rows.coded import layout_of, stored, with_layout
from odrf.engine.rows.factors import factors_of
from odrf.engine.updatable.updatable_arrays import UpdatableCells

__all__ = ["UpdatableRows"]

# Arrays have this much more room than they need.
ROOM, LEAST = 1.25, 256
# The update at which a row leaves that has not left.
NEVER = int(np.iinfo(np.int64).max)

Piece = TypeVar("Piece", bound=Any)


class _Pieces(Generic[Piece]):
    """Pieces that are appended; small ones are joined, so that there are few."""

    def __init__(self, first: Piece, join: Callable[[Sequence[Piece]], Piece]) -> None:
        self.pieces, self.join = [first], join

    def append(self, piece: Piece) -> None:
        """Append a piece of at least one row."""
        pieces = self.pieces
        pieces.append(piece)
        while len(pieces) > 1 and len(pieces[-1]) >= len(pieces[-2]):
            pieces[-2:] = [self.join(pieces[-2:])]

    def all(self) -> Piece:
        """Return the pieces as one."""
        return self.pieces[0] if len(self.pieces) == 1 else self.join(self.pieces)


class UpdatableRows:
    """Training rows to which others are added, and which may leave.

    Parameters
    ----------
    data : TrainingData
        The rows so far.
    feature_groups : FeatureGroups
        Which columns make up each predictor.
    numbers : (n,) int64
        The number of each row in the stream of all rows, ascending.

    Attributes
    ----------
    cells : UpdatableCells
        The rows in their places, as trees read them.
    numbers : (room,) int64
        The number of each place's row in the stream.
    until : (room,) int64
        The number of the update in which the row has left.
    used, n : int
        How many places are taken, and how many of the rows have not left.
    """

    def __init__(
        self, data: TrainingData, feature_groups: FeatureGroups, numbers: NDArray[np.int64]
    ) -> None:
        n = len(data.y)
        self.feature_groups, self.layout = feature_groups, layout_of(data.X)
        self._data, self.used, self.n = data, n, n
        self.known = Known.of(data)._replace(means=self._means)
        codes, place, level = factors_of(data.X, feature_groups)
        room = int(ROOM * n) + LEAST
        self.cells = UpdatableCells(
            _widened(stored(data.X), room), _widened(codes, room), place, level,
            _widened(data.y, room), _widened(data.weights, room),
        )  # fmt: skip
        self.numbers, self.until = _widened(numbers, room), np.full(room, NEVER)
        self.complete, self.n_complete = data.considered.copy(), len(data.considered)
        self._labels = _Pieces(data.index, lambda parts: parts[0].append(list(parts[1:])))
        self._kept = None if data.kept is None else _Pieces(data.kept, pd.concat)
        self.missing, self.empty = data.missing_columns, data.empty_cells

    @property
    def is_wasteful(self) -> bool:
        """Whether most of the rows have left."""
        return self.used > LEAST and 2 * self.n < self.used

    def cells_of(self, new: NewRows) -> UpdatableCells:
        """Return new rows as trees read them."""
        codes = factors_of(new.X, self.feature_groups).codes
        of_columns = self.cells.place, self.cells.level
        return UpdatableCells(stored(new.X), codes, *of_columns, new.y, new.weights)

    def append(self, new: NewRows, which: NDArray[np.int64], number: int) -> NDArray[np.int64]:
        """Append the rows `which` of the new ones; return their places.

        `number` is that of the first of the new rows in the stream.
        """
        m, begin = len(which), self.used
        end = begin + m
        if end > len(self.until):
            self._widen(int(ROOM * end))
        cells, array = self.cells, stored(new.X)
        cells.X[:, begin:end] = array[:, which]
        if len(cells.codes):
            cells.codes[:, begin:end] = factors_of(new.X, self.feature_groups).codes[:, which]
        cells.y[begin:end], cells.weights[begin:end] = new.y[which], new.weights[which]
        self.numbers[begin:end] = number + which
        if m:
            self._labels.append(new.labels[which])
        if self._kept is not None and new.kept is not None and m:
            self._kept.append(new.kept.iloc[which])
        self.missing = both_counts(self.missing, new.missing_columns)
        self.empty = both_counts(self.empty, new.empty_cells)
        self.known = self.known._replace(weighted=self.known.weighted or self._are_weighted(new))
        self.used, self.n = end, self.n + m
        return np.arange(begin, end)

    def append_complete(self, complete: NDArray[np.bool_]) -> None:
        """Append which rows of a data frame are used."""
        begin, end = self.n_complete, self.n_complete + len(complete)
        if end > len(self.complete):
            self.complete = _widened(self.complete, int(ROOM * end) + LEAST)
        self.complete[begin:end], self.n_complete = complete, end

    def leave(self, places: NDArray[np.int64], update: int) -> None:
        """Mark rows as left at an update."""
        self.until[places] = update
        self.n -= len(places)

    def places(self, used: int, update: int) -> NDArray[np.int64]:
        """Return the places of the rows that were there after an update, when `used` were taken."""
        return np.flatnonzero(self.until[:used] > update)

    def training_data(
        self,
        places: NDArray[np.int64],
        complete: NDArray[np.bool_],
        missing: dict[str, int],
        empty: dict[str, int],
    ) -> TrainingData:
        """Return the rows in these places as they were, with what was said of others then."""
        kept = None if self._kept is None else self._kept.all().iloc[places]
        X = np.take(self.cells.X, places, axis=1)
        return TrainingData(
            with_layout(X, self.layout),
            self.cells.y[places],
            self.cells.weights[places],
            self._labels.all()[places],
            complete,
            missing,
            empty,
            self._data.class_weights,
            self._data.weight_unit,
            kept,
        )

    def _are_weighted(self, new: NewRows) -> bool:
        weights = new.weights * self._data.weight_unit
        if self._data.class_weights is not None:
            weights = weights / self._data.class_weights[new.y.astype(np.int64)]
        return not np.allclose(weights, 1.0)

    def _means(self) -> NDArray[np.float32]:
        places = self.places(self.used, NEVER - 1)
        return np.take(self.cells.X, places, axis=1).mean(axis=1, keepdims=True)

    def _widen(self, room: int) -> None:
        cells = self.cells
        self.cells = UpdatableCells(
            _widened(cells.X, room), _widened(cells.codes, room), cells.place, cells.level,
            _widened(cells.y, room), _widened(cells.weights, room),
        )  # fmt: skip
        self.numbers, n = _widened(self.numbers, room), len(self.until)
        self.until = _widened(self.until, room)
        self.until[n:] = NEVER


def _widened(array: NDArray[Any], room: int) -> NDArray[Any]:
    """Return a copy of an array with room for so many entries along its last axis."""
    wide = np.zeros((*array.shape[:-1], room), dtype=array.dtype)
    wide[..., : array.shape[-1]] = array
    return wide
