"""From the terms of a formula to the matrix of predictors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from itertools import product
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype
from patsy import EvalEnvironment

from odrf.design.columns import cells_as_floats, column_blocks, listed, selected
from odrf.design.encoding import BASIS, EMPTY, INDICATORS, PLAIN, Indicators, Numbers, Ranks
from odrf.design.evaluation import warn_of_other_rows
from odrf.design.formula import Atom, Column
from odrf.design.missing import require_finite, require_no_infinite
from odrf.design.ranks import ranked_alone
from odrf.design.scaling import Cells, Levels, Unscaled, indicators
from odrf.design.variables import Variable, columns_of_numbers, learn_variable, rows_known
from odrf.engine.memory import require_memory
from odrf.errors import InputError

T = TypeVar("T")

# The fewest bytes of a column's name, without those of its variables' names; products that can be
# numbered.
NAME, MOST_PRODUCTS = 60, 2**62


@dataclass(frozen=True, eq=False)
class Predictors:
    """The right side of a formula, as learned from the training rows.

    `variables`: each atom of the formula, once.  `terms` (P,): the numbers of the variables whose
    product each predictor is.  `names`, `columns`: such as "age", "a:b"; of columns, "sex[male]".
    `first` (P + 1,): predictor j has the columns ``first[j]:first[j + 1]``.  `types` (P,): `PLAIN`,
    `INDICATORS` or `BASIS`.  `holes` (P,): whether cells of training rows are missing; the last
    column is then the missing indicator.  `kept`: for products of several factors and numbers,
    which of all products of their columns are columns, ascending: others would be zeros.
    """

    variables: tuple[Variable, ...]
    terms: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    columns: tuple[str, ...]
    first: NDArray[np.int64]
    types: NDArray[np.int8]
    holes: NDArray[np.bool_]
    kept: dict[int, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def spellings(self) -> list[str]:
        """The predictors (P,) as a formula names them, with odd names of columns quoted."""
        return [":".join(self.variables[v].spelling for v in term) for term in self.terms]

    def columns_on(self, frame: pd.DataFrame) -> Unscaled:
        """Return the unscaled columns on n rows, NaN for missing cells; they are made later.

        They then raise `InputError` if a level is unknown, an expression fails, or a value is not
        finite.
        """
        return Unscaled(len(frame), self._widths_of_factors, partial(self._pieces, frame))

    @cached_property
    def _widths_of_factors(self) -> dict[int, int]:
        """By the first column of each factor, its number of levels."""
        widths = np.diff(self.first)
        factors = np.flatnonzero(self.types == INDICATORS)
        return dict(zip(self.first[factors].tolist(), widths[factors].tolist(), strict=True))

    def _pieces(self, frame: pd.DataFrame) -> Iterator[Cells | Levels]:
        if len(frame) == 0:
            return
        numbers = self._of_numbers
        names = [self.names[j] for j in numbers]
        at, holes = self.first[numbers], self.holes[numbers]
        for part, block in column_blocks(frame, names):
            cells = cells_as_floats(block).T
            require_no_infinite(cells, names[part], frame.index, "predictor")
            yield Cells(at[part], cells)
            if holes[part].any():
                empty = np.isnan(cells[holes[part]]).astype(np.float64)
                yield Cells(at[part][holes[part]] + 1, empty)
        if len(numbers) == len(self.terms):
            return
        in_products = {v for term in self.terms if len(term) > 1 for v in term}
        kept: dict[int, NDArray] = {}

        def of_variable(v: int) -> NDArray:
            if v in kept:
                return kept[v]
            variable = self.variables[v]
            values = variable.codes(frame) if variable.is_factor else variable.encode(frame)
            if v in in_products:
                kept[v] = values
            return values

        others = set(range(len(self.terms))).difference(numbers)
        for j in sorted(others):
            term = self.terms[j]
            factors = [of_variable(v) for v in term]
            if self.types[j] == INDICATORS:
                codes = self._codes_in(j, dict(zip(term, factors, strict=True)))
                yield Levels(int(self.first[j]), int(self.first[j + 1] - self.first[j]), codes)
            else:
                yield self._product(j, factors, frame.index)

    def _product(self, j: int, factors: Sequence[NDArray], index: pd.Index) -> Cells:
        """Return the columns of numbers of predictor j from those of its factors, or codes."""
        columns = [
            _indicators(factor, self.variables[v].width) if self.variables[v].is_factor else factor
            for v, factor in zip(self.terms[j], factors, strict=True)
        ]
        # A product that is not finite is refused with the name of its column.
        with np.errstate(over="ignore", invalid="ignore"):
            if j in self.kept:
                places = _places(self.kept[j], [len(each) for each in columns])
                picked = [each[at] for each, at in zip(columns, places, strict=True)]
                values = reduce(np.multiply, picked)
            else:
                values = reduce(_products, columns)
        known = np.flatnonzero(~np.isnan(np.concatenate(columns)).any(axis=0))
        names = [self.names[j]] * len(values)
        require_finite(values[:, known], names, index[known], "predictor")
        if self.holes[j]:
            empty = np.isnan(values).any(axis=0, keepdims=True)
            values = np.concatenate([values, empty])
        return Cells(np.arange(self.first[j], self.first[j + 1]), values)

    def _codes_in(self, j: int, codes: Mapping[int, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the codes (n,) of factor j: its last level for missing cells, if it has any."""
        combined = self._combined(self.terms[j], codes)
        last = self.first[j + 1] - self.first[j] - 1
        return np.where(combined < 0, last, combined) if self.holes[j] else combined

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
            kept={at: self.kept[j] for at, j in enumerate(which) if j in self.kept},
        )

    def combinations(self, j: int, of_variables: Sequence[Sequence[T]]) -> Iterator[tuple[T, ...]]:
        """Yield what each column of predictor j takes of those of its variables."""
        return _combinations(of_variables, self.kept.get(j))

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

    @cached_property
    def _of_numbers(self) -> list[int]:
        """The predictors that are columns of numbers."""
        return [
            j
            for j, term in enumerate(self.terms)
            if len(term) == 1 and self.variables[term[0]].is_number_column
        ]


def learn_predictors(
    terms: Sequence[tuple[Atom, ...]],
    frame: pd.DataFrame,
    empty: Mapping[str, int],
    env: EvalEnvironment,
    all_rows: bool = True,
) -> Predictors:
    """Learn the predictors; if the frame has `all_rows`, columns that float32 would tie are ranked.

    `terms` holds for each predictor the atoms whose product it is; `empty` counts the missing cells
    of the columns that have some; functions are looked up in `env`.  Raises `InputError` if a
    column holds neither numbers nor labels, an expression fails, or two predictors have the same
    name.  Warns of expressions that need all rows at once, see `warn_of_other_rows`.
    """
    atoms = dict.fromkeys([atom for term in terms for atom in term])
    numbers, n = columns_of_numbers(frame), len(frame)
    variables = {}
    for atom in atoms:
        plain = isinstance(atom, Column) and empty.get(atom.name) != n
        known = numbers.get(atom.name) if plain else None
        variables[atom] = known or learn_variable(atom, _known_rows(frame, atom, empty), env)
    names = [":".join([atom.name for atom in term]) for term in terms]
    if len(set(names)) < len(names):
        labels = pd.Index(names)
        raise InputError(
            f"two predictors are named {listed(labels[labels.duplicated()])}, a column and an "
            "expression: rename the column"
        )
    holes = [not empty.keys().isdisjoint([c for a in term for c in a.columns]) for term in terms]
    of_terms = [[variables[atom] for atom in term] for term in terms]
    is_plain = [
        len(each) == 1 and each[0].evaluation is None and isinstance(each[0].encoding, Numbers)
        for each in of_terms
    ]
    kept = {
        j: products
        for j, each in enumerate(of_terms)
        if not is_plain[j] and (products := _kept(each, frame)) is not None
    }
    _require_names(of_terms, kept)
    columns: list[str] = []
    first, types = [0], []
    for j, (name, of_term) in enumerate(zip(names, of_terms, strict=True)):
        columns += [name] if is_plain[j] else _column_names(of_term, kept.get(j))
        columns += [name + EMPTY] * holes[j]
        first.append(len(columns))
        types.append(PLAIN if is_plain[j] else _type(of_term))
    number = {atom: v for v, atom in enumerate(atoms)}
    of_atoms = list(variables.values())
    factors = [tuple([number[atom] for atom in term]) for term in terms]
    if all_rows:
        evaluations = [each.evaluation for each in of_atoms if each.evaluation]
        if evaluations:
            warn_of_other_rows(evaluations, frame)
        of_atoms, factors = ranked_alone(of_atoms, factors, frame)
    return Predictors(
        tuple(of_atoms),
        tuple(factors),
        tuple(names),
        tuple(columns),
        np.array(first, dtype=np.int64),
        np.array(types, dtype=np.int8),
        np.array(holes, dtype=np.bool_),
        kept,
    )


def _kept(variables: Sequence[Variable], frame: pd.DataFrame) -> NDArray[np.int64] | None:
    """Return which products (k,) of columns `Predictors.kept` keeps; None if it keeps all."""
    of_factor = [v for v, variable in enumerate(variables) if variable.is_factor]
    if len(of_factor) < 2 or len(of_factor) == len(variables):
        return None
    codes = np.stack([variables[v].codes(frame) for v in of_factor])
    combinations = np.unique(codes[:, (codes >= 0).all(axis=0)], axis=1)
    if combinations.shape[1] in (0, math.prod(variables[v].width for v in of_factor)):
        return None
    widths = [variable.width for variable in variables]
    if math.prod(widths) > MOST_PRODUCTS:
        return None
    stride = [math.prod(widths[v + 1 :]) for v in range(len(widths))]
    kept = np.array([stride[v] for v in of_factor]) @ combinations
    for v in set(range(len(widths))) - set(of_factor):
        kept = (kept[:, np.newaxis] + np.arange(widths[v]) * stride[v]).ravel()
    return np.sort(kept)


def _known_rows(frame: pd.DataFrame, atom: Atom, empty: Mapping[str, int]) -> pd.DataFrame:
    """Return the rows without missing cells, which `empty` counts, in the columns of the atom."""
    if not empty.keys() & set(atom.columns):
        return frame
    if len(atom.columns) == 1:
        # many times as fast as selecting rows and columns of a frame
        rows = frame[atom.columns[0]].dropna().to_frame()
    else:
        rows = selected(frame, atom.columns)[rows_known(frame, atom.columns)]
    if rows.empty:
        raise InputError(
            f"predictor {atom.name!r} is missing in every training row: leave it out of the "
            "formula or the data"
        )
    return rows


def _require_names(
    of_terms: Sequence[Sequence[Variable]], kept: Mapping[int, NDArray[np.int64]]
) -> None:
    """Raise `MemoryError` if the names of all columns need more memory than there is."""
    n_columns, size = 0, 0.0
    for j, of_term in enumerate(of_terms):
        n, length = 1, NAME
        for variable in of_term:
            n *= len(variable.encoding.suffixes)
            length += len(variable.name)
        n = len(kept[j]) if j in kept else n
        n_columns += n
        size += float(n) * length
    require_memory(
        size,
        f"the names of {n_columns} columns of the formula",
        "use fewer interactions of factors, or factors of fewer levels",
    )


def _column_names(
    variables: Sequence[Variable], products: NDArray[np.int64] | None
) -> Iterator[str]:
    of_variable = [[v.name + suffix for suffix in v.encoding.suffixes] for v in variables]
    return map(":".join, _combinations(of_variable, products))


def _combinations(
    of_variables: Sequence[Sequence[T]], kept: NDArray[np.int64] | None
) -> Iterator[tuple[T, ...]]:
    """Yield the combinations of one of each variable, the last one's fastest, or those kept."""
    if kept is None:
        yield from product(*of_variables)
        return
    places = _places(kept, [len(each) for each in of_variables])
    for combination in zip(*places, strict=True):
        yield tuple(each[at] for each, at in zip(of_variables, combination, strict=True))


def _places(kept: NDArray[np.int64], widths: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return for each variable which of its columns (k,) the products are of."""
    places = []
    for width in reversed(widths):
        kept, at = np.divmod(kept, width)
        places.append(at)
    return places[::-1]


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
    return (a[:, np.newaxis] * b[np.newaxis]).reshape(-1, a.shape[1])


# Whole numbers up to these are exact in 32 and in 64 bits.
WHOLE, EXACT = 2**23, 2**53


def readable_columns(recipe: Predictors) -> dict[str, int]:
    """Return the columns of the data that are predictors by themselves, with their numbers.

    Dates, and numbers whose ranks stand in the matrix, are none.
    """
    column_numbers = {}
    for j, term in enumerate(recipe.terms):
        variable = recipe.variables[term[0]]
        known = isinstance(variable.encoding, Numbers | Indicators | Ranks)
        if len(term) == 1 and variable.evaluation is None and known:
            column_numbers[variable.name] = j
    return column_numbers


def kept_columns(
    recipe: Predictors, frame: pd.DataFrame, columns: Sequence[str]
) -> pd.DataFrame | None:
    """Return those `columns` that the matrix does not tell; None if there are none.

    They are no predictors by themselves, or whole numbers of more digits than 32 bits hold.
    """
    readable, names = readable_columns(recipe), []
    type_of = dict(zip(frame.columns, frame.dtypes, strict=True))
    for name in columns:
        dtype = type_of[name]
        may_be_long = is_integer_dtype(dtype) and getattr(dtype, "itemsize", 8) > 2
        if name not in readable or (may_be_long and _is_long(frame[name])):
            names.append(name)
    return selected(frame, names).copy() if names else None


def _is_long(column: pd.Series) -> bool:
    """Return whether whole numbers would be rounded as 32 bits from 0 to 1, times the range."""
    low, high = int(column.min()), int(column.max())
    return high - low > WHOLE or max(-low, high) > EXACT
