"""Splits and numbers as text: ``age <= 44.5``, ``sex in {a, b}``, ``0.42*bmi - 1.3*age <= 3``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import INDICATORS, Design
from odrf.design.encoding import Durations, Encoding, Indicators, Moments, Ranks
from odrf.design.missing import SURROGATE
from odrf.design.ranks import OwnRanks
from odrf.engine.trees.forest import Forest
from odrf.text.dates_in_words import moment
from odrf.text.level_sets import two_sets
from odrf.text.naming import names_in_sums
from odrf.text.own_values import own_value
from odrf.text.shortening import shortened
from odrf.text.units import user_splits

__all__ = ["LEAST_P", "SMALLER", "SplitText", "SplitWriter", "number", "p_in_words", "with_limits"]

LEAST_P = 1e-300
"""Smaller p-values are said to be smaller: floats have none much smaller but 0, which none is."""
SMALLER = f"< {LEAST_P:.0e}"


def number(value: float, digits: int = 4) -> str:
    """Return `value` with `digits` significant digits, large numbers without an exponent."""
    # from here on, rounding to so many digits gives 10^digits, which would have an exponent
    if math.isfinite(value) and 10**digits - 0.5 <= abs(value) < 1e12:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def p_in_words(p: float, digits: int = 3) -> str:
    """Return "= " and a p-value with `digits` significant digits, or a bound of a tiny one."""
    return SMALLER if p < LEAST_P else f"= {p:.{digits}g}"


def with_limits(estimate: float, low: float, high: float) -> str:
    """Return an estimate between 0 and 1 with its interval, if it has one."""
    limits = "no limits" if math.isnan(low) else f"{low:.3f} to {high:.3f}"
    return f"{estimate:.3f} ({limits})"


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
    missing : str
        Where rows with an empty cell go: ``"left"`` or ``"right"``, ``""`` if there were none in
        training, or if the `terms` are several.
    fills : tuple of str
        What empty cells of several terms count as: ``("bmi as 26.4",)``.
    """

    terms: tuple[str, ...]
    left: str
    right: str
    missing: str = ""
    fills: tuple[str, ...] = ()

    @property
    def to_left(self) -> str:
        """The condition for a row to go left, on one line."""
        return self._condition(self.left, "left")

    @property
    def to_right(self) -> str:
        """The condition for a row to go right, on one line."""
        return self._condition(self.right, "right")

    def _condition(self, comparison: str, side: str) -> str:
        words = [*self.terms, comparison]
        if self.missing == side:
            words.append("or missing")
        if self.fills:
            words.append(f"(missing {', '.join(self.fills)})")
        return " ".join(words)


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
    max_characters : int, optional
        Largest number of characters of a name or a level; longer ones are shortened in the middle.
    """

    def __init__(
        self,
        forest: Forest,
        design: Design,
        *,
        digits: int = 4,
        max_terms: int | None = None,
        max_characters: int | None = None,
    ) -> None:
        self._forest = forest
        self._design = design
        self._digits = digits
        self._max_terms = max_terms
        self._user = user_splits(forest, design)
        self._predictors, self._columns = names_in_sums(design, max_characters)
        self._max_characters = max_characters
        self._of_empty_cells = design.of_empty_cells

    def split(self, node: int) -> SplitText:
        """Return the split of `node`."""
        columns, coef, theta, threshold = self._terms(node)
        predictors = self._predictors_of(columns)
        empty = self._of_empty_cells[columns]
        if empty.all() and len(columns) == 1:
            return self._on_empty_cells(int(predictors[0]), float(coef[0]), threshold)
        if len(set(predictors)) == 1 and self._design.types[predictors[0]] == INDICATORS:
            return self._set(int(predictors[0]), columns, coef, threshold)
        terms = []
        for j in dict.fromkeys(predictors.tolist()):
            of_j = predictors == j
            levels = self._two_levels(j)
            if levels is None:
                terms += self._columns_of_sum(columns[of_j], coef[of_j], theta[of_j])
                continue
            # the two indicators add up to 1: a·first + b·second = (a - b)·first + b
            second = columns[of_j] != self._design.first[j]
            threshold -= float(coef[of_j][second].sum())
            signs = np.where(second, -1.0, 1.0)
            of_first, scaled = (float((signs * values[of_j]).sum()) for values in (coef, theta))
            if of_first != 0:
                name = f"({self._predictors[j]} in {{{self._short(levels[0])}}})"
                terms.append(_Term(name, of_first, scaled))
        if len(terms) == 1 and terms[0].column is not None:
            size, column = abs(terms[0].coef), terms[0].column
            text = self._single(column, terms[0].coef / size, threshold / size)
            fill = self._fills(node).get(column)
            if fill is None:
                return text
            missing = "left" if terms[0].coef * fill <= threshold else "right"
            return replace(text, missing=missing)
        fills = self._fills(node)
        return replace(
            self._sum(terms, threshold),
            fills=tuple(
                f"{self._columns[column]} as {self._in_unit(column, fill)}"
                for column, fill in fills.items()
            ),
        )

    def _fills(self, node: int) -> dict[int, float]:
        """Return by column what the empty cells of the terms of `node` count as."""
        terms = slice(self._forest.start[node], self._forest.start[node + 1])
        columns, fills = self._forest.index[terms], self._user.fill[terms]
        known = ~np.isnan(fills) & (self._user.coef[terms] != 0)
        return dict(zip(columns[known].tolist(), fills[known].tolist(), strict=True))

    def _on_empty_cells(self, predictor: int, coef: float, threshold: float) -> SplitText:
        left, right = "is known", "is missing"
        if coef <= threshold:
            left, right = right, left
        return SplitText((self._predictors[predictor],), left, right)

    def summed(self, node: int) -> dict[str, Encoding]:
        """Return the variables in the sum of `node`: by name how they become numbers."""
        columns = self._terms(node)[0]
        if len(columns) == 1:
            return {}
        recipe = self._design.recipe
        variables = [
            recipe.variables[v] for j in self._predictors_of(columns) for v in recipe.terms[j]
        ]
        return {variable.name: variable.encoding for variable in variables}

    def _terms(self, node: int) -> tuple[NDArray, NDArray, NDArray, float]:
        """Return columns and coefficients of a split, for both units of the data, and threshold."""
        terms = slice(self._forest.start[node], self._forest.start[node + 1])
        varies = (self._user.coef[terms] != 0) & ~self._user.told[terms]
        theta = self._forest.coef[terms][varies]
        threshold = float(self._user.threshold[node])
        return self._forest.index[terms][varies], self._user.coef[terms][varies], theta, threshold

    def _predictors_of(self, columns: NDArray) -> NDArray[np.int64]:
        return np.searchsorted(self._design.first, columns, side="right") - 1

    def _two_levels(self, predictor: int) -> pd.Index | None:
        """Return the levels of a factor that has no others than two, else None."""
        term = self._design.recipe.terms[predictor]
        encoding = self._design.recipe.variables[term[0]].encoding
        if len(term) > 1 or not isinstance(encoding, Indicators) or len(encoding.absent):
            return None
        if self._design.recipe.holes[predictor]:
            return None
        return encoding.levels if len(encoding.levels) == 2 else None

    def _columns_of_sum(self, columns: NDArray, coef: NDArray, theta: NDArray) -> list[_Term]:
        return [
            _Term(self._columns[column], float(user), float(scaled), int(column))
            for column, user, scaled in zip(columns, coef, theta, strict=True)
        ]

    def _single(self, column: int, coef: float, threshold: float) -> SplitText:
        point, increasing = coef * threshold, coef > 0
        unit = float(self._design.scaling.range[column])
        match _encoding_of(self._design, column):
            case Ranks(levels):
                # rank r is levels[r - 1]: name the last level that goes left
                last = math.floor(point) - 1 if increasing else math.ceil(point) - 1
                text = self._short(levels[last])
            case OwnRanks() as ranks:
                text = own_value(ranks, point, increasing)
            case Moments() as dates:
                text = moment(dates, point, unit * 10.0**-self._digits)
            case Durations():
                text = f"{_rounded(point, unit, self._digits)} s"
            case _:
                text = self._in_unit(column, point)
        signs = ("<=", ">") if increasing else (">=", "<")
        return SplitText((self._columns[column],), f"{signs[0]} {text}", f"{signs[1]} {text}")

    def _set(self, predictor: int, columns: NDArray, coef: NDArray, threshold: float) -> SplitText:
        # one indicator of a row is 1, so the projection is the coefficient of that level
        first, last = self._design.first[predictor : predictor + 2]
        if self._design.recipe.holes[predictor] and self._design.missing == SURROGATE:
            last -= 1  # the level of empty cells, which surrogates send
        projection = np.zeros(last - first)
        projection[columns - first] = coef
        has_coefficient = np.isin(np.arange(first, last), columns)
        name = self._design.predictors[predictor]
        levels = [self._short(_level(column, name)) for column in self._design.columns[first:last]]
        left, right = two_sets(
            levels, has_coefficient, projection <= threshold, threshold >= 0, self._max_terms
        )
        return SplitText((self._predictors[predictor],), left, right)

    def _in_unit(self, column: int, value: float) -> str:
        return _rounded(value, float(self._design.scaling.range[column]), self._digits)

    def _short(self, level: Any) -> str:
        most = self._max_characters
        return str(level) if most is None else shortened(str(level), most)

    def _sum(self, terms: list[_Term], threshold: float) -> SplitText:
        ordered = sorted(terms, key=lambda term: -abs(term.theta))
        shown = [_signed(term, self._digits) for term in ordered[: self._max_terms]]
        first = shown[0][2:] if shown[0].startswith("+") else f"-{shown[0][2:]}"
        words = [first, *shown[1:]]
        if len(terms) > len(shown):
            words.append(f"+ {len(terms) - len(shown)} more")
        # θ has length 1 and predictors are in [0, 1]: projections have a range of about 1
        point = _rounded(threshold, 1.0, self._digits)
        return SplitText(tuple(words), f"<= {point}", f"> {point}")


@dataclass(frozen=True)
class _Term:
    """A term of a sum: its coefficients for the units of the data and for scaled columns.

    `column` is None for a factor.
    """

    name: str
    coef: float
    theta: float
    column: int | None = None


def _signed(term: _Term, digits: int) -> str:
    sign = "-" if term.coef < 0 else "+"
    return f"{sign} {number(abs(term.coef), digits)}*{term.name}"


def _level(column: str, predictor: str) -> str:
    """Return the level in an indicator's name: ``male`` of ``sex[male]``."""
    if column.startswith(f"{predictor}[") and column.endswith("]"):
        return column[len(predictor) + 1 : -1]
    return column


def _encoding_of(design: Design, column: int) -> Encoding | None:
    """Return how the column of a predictor that is no product becomes numbers, else None."""
    predictor = int(np.searchsorted(design.first, column, side="right")) - 1
    term = design.recipe.terms[predictor]
    return design.recipe.variables[term[0]].encoding if len(term) == 1 else None
