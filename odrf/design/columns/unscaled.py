"""The columns of a table before scaling: numbers, and the levels of factors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design.columns.scaling import Scaling, learn_scaling
from odrf.engine.directions.candidates import FEW_LEVELS
from odrf.engine.factors import Coded, Layout, Matrix
from odrf.engine.memory import MOST_LEVELS, require_memory, require_numbers

__all__ = ["Cells", "Levels", "Unscaled", "indicators"]


# Bytes of a cell of the matrix.
NUMBER = 4


class Cells(NamedTuple):
    """Columns of numbers.

    Attributes
    ----------
    at : (k,) int64
        Which columns of the table they are.
    values : (k, n) float64
        NaN for empty cells.
    """

    at: NDArray[np.int64]
    values: NDArray[np.float64]


class Levels(NamedTuple):
    """A factor, whose indicators are columns ``first:first + width``.

    Attributes
    ----------
    first, width : int
    codes : (n,) int64
        The level of each row, from 0; -1 for a row with none of the levels.
    """

    first: int
    width: int
    codes: NDArray[np.int64]


class Unscaled(NamedTuple):
    """p columns of n rows, made piece by piece.

    Each piece is scaled and narrowed before the next one is made: all columns in 64 bits would take
    twice the memory of the result.

    Attributes
    ----------
    n : int
    widths : dict of int to int
        By the first column of each factor, its number of levels.
    pieces : callable
        Makes the pieces, anew with each call: all columns of numbers, and all factors, once.
    """

    n: int
    widths: dict[int, int]
    pieces: Callable[[], Iterator[Cells | Levels]]

    def learned(self, names: Sequence[str]) -> tuple[Scaling, Matrix]:
        """Return the scaling of these training columns, n ≥ 1, with these names (p,), and them.

        Raises
        ------
        InputError
            As `learn_scaling`, and as the pieces when they are made.
        """
        p = len(names)
        scaling = Scaling(np.zeros(p), np.zeros(p), np.zeros(p, dtype=np.bool_))
        layout = self._layout(p)
        out = self._blank(layout)
        for piece in self.pieces():
            if isinstance(piece, Levels):
                first, width, codes = piece
                count = np.bincount(codes[codes >= 0], minlength=width)
                scaling.low[first : first + width] = count == self.n
                scaling.range[first : first + width] = (count > 0) & (count < self.n)
                _write_levels(out, layout, piece, scaling.range, 0.0)
                continue
            found = learn_scaling(piece.values, [names[j] for j in piece.at])
            scaling.low[piece.at], scaling.range[piece.at] = found.low, found.range
            scaling.holes[piece.at] = found.holes
            out[layout.place[piece.at]] = found.apply(piece.values)
        return scaling, Coded(out, layout) if layout.level.any() else out

    def scaled(self, scaling: Scaling, unknown: float = 0.0) -> Matrix:
        """Return the columns (p, n) scaled.

        In a row that has none of the levels of a factor of few levels, all its indicators are
        `unknown`; the code of many levels is 0, which counts as about their mean score.
        """
        layout = self._layout(len(scaling.range))
        out = self._blank(layout)
        for piece in self.pieces():
            if isinstance(piece, Levels):
                _write_levels(out, layout, piece, scaling.range, unknown)
            else:
                out[layout.place[piece.at]] = scaling.of(piece.at).apply(piece.values)
        return Coded(out, layout) if layout.level.any() else out

    def _blank(self, layout: Layout) -> NDArray[np.float32]:
        many = sum(width > FEW_LEVELS for width in self.widths.values())
        shape = layout.n_numbers + many, self.n
        require_memory(
            NUMBER * shape[0] * shape[1],
            f"a table of {shape[1]} rows and {shape[0]} columns",
            "use fewer rows or fewer predictors",
        )
        return np.zeros(shape, dtype=np.float32)

    def _layout(self, p: int) -> Layout:
        """Return where the p columns are, if factors of many levels are stored as codes."""
        level = np.zeros(p, dtype=np.int32)
        many = [(first, width) for first, width in self.widths.items() if width > FEW_LEVELS]
        if not many:
            return Layout(np.arange(p, dtype=np.int32), level, p)
        factor = np.zeros(p, dtype=np.int32)
        for f, (first, width) in enumerate(many):
            require_numbers(width, MOST_LEVELS, "levels of a factor", "join levels that are rare")
            factor[first : first + width] = f
            level[first : first + width] = np.arange(1, width + 1)
        is_number = level == 0
        n_numbers = int(is_number.sum())
        place = np.where(is_number, np.cumsum(is_number) - 1, n_numbers + factor)
        return Layout(place.astype(np.int32), level, n_numbers)


def _write_levels(
    out: NDArray[np.float32],
    layout: Layout,
    levels: Levels,
    span: NDArray[np.float64],
    unknown: float,
) -> None:
    """Write the indicators or codes of a factor to the rows of `out` (r, n) that they have."""
    first, width, codes = levels
    # a level that all training rows have, or none, says nothing
    says = np.flatnonzero((codes >= 0) & (span[first + np.maximum(codes, 0)] > 0))
    column = first + codes[says]
    is_code = width > FEW_LEVELS
    out[layout.place[column], says] = layout.level[column] if is_code else 1.0
    if not is_code:
        without = np.flatnonzero(codes < 0)
        out[np.ix_(layout.place[first : first + width], without)] = unknown


def indicators(codes: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    """Return the indicators (width, n) of levels with these codes (n,); all 0 for a code of -1."""
    columns, seen = np.zeros((width, len(codes))), np.flatnonzero(codes >= 0)
    columns[codes[seen], seen] = 1.0
    return columns
