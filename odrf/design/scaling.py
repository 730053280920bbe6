"""Columns before and after scaling to [0, 1], and as numbers to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FEW_LEVELS
from odrf.engine.factors import EncodedColumns, Layout, Matrix, indicated, with_rows
from odrf.engine.memory import MOST_LEVELS, require_memory, require_numbers
from odrf.errors import InputError

# Cells that are scaled at a time: they stay in the cache of the processor.
CELLS = 2**15

FARTHEST = 1e30
NARROWEST = 1e-300


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map of each column that takes its training values onto [0, 1].

    `low` (p,) is mapped to 0: the minimum, or the mean of a column with missing cells, which become
    0, too, where `holes` (p,) is true; others stay NaN.  `range` (p,): maximum minus minimum; a
    column of range 0 is scaled to 0.
    """

    low: NDArray[np.float64]
    range: NDArray[np.float64]
    holes: NDArray[np.bool_]

    def of(self, columns: NDArray[np.int64]) -> Scaling:
        """Return the scaling of some of the columns."""
        return Scaling(self.low[columns], self.range[columns], self.holes[columns])

    def apply(self, columns: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return `columns` (p, m) scaled.

        Training rows and new rows go through the same operations, so that the same row has the same
        bits. Values far outside are clipped to ±1e30, so that sums stay finite in float32.
        """
        result = np.empty(columns.shape, dtype=np.float32)
        step = max(1, CELLS // max(1, columns.shape[1]))
        for first in range(0, len(columns), step):
            part = slice(first, first + step)
            constant, holes = self.range[part] == 0, self.holes[part]
            with np.errstate(over="ignore"):
                scaled = columns[part] - self.low[part, np.newaxis]
                scaled /= np.where(constant, 1.0, self.range[part])[:, np.newaxis]
            if constant.any():
                scaled[constant] = np.where(np.isnan(scaled[constant]), np.nan, 0.0)
            if holes.any():
                scaled[holes] = np.nan_to_num(scaled[holes], nan=0.0, posinf=np.inf, neginf=-np.inf)
            result[part] = np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)
        return result


def learn_scaling(columns: NDArray[np.float64], names: Sequence[str]) -> Scaling:
    """Return the scaling of training `columns` (p, n), n ≥ 1, NaN where missing, of these names.

    Raises `InputError` if coefficients of a column would leave the range of floats.
    """
    low = np.fmin.reduce(columns, axis=1)
    span = np.fmax.reduce(columns, axis=1) - low
    holes = np.isnan(columns.min(axis=1))
    narrow = (span > 0) & (span < NARROWEST)
    if narrow.any():
        raise InputError(
            f"predictor {names[int(narrow.argmax())]!r} varies by less than {NARROWEST:g}, and "
            "coefficients in its unit would leave the range of floats: multiply it by a large "
            "number, or leave it out"
        )
    for j in np.flatnonzero(holes):
        low[j] += np.nanmean(columns[j] - low[j])
    return Scaling(low, span, holes)


# Bytes of a cell of the matrix.
NUMBER = 4


class Cells(NamedTuple):
    """Columns of numbers, `values` (k, n), and their positions `at` (k,) in the table."""

    at: NDArray[np.int64]
    values: NDArray[np.float64]


class Levels(NamedTuple):
    """A factor with columns ``first:first + width``; `codes` (n,) are levels, -1 for none."""

    first: int
    width: int
    codes: NDArray[np.int64]


class Unscaled(NamedTuple):
    """p columns of n rows: each call of `pieces` makes all columns of numbers and all factors once.

    A piece is scaled and converted to float32 before the next one is made: all columns in 64 bits
    would take twice the memory of the result.  `widths`: by the first column of a factor, its
    levels.
    """

    n: int
    widths: dict[int, int]
    pieces: Callable[[], Iterator[Cells | Levels]]

    def learned(self, names: Sequence[str]) -> tuple[Scaling, Matrix]:
        """Return the scaling of these training columns, n ≥ 1, with these names (p,), and them."""
        p = len(names)
        scaling = Scaling(np.zeros(p), np.zeros(p), np.zeros(p, dtype=np.bool_))
        layout, out = self._blank(p)
        for piece in self.pieces():
            if isinstance(piece, Levels):
                first, width, codes = piece
                count = np.bincount(codes[codes >= 0], minlength=width)
                scaling.low[first : first + width] = count == self.n
                scaling.range[first : first + width] = (count > 0) & (count < self.n)
                _write_levels(out, layout, piece, scaling.range, 0.0)
                continue
            of_piece = learn_scaling(piece.values, [names[j] for j in piece.at])
            scaling.low[piece.at], scaling.range[piece.at] = of_piece.low, of_piece.range
            scaling.holes[piece.at] = of_piece.holes
            out[layout.place[piece.at]] = of_piece.apply(piece.values)
        return scaling, EncodedColumns(out, layout) if layout.level.any() else out

    def scaled(self, scaling: Scaling, unknown: float = 0.0) -> Matrix:
        """Return the columns (p, n) scaled.

        Where a row has none of the levels of a factor of few levels, its indicators are `unknown`;
        the code of many levels is 0, which counts as about their mean score.
        """
        layout, out = self._blank(len(scaling.range))
        for piece in self.pieces():
            if isinstance(piece, Levels):
                _write_levels(out, layout, piece, scaling.range, unknown)
            else:
                out[layout.place[piece.at]] = scaling.of(piece.at).apply(piece.values)
        return EncodedColumns(out, layout) if layout.level.any() else out

    def _blank(self, p: int) -> tuple[Layout, NDArray[np.float32]]:
        """Return where the p columns are stored, factors of many levels as codes, and the array."""
        level, factor = np.zeros(p, dtype=np.int32), np.zeros(p, dtype=np.int32)
        n_many = 0
        for first, width in self.widths.items():
            if width > FEW_LEVELS:
                require_numbers(
                    width, MOST_LEVELS, "levels of a factor", "join levels that are rare"
                )
                factor[first : first + width] = n_many
                level[first : first + width] = np.arange(1, width + 1)
                n_many += 1
        is_number = level == 0
        n_numbers = int(is_number.sum())
        shape = n_numbers + n_many, self.n
        require_memory(
            NUMBER * shape[0] * shape[1],
            f"a table of {shape[1]} rows and {shape[0]} columns",
            "use fewer rows or fewer predictors",
        )
        place = np.where(is_number, np.cumsum(is_number) - 1, n_numbers + factor)
        return Layout(place.astype(np.int32), level, n_numbers), np.zeros(shape, dtype=np.float32)


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


# A nonzero number of a sparse column takes 8 bytes, a number of another column 4.
FEW_NONZEROS = 0.25


class WithSparseColumns(NamedTuple):
    """A matrix (p, n) in two parts: rows with many nonzero numbers, and the others."""

    dense: NDArray[np.float32]
    sparse: scipy.sparse.csr_array
    is_sparse: NDArray[np.bool_]

    def matrix(self) -> NDArray[np.float32]:
        """Return the matrix (p, n)."""
        X = np.empty((len(self.is_sparse), self.dense.shape[1]), dtype=np.float32)
        X[~self.is_sparse] = self.dense
        X[self.is_sparse] = self.sparse.toarray()
        return X


def with_sparse_columns(X: NDArray[np.float32]) -> WithSparseColumns:
    """Return the matrix X (p, n) in two parts."""
    few = np.array([np.count_nonzero(row) for row in X]) < FEW_NONZEROS * X.shape[1]
    return WithSparseColumns(X[~few], scipy.sparse.csr_array(X[few]), few)


def is_ranked(column: pd.Series) -> bool:
    """Return whether the values have an order: numbers, moments, ordered categories."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return bool(column.dtype.ordered)
    is_number = pd.api.types.is_numeric_dtype(column.dtype)
    return is_number or column.dtype.kind in "mM"


def as_numbers(column: pd.Series) -> NDArray[np.float64]:
    """Return a column (n,) as numbers: of labels that of the level; NaN for missing cells."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy()
    elif is_ranked(column) and column.dtype.kind not in "mM":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif is_ranked(column):
        return np.where(column.isna(), np.nan, column.astype("int64").to_numpy(dtype=np.float64))
    else:
        codes, _ = pd.factorize(column.astype(str).where(column.notna()), sort=True)
    return np.where(codes < 0, np.nan, codes.astype(np.float64))


# A column is crowded if more than this share of its values lies within this part of its range, and
# they are not just a few different ones, such as many zeros.
MOST, NEAR, DIFFERENT = 0.75, 1e-3, 10
# About so many rows tell.
ROWS = 2000


def crowded_columns(X: Matrix) -> NDArray[np.int64]:
    """Return the columns of a matrix (p, n), scaled to [0, 1], most values of which are crowded."""
    n = X.shape[1]
    some = indicated(with_rows(X, np.arange(0, n, max(1, n // ROWS))))
    middle = np.median(some, axis=1, keepdims=True)
    near = np.abs(some - middle) <= NEAR / 2
    crowded = np.flatnonzero(near.mean(axis=1) > MOST)
    different = [len(np.unique(some[j, near[j]])) for j in crowded]
    return crowded[np.array(different, dtype=np.int64) > DIFFERENT]
