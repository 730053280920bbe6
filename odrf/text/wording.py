"""Splits and numbers as text: ``age <= 44.5``, ``sex in {a, b}``, ``0.42*bmi - 1.3*age <= 3``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import INDICATORS, Design
from odrf.design.columns.encoding import Ranks
from odrf.engine.trees.forest_arrays import Forest
from odrf.text.units import user_splits

__all__ = ["SplitText", "SplitWriter", "number"]


def number(value: float, digits: int = 4) -> str:
    """Return `value` with `digits` significant digits, large numbers without an exponent."""
    if math.isfinite(value) and 10**digits <= abs(value) < 1e12:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def _rounded(value: float, unit: float, digits: int) -> str:
    """Return `value` rounded to 10^-digits of `unit`, the range of the variable.

    The threshold 1998.5 among years 1970 to 2000 needs its decimal, whatever its size.
    """
    decimals = digits - math.floor(math.log10(unit))
    if abs(decimals) > 12:
        return number(value, digits)
    text = f"{value:.{max(decimals, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


@dataclass(frozen=True)
class SplitText:
    """One split as text.

    Attributes
    ----------
    terms : tuple of str
        The terms of the left-hand side, not to be broken across lines:
        ``("0.42*bmi", "- 1.3*age")``.
    left, right : str
        The comparisons of rows that go left and right: ``"<= 3.2"`` and ``"> 3.2"``.
    """

    terms: tuple[str, ...]
    left: str
    right: str

    @property
    def to_left(self) -> str:
        """The condition for a row to go left, on one line."""
        return " ".join([*self.terms, self.left])

    @property
    def to_right(self) -> str:
        """The condition for a row to go right, on one line."""
        return " ".join([*self.terms, self.right])


class SplitWriter:
    """Writes the splits of a forest in the names and units of the data.

    Parameters
    ----------
    forest : Forest
    design : Design
    digits : int, default 4
        Significant digits of coefficients; thresholds are rounded to 10^-digits of the range of
        the variable.
    max_terms : int, optional
        Largest number of terms of a linear combination (those with the largest coefficients for
        predictors scaled to [0, 1]), or of levels of a set; the number of others is added.  By
        default all are written.
    """

    def __init__(
        self, forest: Forest, design: Design, *, digits: int = 4, max_terms: int | None = None
    ) -> None:
        self._forest = forest
        self._design = design
        self._digits = digits
        self._max_terms = max_terms
        self._user = user_splits(forest, design)

    def split(self, node: int) -> SplitText:
        """Return the split of `node`."""
        terms = slice(self._forest.start[node], self._forest.start[node + 1])
        varies = self._user.coef[terms] != 0
        columns = self._forest.index[terms][varies]
        coef = self._user.coef[terms][varies]
        threshold = float(self._user.threshold[node])
        predictors = np.searchsorted(self._design.first, columns, side="right") - 1
        if len(set(predictors)) == 1 and self._design.types[predictors[0]] == INDICATORS:
            return self._set(int(predictors[0]), columns, coef, threshold)
        if len(columns) == 1:
            return self._single(int(columns[0]), float(coef[0]), threshold)
        size = np.abs(self._forest.coef[terms][varies])
        return self._sum(columns, coef, size, threshold)

    def _single(self, column: int, coef: float, threshold: float) -> SplitText:
        point, increasing = coef * threshold, coef > 0
        ranks = _ranked_levels(self._design, column)
        if ranks is None:
            text = _rounded(point, float(self._design.scaling.range[column]), self._digits)
        else:
            # rank r is ranks[r - 1]: name the last level that goes left
            text = str(ranks[math.floor(point) - 1 if increasing else math.ceil(point) - 1])
        signs = ("<=", ">") if increasing else (">=", "<")
        return SplitText(
            (self._design.columns[column],), f"{signs[0]} {text}", f"{signs[1]} {text}"
        )

    def _set(self, predictor: int, columns: NDArray, coef: NDArray, threshold: float) -> SplitText:
        # one indicator of a row is 1, so the projection is the coefficient of that level
        first, last = self._design.first[predictor : predictor + 2]
        projection = np.zeros(last - first)
        projection[columns - first] = coef
        goes_left = projection <= threshold
        name = self._design.predictors[predictor]
        levels = np.array(
            [_level(column, name) for column in self._design.columns[first:last]], dtype=object
        )
        return SplitText(
            (name,),
            f"in {self._listed(levels[goes_left])}",
            f"in {self._listed(levels[~goes_left])}",
        )

    def _listed(self, levels: NDArray) -> str:
        shown = [str(level) for level in levels[: self._max_terms]]
        others = len(levels) - len(shown)
        return "{" + ", ".join(shown + ([f"+{others} more"] if others else [])) + "}"

    def _sum(self, columns: NDArray, coef: NDArray, size: NDArray, threshold: float) -> SplitText:
        kept = np.argsort(-size, kind="stable")[: self._max_terms]
        terms = []
        for j in kept:
            sign = "-" if coef[j] < 0 else "+"
            factor = f"{number(abs(float(coef[j])), self._digits)}*"
            terms.append(f"{sign} {factor}{self._design.columns[columns[j]]}")
        terms[0] = terms[0].removeprefix("+ ").replace("- ", "-", 1)
        if len(columns) > len(kept):
            terms.append(f"+ {len(columns) - len(kept)} more")
        # θ has length 1 and predictors are in [0, 1]: projections have a range of about 1
        point = _rounded(threshold, 1.0, self._digits)
        return SplitText(tuple(terms), f"<= {point}", f"> {point}")


def _level(column: str, predictor: str) -> str:
    """Return the level in an indicator's name: ``male`` of ``sex[male]``."""
    if column.startswith(f"{predictor}[") and column.endswith("]"):
        return column[len(predictor) + 1 : -1]
    return column


def _ranked_levels(design: Design, column: int) -> pd.Index | None:
    """Return the levels, lowest first, of a column of ranks of an ordered factor, else None."""
    predictor = int(np.searchsorted(design.first, column, side="right")) - 1
    term = design.recipe.terms[predictor]
    encoding = design.recipe.variables[term[0]].encoding
    return encoding.levels if len(term) == 1 and isinstance(encoding, Ranks) else None
