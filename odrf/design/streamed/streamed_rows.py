"""Rows in chunks with their design: walked again and again, as arrays, block by block."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.missing import Missing, find_missing
from odrf.design.design import Design
from odrf.design.streamed.blocks import BlockSource, rows_have_changed
from odrf.design.weights import raw_weights
from odrf.engine.chunks import RowBlock
from odrf.engine.factors import stored

__all__ = [
    "BlockChecksum",
    "BlockReader",
    "Responses",
    "StreamedRows",
    "UsedRows",
    "checked_sum",
]


Given = TypeVar("Given")
Result = TypeVar("Result")


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


class BlockChecksum(NamedTuple):
    """What another block, or other rows in it, hardly ever have.

    Attributes
    ----------
    first : int
        The number of the first row.
    n_rows : int
    checksum : int
    """

    first: int
    n_rows: int
    checksum: int


class BlockReader(NamedTuple):
    """What makes arrays of the rows of a block.  It can be pickled.

    Attributes
    ----------
    design : Design
    used : UsedRows
    unit : float
        What the case weights are divided by: see `odrf.design.weights.unit_of`.
    factors : (K,) float64 or None
        What the case weights of each class are multiplied by.
    """

    design: Design
    used: UsedRows
    unit: float
    factors: NDArray[np.float64] | None

    def frame(self, block: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that are used."""
        return self.used.left_out(block).complete_rows(block)

    def responses(self, frame: pd.DataFrame) -> Responses:
        """Return responses and weights of rows that are used."""
        y = self.design.response.numbers(frame)
        weights = self.used.weights_of(frame) / self.unit
        if self.factors is not None:
            weights = weights * self.factors[y.astype(np.int64)]
        return Responses(y, weights)

    def rows(self, block: pd.DataFrame) -> RowBlock | None:
        """Return the rows that are used as arrays; None if no row is used."""
        frame = self.frame(block)
        if len(frame) == 0:
            return None
        X, _ = self.design.matrix(frame)
        y, weights = self.responses(frame)
        return RowBlock(frame.index.to_numpy().astype(np.uint64), X, y, weights)


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """The training rows in blocks, and the design that was learned from them.

    Attributes
    ----------
    source : BlockSource
    reader : BlockReader
    n, n_positive : int
        Rows that are used, and those of positive weight.
    n_dropped : int
        Rows left out because of missing values.
    missing_columns, empty_cells : dict
        As in `TrainingData`.
    span : (float, float)
        The smallest and the largest response.
    heaviest : float
        No row has a larger weight.
    first : DataFrame
        The first rows as they were read, with those that are not used.
    """

    source: BlockSource
    reader: BlockReader
    n: int
    n_positive: int
    n_dropped: int
    missing_columns: dict[str, int]
    empty_cells: dict[str, int]
    span: tuple[float, float]
    heaviest: float
    first: pd.DataFrame
    _sums: dict[int, int] = field(default_factory=dict)

    @property
    def design(self) -> Design:
        """The design of the rows."""
        return self.reader.design

    def over_blocks(
        self, what: str, function: Callable[[Given, pd.DataFrame], Result], given: Given
    ) -> Iterator[Result]:
        """Yield ``function(given, block)`` for all blocks; see `BlockSource`."""
        return self.source.over_blocks(what, function, given, self.reader.used.columns)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows as arrays, block by block.

        Raises
        ------
        InputError
            The chunks give other rows than in the pass before.
        """
        seen = 0
        for block in self.over_blocks("read rows", BlockReader.rows, self.reader):
            if block is not None:
                self.require_same(checked_sum(block))
                seen += len(block.y)
                yield block
        self.require_all(seen)

    def require_same(self, found: BlockChecksum) -> None:
        """Compare the checksum of a block with that of the pass before.

        If a query gave its rows in another order, trees would be judged by rows that they drew.

        Raises
        ------
        InputError
            It is another one.
        """
        if self._sums.setdefault(found.first, found.checksum) != found.checksum:
            raise rows_have_changed()

    def require_all(self, seen: int) -> None:
        """Raise `InputError` unless as many rows were seen as in the first pass."""
        if seen != self.n:
            raise rows_have_changed()


def checked_sum(block: RowBlock) -> BlockChecksum:
    """Return the checksum of a block."""
    found = zlib.crc32(np.ascontiguousarray(block.y).data)
    found = zlib.crc32(np.ascontiguousarray(stored(block.X)).data, found)
    return BlockChecksum(int(block.numbers[0]), len(block.y), found)
