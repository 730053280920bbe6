"""The columns of a table before scaling: numbers, and the levels of factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design.columns.scaling import Scaling, learn_scaling
from odrf.engine.directions.candidates import FEW_LEVELS
from odrf.engine.rows.coded import Coded, Layout, Matrix

__all__ = ["Levels", "Unscaled", "indicators"]


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
    """p columns of n rows, of which the indicators of factors are not made before they are scaled.

    A factor of many levels has far more indicators than a table has other columns.

    Attributes
    ----------
    numbers : (q, n) float64
        The columns that are not indicators of a factor.
    at : (q,) int64
        Which of the p columns they are.
    factors : tuple of Levels
    """

    numbers: NDArray[np.float64]
    at: NDArray[np.int64]
    factors: tuple[Levels, ...]

    def scaling(self, names: Sequence[str]) -> Scaling:
        """Return the scaling of these training columns, n ≥ 1, with these names (p,).

        Raises
        ------
        InputError
            As `learn_scaling`.
        """
        p, n = len(names), self.numbers.shape[1]
        low, span = np.empty(p), np.empty(p)
        of_numbers = learn_scaling(self.numbers, [names[j] for j in self.at])
        low[self.at], span[self.at] = of_numbers.low, of_numbers.range
        holes = np.zeros(p, dtype=np.bool_)
        holes[self.at] = of_numbers.holes
        for first, width, codes in self.factors:
            count = np.bincount(codes[codes >= 0], minlength=width)
            low[first : first + width] = count == n
            span[first : first + width] = (count > 0) & (count < n)
        return Scaling(low, span, holes)

    def scaled(self, scaling: Scaling, unknown: float = 0.0) -> Matrix:
        """Return the columns (p, n) scaled; the memory of `numbers` is overwritten.

        In a row that has none of the levels of a factor of few levels, all its indicators are
        `unknown`; the code of many levels is 0, which counts as about their mean score.
        """
        span = scaling.range
        numbers = scaling.of(self.at).apply(self.numbers)
        if not self.factors:
            return numbers
        layout = self._layout(len(span))
        n_rows = layout.n_numbers + sum(each.width > FEW_LEVELS for each in self.factors)
        stored = np.zeros((n_rows, numbers.shape[1]), dtype=np.float32)
        stored[layout.place[self.at]] = numbers
        for first, width, codes in self.factors:
            # a level that all training rows have, or none, says nothing
            says = np.flatnonzero((codes >= 0) & (span[first + np.maximum(codes, 0)] > 0))
            column = first + codes[says]
            is_code = width > FEW_LEVELS
            stored[layout.place[column], says] = layout.level[column] if is_code else 1.0
            if not is_code:
                without = np.flatnonzero(codes < 0)
                stored[np.ix_(layout.place[first : first + width], without)] = unknown
        return Coded(stored, layout) if layout.level.any() else stored

    def _layout(self, p: int) -> Layout:
        """Return where the p columns are, if factors of many levels are stored as codes."""
        factor = np.zeros(p, dtype=np.int32)
        level = np.zeros(p, dtype=np.int32)
        many = [each for each in self.factors if each.width > FEW_LEVELS]
        for f, (first, width, _) in enumerate(many):
            factor[first : first + width] = f
            level[first : first + width] = np.arange(1, width + 1)
        is_number = level == 0
        n_numbers = int(is_number.sum())
        place = np.where(is_number, np.cumsum(is_number) - 1, n_numbers + factor)
        return Layout(place.astype(np.int32), level, n_numbers)


def indicators(codes: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    """Return the indicators (width, n) of levels with these codes (n,); all 0 for a code of -1."""
    columns, seen = np.zeros((width, len(codes))), np.flatnonzero(codes >= 0)
    columns[codes[seen], seen] = 1.0
    return columns
