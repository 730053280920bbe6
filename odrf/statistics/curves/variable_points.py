"""A variable, the points at which predictions are averaged, and where the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.text.splits import number

__all__ = ["VariablePoints"]


@dataclass(frozen=True, eq=False)
class VariablePoints:
    """A variable and its points.

    Attributes
    ----------
    name : str
        The column of the data.
    values : (G,) array
        Numbers, rising; or levels of a factor.
    numeric : bool
        Whether they are numbers.
    observed : (n,) float64
        Where the rows are: their numbers, or the positions of their levels among `values`.  NaN for
        an empty cell, or a level that is not among them.
    """

    name: str
    values: NDArray[Any]
    numeric: bool
    observed: NDArray[np.float64]

    @property
    def at(self) -> NDArray[np.float64]:
        """(G,) Where the points are on an axis: numbers, or 0, 1, … for levels."""
        numbers = self.values if self.numeric else np.arange(len(self.values))
        return np.asarray(numbers, dtype=np.float64)

    @property
    def labels(self) -> list[str]:
        """(G,) The points as text."""
        return [number(float(one)) if self.numeric else str(one) for one in self.values]

    @property
    def nearest(self) -> NDArray[np.int64]:
        """(n,) The number of the point that is nearest to each row; -1 for those without any."""
        known = ~np.isnan(self.observed)
        out = np.full(len(known), -1, dtype=np.int64)
        if self.numeric:
            middles = (self.at[1:] + self.at[:-1]) / 2
            out[known] = np.searchsorted(middles, self.observed[known])
        else:
            out[known] = self.observed[known].astype(np.int64)
        return out

    @property
    def rows(self) -> NDArray[np.int64]:
        """(G,) How many rows are nearer to each point than to the others."""
        nearest = self.nearest
        return np.bincount(nearest[nearest >= 0], minlength=len(self.values))
