"""Missing values: where they are, and how they are treated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.design.columns.frame import column_blocks
from odrf.errors import InputError

__all__ = ["MISSING", "SURROGATE", "Missing", "find_missing", "require_no_surrogates"]

SURROGATE = "surrogate"
MISSING = ("split", SURROGATE, "median", "drop", "raise")
"""The known treatments of missing values."""

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Missing:
    """Missing values of a data frame.

    Attributes
    ----------
    complete : (n,) bool
        True for the rows that have none.
    counts : dict
        Missing values per column, most first; columns without any are left out.
    """

    complete: NDArray[np.bool_]
    counts: dict[str, int]

    @property
    def n_incomplete(self) -> int:
        """Number of rows with a missing value."""
        return int((~self.complete).sum())

    def __str__(self) -> str:
        shown = [f"{name!r} ({count})" for name, count in list(self.counts.items())[:_SHOWN]]
        rest = len(self.counts) - len(shown)
        columns = ", ".join(shown) + (f" and {rest} more columns" if rest else "")
        return f"{self.n_incomplete} of {len(self.complete)} rows have missing values, in {columns}"

    def complete_rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of `frame` (n rows) that have no missing value."""
        return frame if self.complete.all() else frame[self.complete]

    def require_none(self) -> None:
        """Raise `InputError` with the numbers of missing values per column, if there are any."""
        if self.counts:
            raise InputError(
                f'{self}: fit with missing="split", which keeps these rows, or fill them in'
            )


def require_no_surrogates(missing: str) -> None:
    """Raise `InputError` unless `missing` is a choice of all models: surrogates only `odt` has."""
    if isinstance(missing, str) and missing == SURROGATE:
        raise InputError(
            'missing="surrogate" is for single trees, whose splits are read one by one: use '
            'missing="split", or grow a tree with odt()'
        )
    checked_choice("missing", missing, [choice for choice in MISSING if choice != SURROGATE])


def find_missing(frame: pd.DataFrame, columns: Sequence[str]) -> Missing:
    """Find missing values (None, NaN, NA, NaT) in `columns` of `frame`."""
    complete = np.ones(len(frame), dtype=np.bool_)
    counts: NDArray[np.int64] = np.zeros(len(columns), dtype=np.int64)
    for at, block in column_blocks(frame, columns):
        if _is_full(block):
            continue
        absent = np.asarray(block.isna(), dtype=np.bool_)
        counts[at] = absent.sum(axis=0)
        complete &= ~absent.any(axis=1)
    order = np.argsort(-counts, kind="stable")
    return Missing(
        complete=complete,
        counts={columns[j]: int(counts[j]) for j in order if counts[j] > 0},
    )


def _is_full(block: pd.DataFrame) -> bool:
    """Return whether a block of numbers has no missing value; False also where that is not sure."""
    # a factor of whole numbers may lose its empty cells among whole numbers
    if not all(isinstance(dtype, np.dtype) for dtype in block.dtypes.array):
        return False
    values = block.to_numpy()
    if values.dtype.kind != "f":
        return values.dtype.kind in "biu"
    # a sum is not a number if one of its terms is not
    with np.errstate(all="ignore"):
        return not np.isnan(values.sum())
