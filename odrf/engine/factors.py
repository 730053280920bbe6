"""Factors as growth reads them: one code for each row, not an indicator column for each level.

A factor of 5,000 levels has 5,000 columns, indicators that are 0 almost everywhere.  Instead of
them the matrix holds the level of each row.  Trees are still written in terms of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups, has_levels
from odrf.engine.memory import require_memory


class Layout(NamedTuple):
    """Where each of p columns is in a matrix of r rows.

    `place` (p,): the row that has the column; columns of one factor have the same.  `level` (p,): 0
    for a row that is the column; otherwise the column is 1 where the row has this number, a level
    of a factor, and else 0.  `n_numbers`: the first rows are columns; the r - `n_numbers` others
    hold levels 1, 2, …, or 0 for none.
    """

    place: NDArray[np.int32]
    level: NDArray[np.int32]
    n_numbers: int


@dataclass(frozen=True, eq=False)
class EncodedColumns:
    """A matrix (p, n) of predictors in which factors of many levels are codes.

    `stored` (r, n): columns, then the codes of factors; levels up to 2^24 are exact.  `layout`:
    where each column is.
    """

    stored: NDArray[np.float32]
    layout: Layout

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of columns p and of rows n."""
        return len(self.layout.place), self.stored.shape[1]

    @property
    def size(self) -> int:
        """How many numbers are stored."""
        return self.stored.size

    def __len__(self) -> int:
        return len(self.layout.place)

    def __getitem__(self, key: Any) -> Any:
        """Return one column (n,) by its number, some columns as a `Matrix` by an array of them."""
        place, level, n_numbers = self.layout
        if isinstance(key, int | np.integer):
            row = self.stored[place[key]]
            return row if level[key] == 0 else (row == level[key]).astype(np.float32)
        kept, number = np.unique(place[key], return_inverse=True)
        columns = Layout(number.astype(np.int32), level[key], int((kept < n_numbers).sum()))
        if not columns.level.any():
            return self.stored[place[key]]
        return EncodedColumns(self.stored[kept], columns)


Matrix = NDArray[np.float32] | EncodedColumns
"""Predictors (p, n): an array, or `EncodedColumns` if the table has factors of many levels."""


def stored(X: Matrix) -> NDArray[np.float32]:
    """Return the array that a matrix holds."""
    return X.stored if isinstance(X, EncodedColumns) else X


def layout_of(X: Matrix) -> Layout | None:
    """Return where the columns of a matrix are; None for an array, whose rows they are."""
    return X.layout if isinstance(X, EncodedColumns) else None


def with_layout(array: NDArray[np.float32], layout: Layout | None) -> Matrix:
    """Return the matrix of what `stored` and `layout_of` return."""
    return array if layout is None else EncodedColumns(array, layout)


def indicated(X: Matrix) -> NDArray[np.float32]:
    """Return the matrix as an array (p, n), with an indicator for each level."""
    if not isinstance(X, EncodedColumns):
        return X
    place, level, _ = X.layout
    shape = len(place), X.stored.shape[1]
    require_memory(
        4.0 * shape[0] * shape[1],
        f"an indicator for each level, {shape[0]} columns of {shape[1]} rows,",
        "use a projection= that does not rotate all columns, or join levels that are rare",
    )
    out = X.stored[place]
    coded = np.flatnonzero(level)
    out[coded] = out[coded] == level[coded, None]
    return out


def with_rows(X: Matrix, rows: Any) -> Matrix:
    """Return a copy of the matrix with these of its n rows: numbers, a mask or a slice."""
    return with_layout(np.ascontiguousarray(stored(X)[:, rows]), layout_of(X))


def rows_of_predictors(
    X: Matrix, first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row (P,) of `stored` that each predictor has, and the one after its last."""
    layout = layout_of(X)
    if layout is None:
        return first[:-1], first[1:]
    place = layout.place.astype(np.int64)
    return place[first[:-1]], place[first[1:] - 1] + 1


def beside(matrices: Sequence[Matrix]) -> Matrix:
    """Return the matrix of the columns of all these, which have the same rows."""
    if not any(isinstance(X, EncodedColumns) for X in matrices):
        return np.concatenate([stored(X) for X in matrices])
    layouts = [_layout(X) for X in matrices]
    n_numbers = sum(layout.n_numbers for layout in layouts)
    numbers, codes, place = 0, n_numbers, []
    for X, layout in zip(matrices, layouts, strict=True):
        moved = np.where(layout.level == 0, numbers, codes - layout.n_numbers)
        place.append(layout.place + moved)
        numbers += layout.n_numbers
        codes += len(stored(X)) - layout.n_numbers
    pairs = list(zip(map(stored, matrices), layouts, strict=True))
    rows = [X[: layout.n_numbers] for X, layout in pairs]
    rows += [X[layout.n_numbers :] for X, layout in pairs]
    level = np.concatenate([layout.level for layout in layouts])
    return EncodedColumns(
        np.concatenate(rows), Layout(np.concatenate(place).astype(np.int32), level, n_numbers)
    )


def _layout(X: Matrix) -> Layout:
    p = len(X)
    own = Layout(np.arange(p, dtype=np.int32), np.zeros(p, dtype=np.int32), p)
    return layout_of(X) or own


# Factors as growth reads them: one code for each row, not an indicator column for each level.


class Factors(NamedTuple):
    """The codes of factors, by which growth reads them.

    The columns of a factor are indicators, one for each level.  Growth moves and reads one code
    instead: so the cost of a node does not depend on the number of levels.  `codes` (F, n): the
    level of each row, 1, 2, …; 0 if it has none of the levels.  `place` (p,): -1 - f for a column
    of factor f; for another column its row in the array X of predictors.  `level` (p,): the level
    that a column of a factor indicates; 0 for other columns.
    """

    codes: NDArray[np.int32]
    place: NDArray[np.int32]
    level: NDArray[np.int32]


NO_FACTORS = Factors(
    np.empty((0, 0), dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
)
"""Of a table without factors."""


def factors_of(X: Matrix, feature_groups: FeatureGroups) -> Factors:
    """Return the codes of the factors in X (p, n)."""
    factors = np.flatnonzero(has_levels(feature_groups))
    if not len(factors):
        return NO_FACTORS
    first, layout, array = feature_groups.first, layout_of(X), stored(X)
    codes = np.zeros((len(factors), X.shape[1]), dtype=np.int32)
    place, level = np.arange(len(X), dtype=np.int32), np.zeros(len(X), dtype=np.int32)
    if layout is not None:
        place = layout.place.copy()
    for f, j in enumerate(factors):
        columns = np.arange(first[j], first[j + 1])
        level[columns] = 1 + np.arange(len(columns))
        if layout is not None and layout.level[first[j]] > 0:
            codes[f] = array[place[first[j]]]
        else:
            for column in columns:
                codes[f, array[place[column]] > 0] = level[column]
        place[columns] = -1 - f
    return Factors(codes, place, level)


def n_kept(X: NDArray[np.float32], factors: Factors) -> int:
    """Return how many numbers growth keeps of a row of the array X (r, n)."""
    n_factors = len(factors.codes)
    return int((factors.place >= 0).sum()) + n_factors if n_factors else len(X)


def narrowed(
    X: NDArray[np.float32], factors: Factors, columns: NDArray[np.int64]
) -> tuple[NDArray[np.float32], Factors]:
    """Return X and the factors of these columns (q,) alone, in their order."""
    if not len(factors.codes):
        return X[columns], factors
    place, level = factors.place[columns], factors.level[columns]
    others = place >= 0
    kept, number = np.unique(-1 - place[~others], return_inverse=True)
    renumbered = np.empty(len(place), dtype=np.int32)
    renumbered[~others], renumbered[others] = -1 - number, np.arange(others.sum())
    return X[place[others]], Factors(factors.codes[kept], renumbered, level)
