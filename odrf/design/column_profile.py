"""The few rows of a table that tell all that a design has to know of it.

These are, of each term of the formula, one row with each level or combination of levels, and for
each of these the rows with the smallest and the largest number; and of each column one row in which
it is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.design.blocks import require_alike
from odrf.design.columns import (
    DATES,
    DURATIONS,
    LOGICAL,
    NUMBERS,
    PERIODS,
    Values,
    column_values,
    contents,
    measurement,
)
from odrf.design.encoding import FEWEST_OWN, learn_durations, learn_moments, require_shared
from odrf.design.evaluation import Evaluation, alike
from odrf.design.formula import Atom, Column, Formula
from odrf.design.variables import rows_known
from odrf.errors import InputError

# Different responses that are kept: a number with two values only may be meant as a class.
DISTINCT = 3
# The most levels of a factor, or combinations of levels: a row is kept of each.
MOST = 1_000_000


class ColumnProfile(NamedTuple):
    """The few of `n` rows that their design can be learned from, in the order of their numbers.

    `empty` (columns,) counts the missing values among the n rows in each column of the formula.
    """

    rows: pd.DataFrame
    n: int
    empty: NDArray[np.int64]


def evaluations_of(formula: Formula, env: EvalEnvironment) -> dict[Atom, Evaluation]:
    """Return how the expressions of a formula are evaluated; none may learn from all rows."""
    atoms = dict.fromkeys(atom for term in (*formula.terms, (formula.response,)) for atom in term)
    evaluations: dict[Atom, Evaluation] = {
        atom: Evaluation.unlearned(atom, env) for atom in atoms if not isinstance(atom, Column)
    }
    for evaluation in evaluations.values():
        if evaluation.learns:
            raise InputError(
                f"{evaluation.expression.name!r} learns from all rows at once, which rows in "
                "chunks do not allow: write it with numbers of your own, as in I((x - 3) / 2), or "
                "fit a data frame that is in memory"
            )
    return evaluations


@dataclass(frozen=True)
class ProfileReader:
    """Makes column profiles of blocks of rows, and joins them.  It can be pickled.

    With `classes`, numbers are classes if they are the response.
    """

    formula: Formula
    evaluations: dict[Atom, Evaluation]
    weights: str | None = None
    classes: bool = False

    def profile(self, block: pd.DataFrame) -> ColumnProfile:
        """Return the profile of rows with responses and weights; terms are computed row by row."""
        for evaluation in self.evaluations.values():
            known = block.iloc[rows_known(block, list(evaluation.expression.columns))]
            _require_row_by_row(evaluation, known)
        empty = block[list(self.formula.columns)].isna().to_numpy(dtype=np.bool_)
        return self._selected(ColumnProfile(block, len(block), empty.sum(axis=0)))

    def joined(self, one: ColumnProfile, other: ColumnProfile) -> ColumnProfile:
        """Return the profile of the rows of both; those of `other` come later."""
        require_alike([one.rows, other.rows])
        rows = pd.concat([one.rows, other.rows])
        return self._selected(ColumnProfile(rows, one.n + other.n, one.empty + other.empty))

    def _selected(self, profile: ColumnProfile) -> ColumnProfile:
        """Return the profile with the rows that it needs only."""
        frame = profile.rows
        rows = [self._of_response(frame)]
        for term in self.formula.terms:
            rows.append(self._of_term(term, frame))
            if len(rows[-1]) > MOST:
                raise InputError(
                    f"{':'.join(atom.name for atom in term)!r} has more than {MOST} levels in "
                    f"{profile.n} rows: join levels that are rare, or leave it out"
                )
        empty = frame[list(self.formula.columns)].isna().to_numpy(dtype=np.bool_)
        rows.append(empty.argmax(axis=0)[empty.any(axis=0)])
        kept = frame.iloc[np.unique(np.concatenate(rows).astype(np.int64))]
        return profile._replace(rows=kept.copy())

    def require_shared_levels(self, profile: ColumnProfile) -> None:
        """Raise `InputError` if text has a level of its own in nearly every row."""
        if len(profile.rows) < FEWEST_OWN:
            return
        n_empty = dict(zip(self.formula.columns, profile.empty.tolist(), strict=True))
        for atom in dict.fromkeys(atom for term in self.formula.terms for atom in term):
            if not isinstance(atom, Column):
                continue
            text = profile.rows[atom.name].dropna()
            if isinstance(text.dtype, pd.CategoricalDtype) or text.empty:
                continue
            if contents(text) not in (NUMBERS, LOGICAL, DATES, PERIODS, DURATIONS):
                known = profile.n - n_empty[atom.name]
                require_shared(atom.name, pd.Index(text.unique()), known)

    def _of_response(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """Return the rows of classes, of extremes and of some different responses."""
        response = self.formula.response
        known, values = self._known_values(response, frame)
        codes, numbers = _labels_and_numbers(
            replace(values, nominal=values.nominal or self.classes)
        )
        rows = [known[_rows_of_extremes(codes, numbers)]]
        if numbers is not None and numbers.shape[0] == 1:
            rows.append(known[np.unique(numbers[0], return_index=True)[1][:DISTINCT]])
        if self.weights is not None:
            counted = np.flatnonzero(frame[self.weights].to_numpy(dtype=np.float64)[known] > 0)
            some = None if numbers is None else numbers[:, counted]
            rows.append(known[counted[_rows_of_extremes(codes[counted], some)]])
        return np.concatenate(rows)

    def _of_term(self, term: Sequence[Atom], frame: pd.DataFrame) -> NDArray[np.int64]:
        """Return the numbers of the rows that the profile needs for a term."""
        columns = dict.fromkeys(name for atom in term for name in atom.columns)
        rows = np.flatnonzero(rows_known(frame, list(columns)))
        # levels that meet have a column, also where all their numbers are empty
        labels = [] if len(rows) == len(frame) else self._labels_of(term, frame)
        of_labels = self._of_term(labels, frame) if 0 < len(labels) < len(term) else rows[:0]
        if len(rows) == 0:
            return of_labels
        known = frame if len(rows) == len(frame) else frame.iloc[rows]
        values = [self._values(atom, known) for atom in term]
        if len(term) > 1:
            _require_no_dates(values)
        parts = [_labels_and_numbers(each) for each in values]
        codes = reduce(_combined, [codes for codes, _ in parts])
        numbers = [each for _, each in parts if each is not None]
        with np.errstate(all="ignore"):
            product = reduce(_products, numbers) if numbers else None
        return np.concatenate([rows[_rows_of_extremes(codes, product)], of_labels])

    def _labels_of(self, term: Sequence[Atom], frame: pd.DataFrame) -> list[Atom]:
        """Return the atoms of a product that are labels, of those that some row knows."""
        if len(term) == 1:
            return []
        known = [(atom, *self._known_values(atom, frame)) for atom in term
                 if rows_known(frame, list(atom.columns)).any()]  # fmt: skip
        return [atom for atom, _, values in known if _labels_and_numbers(values)[1] is None]

    def _known_values(self, atom: Atom, frame: pd.DataFrame) -> tuple[NDArray[np.int64], Values]:
        rows = np.flatnonzero(rows_known(frame, list(atom.columns)))
        return rows, self._values(atom, frame if len(rows) == len(frame) else frame.iloc[rows])

    def _values(self, atom: Atom, frame: pd.DataFrame) -> Values:
        if isinstance(atom, Column):
            return column_values(frame, atom.name)
        return self.evaluations[atom].values(frame)


def _require_no_dates(values: Sequence[Values]) -> None:
    """Raise `InputError` if a product has a date: it counts from the first one of all rows."""
    for each in values:
        if isinstance(each.data, pd.Series) and contents(each.data) in (DATES, PERIODS):
            raise InputError(
                f"{each.name!r} holds dates, whose products rows in chunks do not allow: make a "
                "column of numbers of it"
            )


def _require_row_by_row(evaluation: Evaluation, frame: pd.DataFrame) -> None:
    """Raise `InputError` if an expression needs all rows at once."""
    name = evaluation.expression.name
    half = len(frame) // 2
    if half == 0:
        return
    whole = pd.DataFrame(evaluation.values(frame).data)
    parts = [pd.DataFrame(evaluation.values(frame.iloc[a:b]).data) for a, b in
             ((0, half), (half, len(frame)))]  # fmt: skip
    if not alike(whole, pd.concat(parts)):
        raise InputError(
            f"{name!r} depends on other rows than its own, which rows in chunks do not allow: "
            "compute it as a column of the data, or fit a data frame that is in memory"
        )


def _labels_and_numbers(values: Values) -> tuple[NDArray[np.int64], NDArray | None]:
    """Return codes of labels (m,), 0 for numbers, and columns of numbers (k, m), if any."""
    data = values.data
    if isinstance(data, pd.DataFrame):
        return np.zeros(len(data), np.int64), data.to_numpy(dtype=np.float64).T
    held = contents(data)
    labelled = values.nominal or isinstance(data.dtype, pd.CategoricalDtype)
    if not labelled and held in (DATES, PERIODS, DURATIONS):
        unit = learn_durations(values) if held == DURATIONS else learn_moments(values)
        return np.zeros(len(data), np.int64), unit.ticks(values)[np.newaxis]
    if not labelled and held in (NUMBERS, LOGICAL):
        return np.zeros(len(data), np.int64), data.to_numpy(dtype=np.float64)[np.newaxis]
    if not values.nominal:
        measurement(data, values.name)
    return pd.factorize(data)[0].astype(np.int64), None


def _combined(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return codes (m,) of the pairs of two codes."""
    pairs = one * (int(other.max(initial=0)) + 1) + other
    return cast("NDArray[np.int64]", np.unique(pairs, return_inverse=True)[1].reshape(-1))


def _products(one: NDArray, other: NDArray) -> NDArray[np.float64]:
    return (one[:, np.newaxis] * other[np.newaxis].astype(np.float64)).reshape(-1, one.shape[1])


def _rows_of_extremes(codes: NDArray[np.int64], numbers: NDArray | None) -> NDArray[np.int64]:
    """Return which of m rows have the extremes of their codes (m,) and numbers (k, m)."""
    if len(codes) == 0:
        return np.empty(0, np.int64)
    if numbers is None:
        return np.unique(codes, return_index=True)[1]
    if not codes.any():
        low, high = numbers.argmin(axis=1), numbers.argmax(axis=1)
        return np.unique(np.concatenate([low, high]))
    rows = []
    for column in numbers:
        order = np.lexsort((column, codes))
        ends = np.flatnonzero(np.diff(codes[order]))
        rows += [order[np.append(0, ends + 1)], order[np.append(ends, len(order) - 1)]]
    return np.unique(np.concatenate(rows))
