"""Encodings: how the values of an atom become one or more columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.listing import listed, rows_listed
from odrf.design.columns.unscaled import indicators
from odrf.design.columns.unseen_levels import say_unseen
from odrf.design.columns.values import Values
from odrf.errors import InputError

__all__ = [
    "BASIS",
    "EMPTY",
    "INDICATORS",
    "PLAIN",
    "Encoding",
    "Indicators",
    "Numbers",
    "Ranks",
    "observed_levels",
]

EMPTY = "[missing]"
"""The suffix of the column that tells the empty cells of a predictor from the others."""
PLAIN = 0
"""One numeric column."""
INDICATORS = 1
"""One 0/1 column per level, or combination of levels."""
BASIS = 2
"""Several numeric columns, such as a spline's."""


class Encoding(Protocol):
    """How values become columns of numbers."""

    @property
    def type(self) -> int:
        """`PLAIN`, `INDICATORS` or `BASIS`."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes that make the names of the k columns from the name of the atom."""

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the columns (k, n); raises `InputError` for values it cannot encode."""


@dataclass(frozen=True)
class Numbers:
    """Numbers as they are; True is 1."""

    suffixes: tuple[str, ...] = ("",)

    @property
    def type(self) -> int:
        """`PLAIN` for one column, `BASIS` for several."""
        return PLAIN if len(self.suffixes) == 1 else BASIS

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the numbers (k, n); raises `InputError` if k differs from that in training."""
        columns = pd.DataFrame(values.data).to_numpy(dtype=np.float64).T
        if len(columns) != len(self.suffixes):
            raise InputError(
                f"{values.name!r} gave {len(self.suffixes)} columns in training and gives "
                f"{len(columns)} now: make its number of columns independent of the data"
            )
        return columns


@dataclass(frozen=True, eq=False)
class Indicators:
    """One 0/1 column per level; no level is dropped, as trees need no contrasts.

    Attributes
    ----------
    levels : Index
        The levels that have a column.
    absent : Index
        Declared levels that no training row has.
    """

    levels: pd.Index
    absent: pd.Index = field(default_factory=lambda: pd.Index([], dtype=object))
    type: ClassVar[int] = INDICATORS

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The levels in brackets."""
        return tuple(f"[{level}]" for level in self.levels)

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the indicators (k, n): all 0 for a level that no training row has.

        Warns of such levels, as `codes`.
        """
        return indicators(self.codes(values), len(self.levels))

    def codes(self, values: Values) -> NDArray[np.int64]:
        """Return the number of the level of each row (n,): -1 for one that no training row has.

        Warns of such levels, declared or not: nothing is known of them.
        """
        labels = pd.Index(values.data, dtype=object)
        known = self.levels.difference(self.absent, sort=False)
        unseen = known.get_indexer(labels) < 0
        say_unseen(values.name, cast(pd.Series, values.data), unseen, known)
        return np.where(unseen, -1, self.levels.get_indexer(labels)).astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ordered categories as their ranks 1, 2, …, whether or not observed in training."""

    levels: pd.Index
    type: ClassVar[int] = PLAIN
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the ranks (1, n); raises `InputError` for an unknown category."""
        labels = pd.Index(values.data, dtype=object)
        codes = self.levels.get_indexer(labels)
        unknown = codes < 0
        if unknown.any():
            raise InputError(
                f"{values.name!r} has unknown levels {listed(labels[unknown].unique())} in "
                f"{rows_listed(unknown, values.data.index)}; known are {listed(self.levels, 10)}. "
                "It is an ordered factor: declare all its categories before fitting, so that each "
                "has a rank, recode these rows or leave them out"
            )
        return 1.0 + codes.astype(np.float64)[np.newaxis]


def observed_levels(data: pd.Series) -> pd.Index:
    """Return the levels in `data`: in the order of its categories, else sorted."""
    if isinstance(data.dtype, pd.CategoricalDtype):
        return data.cat.remove_unused_categories().cat.categories
    return pd.Index(data.unique()).sort_values()
