"""Some rows of the columns that a fit uses, read once for all checks of its data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design
from odrf.design.chunks import StreamedRows
from odrf.design.response import Response
from odrf.fits.data_checks.table_columns import numpy_columns, plain_numbers, rows_drawn
from odrf.fits.fit import AnyFit

__all__ = ["RowsLookedAt", "first_rows_looked_at", "rows_looked_at"]

# Of large tables so many cells are read, but so many rows at least.
CELLS, FEWEST_ROWS = 4_000_000, 2000


class RowsLookedAt(NamedTuple):
    """Rows with which a fit was made.

    Attributes
    ----------
    data : DataFrame
        All rows of the table.
    row : (m,) int64
        The rows that are looked at.
    response : Response
    y : (m,) float64
        Their responses, or codes of classes.
    predictors : list of str
        Columns that the predictors are computed from.
    numbers : dict
        Those that are NumPy's numbers, as (m,) float64.  Thousands of these are read at once; one
        at a time they would take as long as a fit.
    """

    data: pd.DataFrame
    row: NDArray[np.int64]
    response: Response
    y: NDArray[np.float64]
    predictors: list[str]
    numbers: dict[str, NDArray[np.float64]]

    def column(self, name: str) -> pd.Series:
        """Return the rows of a column of any type."""
        return self.data[name].iloc[self.row]

    def numbers_in(self, name: str) -> NDArray[np.float64] | None:
        """Return the rows of a column of real numbers, missing ones as NaN; None for others."""
        known = self.numbers.get(name)
        return plain_numbers(self.column(name)) if known is None else known


def rows_looked_at(fit: AnyFit, data: pd.DataFrame) -> RowsLookedAt:
    """Return the rows of the table `data` that checks look at: all, or of a large one some."""
    used = np.flatnonzero(fit.data.complete)
    n_columns = max(1, len(_predictors(fit.design, data)))
    place = rows_drawn(np.arange(len(used)), max(FEWEST_ROWS, CELLS // n_columns))
    return _looked_at(fit.design, data, used[place], fit.data.y[place])


def first_rows_looked_at(rows: StreamedRows) -> RowsLookedAt:
    """Return the first of the rows in chunks, which checks look at before trees are grown."""
    frame = rows.reader.frame(rows.first)
    # a chunk without any response may hold nothing that tells it from text
    y = rows.reader.responses(frame).y if len(frame) else np.empty(0)
    return _looked_at(rows.design, frame, np.arange(len(frame)), y)


def _predictors(design: Design, data: pd.DataFrame) -> list[str]:
    there = set(data.columns)
    return [name for name in design.schema.columns if name in there]


def _looked_at(
    design: Design, data: pd.DataFrame, row: NDArray[np.int64], y: NDArray[np.float64]
) -> RowsLookedAt:
    names = _predictors(design, data)
    numbers = numpy_columns(data, names)
    table = data[numbers]
    values = (table if len(row) == len(data) else table.iloc[row]).to_numpy(dtype=np.float64)
    columns = dict(zip(numbers, np.ascontiguousarray(values.T), strict=True))
    return RowsLookedAt(data, row, design.response, y, names, columns)
