"""Splits and numbers as text: ``age <= 44.5``, ``sex in {a, b}``, ``0.42*bmi - 1.3*age <= 3``."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import INDICATORS, Design
from odrf.design.encoding import TICKS, Durations, Encoding, Indicators, Moments, Ranks
from odrf.design.missing import SURROGATE
from odrf.design.ranks import OwnRanks
from odrf.engine.directions.missing import FILL
from odrf.engine.trees.forest import Forest, node_of_terms, predicted_classes
from odrf.text.names import names_in_sums, shortened


@dataclass(frozen=True)
class UserSplits:
    """Directions and thresholds of a forest's m nodes, for predictors in the units of the data.

    A split on a single column is divided by the absolute value of its coefficient, so that it is
    ±1·column ≤ t, whatever its missing indicator.  `coef` (z,): θ_j / range_j; 0 for a constant
    column.  `threshold` (m,): s + Σ θ_j·low_j / range_j; NaN without a split.  `fill` (z,): the
    imputation value of the term, ±∞ in a split on one predictor; NaN where there is none.
    `described` (z,): whether the term is a missing indicator that another one's `fill` describes.
    """

    coef: NDArray[np.float64]
    threshold: NDArray[np.float64]
    fill: NDArray[np.float64]
    described: NDArray[np.bool_]


def user_splits(forest: Forest, design: Design) -> UserSplits:
    """Return the splits of the forest in the units of the data."""
    low, span = design.scaling.low[forest.index], design.scaling.range[forest.index]
    varies = span > 0
    coef = np.divide(forest.coef, span, out=np.zeros(len(span)), where=varies)
    node = node_of_terms(forest)

    def per_node(terms: NDArray) -> NDArray[np.float64]:
        return np.bincount(node, weights=terms, minlength=forest.n_nodes).astype(np.float64)

    threshold = forest.threshold + per_node(coef * low)
    numbers = varies & ~design.of_empty_cells[forest.index]
    n_numbers = per_node(numbers)
    size = np.where(n_numbers == 1, per_node(np.abs(coef) * numbers), 1.0)
    return UserSplits(coef / size[node], threshold / size, *_fills(forest, design, node))


def _fills(
    forest: Forest, design: Design, node: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return `fill` and `described` of `UserSplits`; `node` (z,) is that of each coefficient."""
    fills = np.full(len(forest.index), np.nan)
    described = np.zeros(len(forest.index), dtype=np.bool_)
    if not design.has_fills:
        return fills, described
    column = missing_indicators(design)
    terms = np.flatnonzero(column[forest.index] >= 0)
    if not len(terms):
        return fills, described
    p = len(design.columns)
    key = node * p + forest.index
    of_empty_cells = np.flatnonzero(design.of_empty_cells[forest.index])
    in_order = of_empty_cells[np.argsort(key[of_empty_cells], kind="stable")]
    wanted = node[terms] * p + column[forest.index[terms]]
    at = np.searchsorted(key[in_order], wanted)
    entry = np.append(in_order, -1)[at]
    same = (entry >= 0) & (key[entry] == wanted)
    coef = np.where(same, forest.coef[entry], 0.0)
    described[entry[same]] = True
    scaling, columns = design.scaling, forest.index[terms]
    scaled = (coef / forest.coef[terms]).astype(np.float64)
    scaled[np.abs(scaled) >= FILL] *= np.inf
    fills[terms] = scaling.low[columns] + scaling.range[columns] * scaled
    return fills, described


def missing_indicators(design: Design) -> NDArray[np.int64]:
    """Return the missing indicator (p,) of each column of numbers; -1 of those without one."""
    indicator = np.full(len(design.columns), -1)
    groups = design.feature_groups
    if groups.holes is not None:
        first = design.first[:-1][groups.holes & (np.diff(groups.first) == 2)]
        indicator[first] = first + 1
    return indicator


# Cuts of ranked columns as text, in the values of the data.

FEWEST_DIGITS, MOST_DIGITS = 4, 17


def rank_label(encoding: OwnRanks, rank: float, increasing: bool) -> str:
    """Return the value at a rank as text; with `increasing` rows of at most it go left."""
    value = encoding.value(rank)
    whole = math.floor(value) if increasing else math.ceil(value)
    match encoding.base:
        case Moments() as dates:
            return str(dates.stamp_of(whole))
        case Durations(unit):
            return f"{float(Fraction(whole, TICKS[unit])):.15g} s"
    if encoding.values.dtype.kind in "iu":
        return str(whole)
    low, high = encoding.value(math.floor(rank)), encoding.value(math.ceil(rank))
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        text = f"{float(value):.{digits}g}"
        written = float(text)
        if (low <= written < high) if increasing else (low < written <= high):
            return text
    return repr(float(low if increasing else high))


# A side of more levels is written as what is not on the other side, if that has no more than these.
MOST_LEVELS = 12


def two_sets(
    levels: Sequence[str], has_coefficient: NDArray[np.bool_], left: NDArray[np.bool_],
    others_left: bool, most: int | None = None,
) -> tuple[str, str]:  # fmt: skip
    """Return the sides that go left and right: ``in {a, b}``, ``in {c, others}``, ``not in {a}``.

    `has_coefficient` (L,) marks the levels with a coefficient in the split.  The rest go with a row
    without any level; most often they are absent from the node.  `left` (L,) marks the levels that
    go left; `others_left`: a row without any level does.  At most `most` levels of a set are
    written, by default all.

    Examples
    --------
    >>> two_sets(["a", "b", "c"], np.array([True, True, False]), np.array([1, 0, 0]) > 0, False)
    ('in {a}', 'in {b, others}')
    """
    near = left == others_left
    listed = [level for level, shown in zip(levels, near & has_coefficient, strict=True) if shown]
    rest = [level for level, shown in zip(levels, ~has_coefficient, strict=True) if shown]
    apart = [level for level, shown in zip(levels, ~near, strict=True) if shown]
    if len(rest) == 1 and not listed:
        listed, rest = rest, []
    room = MOST_LEVELS if most is None else most
    if (rest and not listed) or len(listed) > room >= len(apart) > 0:
        words = f"not in {_listed(apart, most)}"
    else:
        words = f"in {_listed(listed, most, bool(rest))}"
    other = f"in {_listed(apart, most)}"
    return (words, other) if others_left else (other, words)


def _listed(levels: list[str], most: int | None, others: bool = False) -> str:
    shown = levels[:most]
    more = [f"+{len(levels) - len(shown)} more"] if len(levels) > len(shown) else []
    return "{" + ", ".join([*shown, *more, *(["others"] if others else [])]) + "}"


# Cuts of dates as text.

# Units of time, largest first: their seconds, their names in pandas, and how a date is written.
UNITS = (
    (86400.0, "D", "%Y-%m-%d"),
    (60.0, "min", "%Y-%m-%d %H:%M"),
    (1.0, "s", "%Y-%m-%d %H:%M:%S"),
)


def moment(encoding: Moments, seconds: float, step: float) -> str:
    """Return the date so many `seconds` after the first, to a unit of at most `step` seconds."""
    stamp = encoding.stamp(seconds)
    for size, unit, pattern in UNITS:
        if size <= step:
            rounded = stamp.round(unit)
            return rounded.strftime(UNITS[0][2] if rounded == rounded.normalize() else pattern)
    return str(stamp)


def counted_as(encoding: Encoding) -> str | None:
    """Return in words what a date, duration or ranked column counts as in a sum; else None."""
    if isinstance(encoding, OwnRanks):
        return f"its rank, from 0, among the {len(encoding.values)} values of the training rows"
    if isinstance(encoding, Durations):
        return "its seconds"
    if not isinstance(encoding, Moments):
        return None
    origin = encoding.origin
    zone = "" if origin.tz is None else f" ({origin.tz})"
    return f"the seconds since {origin.tz_localize(None)}{zone}"


LEAST_P = 1e-300
"""Smaller p-values are said to be smaller: floats have none much smaller but 0, which none is."""
SMALLER = f"< {LEAST_P:.0e}"


def number(value: float, digits: int = 4) -> str:
    """Return `value` with `digits` significant digits, large numbers without an exponent."""
    # from here on, rounding to so many digits gives 10^digits, which would have an exponent
    if math.isfinite(value) and 10**digits - 0.5 <= abs(value) < 1e12:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def shares_in_words(shares: NDArray[np.floating], decimals: int) -> list[str]:
    """Return shares, which sum to 1, with so many decimals, which do too: by largest remainders.

    Examples
    --------
    >>> shares_in_words(np.array([1, 1, 1]) / 3, 2)
    ['0.34', '0.33', '0.33']
    """
    unit = 10**decimals
    units = np.asarray(shares, dtype=np.float64) * unit
    # what is above a whole number by rounding errors alone is below it by as little
    whole = np.floor(units + 1e-6)
    lacking = round(float(units.sum() - whole.sum()))
    whole[np.argsort(whole - units, kind="stable")[: max(lacking, 0)]] += 1
    return [f"{share / unit:.{decimals}f}" for share in whole]


def p_in_words(p: float, digits: int = 3) -> str:
    """Return "= " and a p-value with `digits` significant digits, or a bound of a tiny one."""
    return SMALLER if p < LEAST_P else f"= {p:.{digits}g}"


def with_limits(estimate: float, low: float, high: float) -> str:
    """Return an estimate between 0 and 1 (NaN: no rows) with its interval, if it has one."""
    if math.isnan(estimate):
        return "unknown (no rows to compare)"
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

    `terms`: not to be broken across lines: ``("0.42*bmi", "- 1.3*age", "(+ 11 if bmi is
    missing)")``.  `left`, `right`: the comparisons: ``"<= 3.2"`` and ``"> 3.2"``.  `missing`: where
    rows with a missing cell go, ``""`` if there were none.
    """

    terms: tuple[str, ...]
    left: str
    right: str
    missing: str = ""

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
        return " ".join(words)


class SplitWriter:
    """Writes the splits of a forest in the names and units of the data.

    Coefficients have `digits` significant digits; thresholds are rounded to 10^-digits of a range.
    `max_terms`: the terms of a sum with the largest coefficients for scaled predictors, or levels
    of a set; the number of others is added.  Longer names than `max_characters` are shortened.
    """

    def __init__(
        self, forest: Forest, design: Design, *, digits: int = 4, max_terms: int | None = None,
        max_characters: int | None = None,
    ) -> None:  # fmt: skip
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
        return self._sum(terms, threshold, self._fills(node))

    def _fills(self, node: int) -> dict[int, float]:
        """Return by column the imputation values of the terms of `node`."""
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
        varies = (self._user.coef[terms] != 0) & ~self._user.described[terms]
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
                text = rank_label(ranks, point, increasing)
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
            last -= 1  # the level of missing cells, which surrogates send
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

    def _sum(self, terms: list[_Term], threshold: float, fills: dict[int, float]) -> SplitText:
        ordered = sorted(terms, key=lambda term: -abs(term.theta))
        shown = [_signed(term, self._digits) for term in ordered[: self._max_terms]]
        empty = [
            self._if_missing(term, fills[term.column])
            for term in ordered[: self._max_terms]
            if term.column is not None and term.column in fills
        ]
        first = shown[0][2:] if shown[0].startswith("+") else f"-{shown[0][2:]}"
        words = [first, *shown[1:]]
        if len(terms) > len(shown):
            words.append(f"+ {len(terms) - len(shown)} more")
        words += empty
        # θ has length 1 and predictors are in [0, 1]: projections have a range of about 1
        point = _rounded(threshold, 1.0, self._digits)
        return SplitText(tuple(words), f"<= {point}", f"> {point}")

    def _if_missing(self, term: _Term, fill: float) -> str:
        """Return what the sum has in place of a term whose cell is missing."""
        amount = term.coef * fill
        sign = "-" if amount < 0 else "+"
        return f"({sign} {_rounded(abs(amount), 1.0, self._digits)} if {term.name} is missing)"


@dataclass(frozen=True)
class _Term:
    """A term of a sum, in the units of the data and scaled; `column`: not of factors."""

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


# The lines of text in the boxes of a drawn tree.

# characters of a split on one line before its next term starts a new one
LINE_LENGTH = 26
SIGNS = {"<=": "≤", ">=": "≥"}


def split_lines(split: SplitText) -> tuple[str, ...]:
    """Break a split into lines between its terms."""
    lines = [split.terms[0]]
    comparison = split.left
    if comparison.startswith(tuple(SIGNS)):  # not the name of a level, such as <=30
        comparison = SIGNS[comparison[:2]] + comparison[2:]
    pieces = [f"{comparison}, missing {split.missing}" if split.missing else comparison]
    if comparison.startswith(("in {", "not in {")):
        *levels, last = comparison.split(", ")
        pieces = [*(f"{level}," for level in levels), last]
    for piece in (*split.terms[1:], *pieces):
        if len(lines[-1]) + 1 + len(piece) <= LINE_LENGTH:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return tuple(lines)


def value_lines(
    tree: Forest, design: Design, node: int, digits: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines of a node's prediction, and those of its share and number of rows."""
    value = tree.value[node]
    size = f"n = {tree.count[node]}"
    if design.response.classes is None:
        return (number(float(value[0]), digits),), (size,)
    code = predicted_code(tree, node)
    label = textwrap.wrap(visible(str(design.response.classes[code])), LINE_LENGTH) or [""]
    return tuple(label), (f"{value[code]:.2f}", size)


def visible(text: str) -> str:
    r"""Return a text on one line, characters that cannot be seen as Python writes them: ``\n``."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def predicted_code(tree: Forest, node: int) -> int:
    """Return the code of the class predicted at a node."""
    return int(predicted_classes(tree.value[node : node + 1], bool(tree.ordered))[0])
