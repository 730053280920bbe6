"""From the terms of a formula to the matrix of predictors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.design.columns.encoding import BASIS, EMPTY, INDICATORS, PLAIN
from odrf.design.columns.finite import require_finite, require_no_infinite
from odrf.design.columns.frame import selected
from odrf.design.columns.listing import listed
from odrf.design.columns.missing import find_missing
from odrf.design.columns.unscaled import Levels, Unscaled, indicators
from odrf.design.formulas.atoms import Atom
from odrf.design.ranking import ranked_alone
from odrf.design.variable import Variable, learn_variable, rows_known
from odrf.errors import InputError

__all__ = ["Predictors", "learn_predictors"]


@dataclass(frozen=True, eq=False)
class Predictors:
    """The right side of a formula, as learned from the training rows.

    Attributes
    ----------
    variables : tuple of Variable
        Each atom of the formula, once.
    terms : (P,) tuple of tuples of int
        For each predictor, the numbers of the `variables` whose product it is.
    names : (P,) tuple of str
        One name per predictor, such as "age", "log(bmi)", "a:b".
    columns : (p,) tuple of str
        One name per column, such as "sex[male]".
    first : (P + 1,) int64
        Predictor j has the columns ``first[j]:first[j + 1]``.
    types : (P,) int8
        `PLAIN`, `INDICATORS` or `BASIS`.
    holes : (P,) bool
        Whether cells of training rows are empty.  The last of the predictor's columns is then 1 in
        these rows, and 0 elsewhere.
    """

    variables: tuple[Variable, ...]
    terms: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    columns: tuple[str, ...]
    first: NDArray[np.int64]
    types: NDArray[np.int8]
    holes: NDArray[np.bool_]

    @property
    def spellings(self) -> list[str]:
        """The predictors (P,) as a formula names them, with odd names of columns quoted."""
        return [":".join(self.variables[v].spelling for v in term) for term in self.terms]

    def columns_on(self, frame: pd.DataFrame) -> Unscaled:
        """Return the unscaled columns on the n rows of `frame`; NaN for empty cells.

        Raises
        ------
        InputError
            A level is unknown, an expression fails, or a value is not finite.
        """
        if len(frame) == 0:
            p = len(self.columns)
            return Unscaled(np.empty((p, 0)), np.arange(p), ())
        is_factor = self.types == INDICATORS
        widths = np.diff(self.first)
        row = np.cumsum(np.where(is_factor, 0, widths)) - widths
        owner = np.repeat(np.arange(len(self.terms)), widths)
        at = np.flatnonzero(~is_factor[owner])
        numbers = np.empty((len(at), len(frame)))
        columns = self._number_columns(frame, numbers, row)
        in_place = set(columns)
        codes = {v: each.codes(frame) for v, each in enumerate(self.variables) if each.is_factor}
        for v, each in enumerate(self.variables):
            if v not in columns and not each.is_factor:
                columns[v] = each.encode(frame)
        for j in np.flatnonzero(~is_factor):
            term = self.terms[j]
            if len(term) == 1 and term[0] in in_place:
                continue
            factors = [
                _indicators(codes[v], self.variables[v].width) if v in codes else columns[v]
                for v in term
            ]
            product_columns = reduce(_products, factors)
            known = np.flatnonzero(~np.isnan(np.concatenate(factors)).any(axis=0))
            names = [self.names[j]] * len(product_columns)
            require_finite(product_columns[:, known], names, frame.index[known], "predictor")
            numbers[row[j] : row[j] + widths[j] - self.holes[j]] = product_columns
        for j in np.flatnonzero(self.holes & ~is_factor):
            last = row[j] + widths[j] - 1
            numbers[last] = np.isnan(numbers[row[j] : last]).any(axis=0)
        require_no_infinite(numbers, [self.names[j] for j in owner[at]], frame.index, "predictor")
        levels = (
            Levels(int(self.first[j]), int(widths[j]), self._codes_in(int(j), codes))
            for j in np.flatnonzero(is_factor)
        )
        return Unscaled(numbers, at, tuple(levels))

    def _codes_in(self, j: int, codes: Mapping[int, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the codes (n,) of factor j: its last level for empty cells, if it has holes."""
        found = self._combined(self.terms[j], codes)
        last = self.first[j + 1] - self.first[j] - 1
        return np.where(found < 0, last, found) if self.holes[j] else found

    def keeping(self, which: Sequence[int]) -> Predictors:
        """Return the recipe of the predictors numbered `which` only, in this order."""
        used = list(dict.fromkeys(v for j in which for v in self.terms[j]))
        number = {v: at for at, v in enumerate(used)}
        widths = [int(self.first[j + 1] - self.first[j]) for j in which]
        return Predictors(
            variables=tuple(self.variables[v] for v in used),
            terms=tuple(tuple(number[v] for v in self.terms[j]) for j in which),
            names=tuple(self.names[j] for j in which),
            columns=tuple(
                name for j in which for name in self.columns[self.first[j] : self.first[j + 1]]
            ),
            first=np.cumsum([0, *widths], dtype=np.int64),
            types=self.types[list(which)],
            holes=self.holes[list(which)],
        )

    def columns_of(self, which: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of the columns of the predictors numbered `which`."""
        ranges = [np.arange(self.first[j], self.first[j + 1]) for j in which]
        return np.concatenate(ranges)

    def _combined(
        self, term: tuple[int, ...], codes: Mapping[int, NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """Return the codes (n,) of the combinations of levels of the factors in a product."""
        combined = codes[term[0]]
        for v in term[1:]:
            known = (combined >= 0) & (codes[v] >= 0)
            combined = np.where(known, combined * self.variables[v].width + codes[v], -1)
        return combined

    def _number_columns(
        self, frame: pd.DataFrame, numbers: NDArray[np.float64], row: NDArray[np.int64]
    ) -> dict[int, NDArray[np.float64]]:
        """Write the predictors that are columns of numbers into `numbers`; return them by variable.

        Predictor j has the `row` j of it.  One operation for all of them: one at a time takes
        seconds for thousands of columns.
        """
        rows = {
            term[0]: int(row[j])
            for j, term in enumerate(self.terms)
            if len(term) == 1 and self.variables[term[0]].is_number_column
        }
        names = [self.variables[v].name for v in rows]
        cells = selected(frame, names).to_numpy(dtype=np.float64, na_value=np.nan)
        numbers[list(rows.values())] = cells.T
        return {v: numbers[at : at + 1] for v, at in rows.items()}


def learn_predictors(
    terms: Sequence[tuple[Atom, ...]], frame: pd.DataFrame, env: EvalEnvironment
) -> Predictors:
    """Learn the predictors.

    Parameters
    ----------
    terms : sequence of tuples of atoms
        For each predictor the atoms whose product it is.
    frame : pandas.DataFrame
        The training rows.
    env : patsy.EvalEnvironment
        The user's environment, where functions are looked up.

    Raises
    ------
    InputError
        A column holds neither numbers nor labels, an expression fails, or two predictors have
        the same name.
    """
    atoms = dict.fromkeys(atom for term in terms for atom in term)
    used = list(dict.fromkeys(name for atom in atoms for name in atom.columns))
    empty = find_missing(frame, used).counts
    variables = {atom: learn_variable(atom, _known_rows(frame, atom, empty), env) for atom in atoms}
    number = {atom: v for v, atom in enumerate(atoms)}
    names = pd.Index([":".join(atom.name for atom in term) for term in terms])
    if not names.is_unique:
        raise InputError(
            f"two predictors are named {listed(names[names.duplicated()])}, a column and an "
            "expression: rename the column"
        )
    holes = [any(empty.keys() & set(atom.columns) for atom in term) for term in terms]
    columns = [
        [*_column_names([variables[atom] for atom in term]), *[name + EMPTY][: int(hole)]]
        for term, name, hole in zip(terms, names, holes, strict=True)
    ]
    factors = [tuple(number[atom] for atom in term) for term in terms]
    ranked, factors = ranked_alone(list(variables.values()), factors, frame)
    return Predictors(
        variables=tuple(ranked),
        terms=tuple(factors),
        names=tuple(names),
        columns=tuple(name for names_of_term in columns for name in names_of_term),
        first=np.cumsum([0, *map(len, columns)], dtype=np.int64),
        types=np.array([_type([variables[atom] for atom in term]) for term in terms], np.int8),
        holes=np.array(holes, dtype=np.bool_),
    )


def _known_rows(frame: pd.DataFrame, atom: Atom, empty: Mapping[str, int]) -> pd.DataFrame:
    """Return the rows without empty cells in the columns that the atom is computed from.

    `empty` has the numbers of empty cells by column.
    """
    if not empty.keys() & set(atom.columns):
        return frame
    known = rows_known(frame, atom.columns)
    if not known.any():
        raise InputError(
            f"predictor {atom.name!r} is missing in every row: leave it out of the formula"
        )
    return frame[known]


def _column_names(variables: Sequence[Variable]) -> list[str]:
    of_variable = [[v.name + suffix for suffix in v.encoding.suffixes] for v in variables]
    return [":".join(names) for names in product(*of_variable)]


def _type(variables: Sequence[Variable]) -> int:
    types = {v.encoding.type for v in variables}
    if len(types) == 1:
        # A product of indicators is the indicator of a combination of levels.
        return types.pop()
    return PLAIN if all(len(v.encoding.suffixes) == 1 for v in variables) else BASIS


def _indicators(codes: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    """Return the indicators (width, n) of levels with these codes (n,); NaN for a code of -1."""
    columns = indicators(codes, width)
    columns[:, codes < 0] = np.nan
    return columns


def _products(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return all products (j·k, n) of the columns `a` (j, n) and `b` (k, n)."""
    # A product that is not finite is refused with the name of its column.
    with np.errstate(over="ignore"):
        return (a[:, np.newaxis] * b[np.newaxis]).reshape(-1, a.shape[1])
