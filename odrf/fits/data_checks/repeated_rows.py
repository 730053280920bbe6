"""Whether the rows of a fit are repeated measurements, by a column of the data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.fits.data_checks.table_columns import CandidateGroups, candidate_groups, numbers_or_labels
from odrf.fits.fit import AnyFit
from odrf.statistics.data_checks import Repetition, repetition

__all__ = ["RepeatedRows", "repeated_rows"]

# Of more predictors some are looked at.
MOST_PREDICTORS = 30


class RepeatedRows(NamedTuple):
    """The column within whose values others hardly vary, and how many of these do."""

    column: str
    found: Repetition


def repeated_rows(fit: AnyFit, data: pd.DataFrame) -> RepeatedRows | None:
    """Return the column of `data` by which the training rows are repeated measurements.

    Of several, the one within which the others vary least.

    Columns outside of the formula count, too: a subject is often left out of the predictors.  None
    if there is no such column.
    """
    response = set(fit.design.response.columns)
    names = [name for name in data.columns if isinstance(name, str) and name not in response]
    rows = np.flatnonzero(fit.data.complete)
    table, all_found = _Table(fit, data), []
    for candidate in candidate_groups(data, names, rows):
        found = repetition(candidate.codes, table.columns(candidate), candidate.numbered)
        if found is not None:
            all_found.append(RepeatedRows(candidate.name, found))
    return min(all_found, key=lambda each: each.found.mean, default=None)


class _Table:
    """The response and some predictors of rows, as numbers."""

    def __init__(self, fit: AnyFit, data: pd.DataFrame) -> None:
        predictors = [name for name in fit.design.schema.columns if name in data.columns]
        step = -(-len(predictors) // MOST_PREDICTORS) if predictors else 1
        self.names, self.data = predictors[::step], data
        y = fit.data.y
        codes = y.astype(np.int64) if fit.design.response.classes is not None else None
        of_used = y if codes is None else (codes == np.bincount(codes).argmax()).astype(np.float64)
        self.y = np.zeros(len(data))
        self.y[fit.data.complete] = of_used
        self.rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.read: dict[str, NDArray[np.float64]] = {}

    def columns(self, candidate: CandidateGroups) -> NDArray[np.float64]:
        """Return the columns (q, m) of the rows of a candidate, without itself."""
        if candidate.rows is not self.rows:
            self.rows = candidate.rows
            found = {
                name: numbers_or_labels(self.data[name].iloc[self.rows]) for name in self.names
            }
            self.read = {name: values for name, values in found.items() if values is not None}
        others = [values for name, values in self.read.items() if name != candidate.name]
        return np.array([self.y[candidate.rows], *others])
