"""Splits and numbers in words: ``age <= 44.5``, ``sex in {a, b}``, ``0.42*bmi - 1.3*age <= 3``."""

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
    """Write `value` with `digits` significant digits, large numbers without an exponent."""
    if math.isfinite(value) and 10**digits <= abs(value) < 1e12:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def _rounded(value: float, unit: float, digits: int) -> str:
    """Write `value` to 10^-digits of `unit`, the spread of what it divides.

    A year of 1998.5 among years 1970 to 2000 needs its decimal, however many digits precede it.
    """
    decimals = digits - math.floor(math.log10(unit))
    if abs(decimals) > 12:
        return number(value, digits)
    text = f"{value:.{max(decimals, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


@dataclass(frozen=True)
class SplitText:
    """One split in words.

    Attributes
    ----------
    terms : tuple of str
        What is compared, in pieces that belong on one line each: ``("0.42*bmi", "- 1.3*age")``.
    left, right : str
        The comparison under which a row goes left, and right: ``"<= 3.2"`` and ``"> 3.2"``.
    """

    terms: tuple[str, ...]
    left: str
    right: str

    @property
    def to_left(self) -> str:
        """The rule under which a row goes left, on one line."""
        return " ".join([*self.terms, self.left])

    @property
    def to_right(self) -> str:
        """The rule under which a row goes right, on one line."""
        return " ".join([*self.terms, self.right])


class SplitWriter:
    """Writes the splits of a forest in its user's names and units.

    Parameters
    ----------
    forest : Forest
    design : Design
    digits : int, default 4
        Significant digits of coefficients; thresholds are exact to 10^-digits of the spread
        of what they divide.
    max_terms : int, optional
        Keep only so many terms of a sum (the largest in scaled units), or levels of a set, and
        say how many are missing.  By default all are written.
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
        """Write the split of `node`."""
        at = slice(self._forest.start[node], self._forest.start[node + 1])
        varies = self._user.coef[at] != 0
        columns = self._forest.index[at][varies]
        coef = self._user.coef[at][varies]
        threshold = float(self._user.threshold[node])
        predictors = np.searchsorted(self._design.first, columns, side="right") - 1
        if len(set(predictors)) == 1 and self._design.types[predictors[0]] == INDICATORS:
            return self._set(int(predictors[0]), columns, coef, threshold)
        if len(columns) == 1:
            return self._single(int(columns[0]), float(coef[0]), threshold)
        size = np.abs(self._forest.coef[at][varies])
        return self._sum(columns, coef, size, threshold)

    def _single(self, column: int, coef: float, threshold: float) -> SplitText:
        point, increasing = coef * threshold, coef > 0
        ranks = _ranked_levels(self._design, column)
        if ranks is None:
            text = _rounded(point, float(self._design.scaling.range[column]), self._digits)
        else:
            # rank r is ranks[r - 1]: name the last level that still goes left
            text = str(ranks[math.floor(point) - 1 if increasing else math.ceil(point) - 1])
        signs = ("<=", ">") if increasing else (">=", "<")
        return SplitText(
            (self._design.columns[column],), f"{signs[0]} {text}", f"{signs[1]} {text}"
        )

    def _set(self, predictor: int, columns: NDArray, coef: NDArray, threshold: float) -> SplitText:
        # exactly one indicator of a row is 1, so its projection is that level's coefficient
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
        more = len(levels) - len(shown)
        return "{" + ", ".join(shown + ([f"+{more} more"] if more else [])) + "}"

    def _sum(self, columns: NDArray, coef: NDArray, size: NDArray, threshold: float) -> SplitText:
        kept = np.argsort(-size, kind="stable")[: self._max_terms]
        terms = []
        for at in kept:
            sign = "-" if coef[at] < 0 else "+"
            factor = f"{number(abs(float(coef[at])), self._digits)}*"
            terms.append(f"{sign} {factor}{self._design.columns[columns[at]]}")
        terms[0] = terms[0].removeprefix("+ ").replace("- ", "-", 1)
        if len(columns) > len(kept):
            terms.append(f"+ {len(columns) - len(kept)} more")
        # θ has length 1 on predictors in [0, 1]: they spread over about one unit
        point = _rounded(threshold, 1.0, self._digits)
        return SplitText(tuple(terms), f"<= {point}", f"> {point}")


def _level(column: str, predictor: str) -> str:
    """Return the level in an indicator's name: ``male`` of ``sex[male]``."""
    if column.startswith(f"{predictor}[") and column.endswith("]"):
        return column[len(predictor) + 1 : -1]
    return column


def _ranked_levels(design: Design, column: int) -> pd.Index | None:
    """Return the levels, lowest first, if the column holds the ranks of an ordered factor."""
    predictor = int(np.searchsorted(design.first, column, side="right")) - 1
    term = design.recipe.terms[predictor]
    encoding = design.recipe.variables[term[0]].encoding
    return encoding.levels if len(term) == 1 and isinstance(encoding, Ranks) else None
