"""Rows whose predicted probabilities are compared with their classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["ClassEvents", "JudgedRows"]


class ClassEvents(NamedTuple):
    """One class as an event: its label, probabilities (n,) and whether it happened (n,)."""

    label: object
    p: NDArray[np.float64]
    event: NDArray[np.float64]


class JudgedRows(NamedTuple):
    """Rows with predicted probabilities and observed classes.

    Attributes
    ----------
    probabilities : (n, K) float64
    code : (n,) int64
        The observed class.
    weights : (n,) float64
    classes : Index
    source : str
        Which rows they are and how they were predicted, in words.
    groups : (n,) int64 or None
        The group of each row, of a fit with groups: these are independent of each other.
    """

    probabilities: NDArray[np.float64]
    code: NDArray[np.int64]
    weights: NDArray[np.float64]
    classes: pd.Index
    source: str
    groups: NDArray[np.int64] | None = None

    def facts(self) -> dict[str, str]:
        """Return how many rows, and groups of rows, there are, for summaries."""
        rows = {"Rows": f"{len(self.code)} {self.source}"}
        if self.groups is None:
            return rows
        return rows | {"Independent": f"{len(np.unique(self.groups))} groups of rows"}

    def events(self) -> list[ClassEvents]:
        """Return each class as an event; of two classes the second, of others those that occur.

        An event that never or always happens is left out.
        """
        codes = range(1, 2) if len(self.classes) == 2 else range(len(self.classes))
        found = [
            ClassEvents(self.classes[k], self.probabilities[:, k], (self.code == k).astype(float))
            for k in codes
        ]
        return [each for each in found if 0 < each.event.sum() < len(each.event)]
