"""Rows in chunks with their design: walked again and again, as arrays, block by block."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.missing import Missing, find_missing
from odrf.design.design import Design
from odrf.design.streamed.blocks import in_blocks_of_rows
from odrf.design.weights import raw_weights
from odrf.engine.rows.coded import stored
from odrf.engine.streamed.gathering import RowBlock
from odrf.errors import InputError
from odrf.public.chunks import Chunks

__all__ = ["Responses", "StreamedRows", "UsedRows"]


class UsedRows(NamedTuple):
    """Which columns and rows of the chunks are used.

    Attributes
    ----------
    columns : tuple of str
        All columns that are read.
    response, predictors : tuple of str
        The columns of the response, and those of the predictors.
    weights : str or None
        The column of case weights.
    missing : str
        How missing values of predictors are treated.
    """

    columns: tuple[str, ...]
    response: tuple[str, ...]
    predictors: tuple[str, ...]
    weights: str | None
    missing: str

    def left_out(self, block: pd.DataFrame) -> Missing:
        """Return the missing values for which rows of a block are left out.

        Raises
        ------
        InputError
            `missing` is "raise", and values are missing in rows that have a response.
        """
        required = [*self.response, *([] if self.weights is None else [self.weights])]
        found = find_missing(block, list(dict.fromkeys(required)))
        if self.missing == "raise":
            rows = find_missing(block, self.response).complete_rows(block)
            find_missing(rows, list(dict.fromkeys([*self.predictors, *required]))).require_none()
        elif self.missing == "drop":
            found = find_missing(block, list(dict.fromkeys([*self.predictors, *required])))
        return found

    def weights_of(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return the case weights (m,) as they are in the column; 1 without one."""
        return raw_weights(self.weights, frame)


class Responses(NamedTuple):
    """Responses y (m,) of a block, and case weights (m,)."""

    y: NDArray[np.float64]
    weights: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """The training rows in chunks, and the design that was learned from them.

    Attributes
    ----------
    chunks : Chunks
    design : Design
    used : UsedRows
    n, n_positive : int
        Rows that are used, and those of positive weight.
    n_dropped : int
        Rows left out because of missing values.
    missing_columns, empty_cells : dict
        As in `TrainingData`.
    unit : float
        What the case weights are divided by: see `odrf.design.weights.unit_of`.
    factors : (K,) float64 or None
        What the case weights of each class are multiplied by.
    """

    chunks: Chunks
    design: Design
    used: UsedRows
    n: int
    n_positive: int
    n_dropped: int
    missing_columns: dict[str, int]
    empty_cells: dict[str, int]
    unit: float
    factors: NDArray[np.float64] | None = None
    _sums: list[int] = field(default_factory=list)

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows that are used, in blocks; the row labels are their numbers."""
        for block in in_blocks_of_rows(self.chunks.frames(self.used.columns)):
            frame = self.used.left_out(block).complete_rows(block)
            if len(frame):
                yield frame

    def responses(self) -> Iterator[Responses]:
        """Yield the responses and weights, block by block."""
        for frame in self.frames():
            yield self._responses(frame)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows as arrays, block by block.

        Raises
        ------
        InputError
            The chunks give other rows than in the pass before.
        """
        number = seen = 0
        for frame in self.frames():
            X, _ = self.design.matrix(frame)
            y, weights = self._responses(frame)
            block = RowBlock(frame.index.to_numpy().astype(np.uint64), X, y, weights)
            self._require_same(number, block)
            number, seen = number + 1, seen + len(y)
            yield block
        if seen != self.n:
            raise _other_rows()

    def _responses(self, frame: pd.DataFrame) -> Responses:
        y = self.design.response.numbers(frame)
        weights = self.used.weights_of(frame) / self.unit
        if self.factors is not None:
            weights = weights * self.factors[y.astype(np.int64)]
        return Responses(y, weights)

    def _require_same(self, number: int, block: RowBlock) -> None:
        """Compare the checksum of a block with that of the pass before.

        If a query gave its rows in another order, trees would be judged by rows that they drew.
        """
        found = zlib.crc32(np.ascontiguousarray(block.y).data)
        found = zlib.crc32(np.ascontiguousarray(stored(block.X)).data, found)
        if number == len(self._sums):
            self._sums.append(found)
        elif self._sums[number] != found:
            raise _other_rows()


def _other_rows() -> InputError:
    return InputError(
        "the chunks give other rows, or another order of them, than in the pass before: sort the "
        "query, or write the rows to a folder of Parquet files"
    )
