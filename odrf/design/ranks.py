"""Columns whose values 32 bits cannot tell apart: as ranks, and back to their own values.

Columns are scaled to [0, 1] and narrowed to 32 bits, about 2^24 different values.  This is too few
for identifiers, time stamps, whole numbers beyond 2^53, or numbers close together beside a few far
away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from typing import ClassVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype, is_numeric_dtype

from odrf.design.columns import Values, column_blocks, column_values
from odrf.design.encoding import PLAIN, Durations, Encoding, Moments, Numbers
from odrf.design.variables import Variable

TOLERATED = 2.0**-18
"""The share of pairs of rows that narrowing may tie: as if the column were known to one part in so
many.  Among numbers of a smooth distribution some pairs are that close by chance.  In a table of
700 rows or fewer this allows no pair at all."""

NEXT = 0.875

Timed = Moments | Durations


@dataclass(frozen=True, eq=False)
class OwnRanks:
    """Values as their ranks 0, 1, … among the different values of the training rows.

    `values` (k,) are these, ascending, as int64, uint64, float64 or Fraction; of dates and
    durations the numbers of their units.  `base` is the encoding that they would have otherwise.
    """

    values: NDArray
    base: Encoding
    type: ClassVar[int] = PLAIN
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    def encode(self, values: Values) -> NDArray[np.float64]:
        """Return the ranks (1, n); between two training values, a value has a share of a rank."""
        new, known = _alike(exact(self.base, values), self.values)
        below = np.searchsorted(known, new, side="right") - 1
        at = np.clip(below, 0, len(known) - 2)
        gap, above = _minus(known[at + 1], known[at]), _minus(new, known[at])
        inside = (below == at) & (above > 0)
        # a share that rounds to 1 would be the next training value
        share = np.divide(above, gap, out=np.zeros(len(new)), where=inside).clip(0.0, NEXT)
        ranks = np.clip(below, 0, len(known) - 1) + share
        ranks[~_finite(new)] = np.inf
        return ranks[np.newaxis]

    def number(self, rank: float) -> float:
        """Return the number at a rank: of dates and durations, seconds as `base` counts them."""
        value = self.value(rank)
        if isinstance(self.base, Timed):
            ticks = np.array([math.floor(value)], dtype=np.int64)
            return float(self.base.seconds(ticks)[0])
        return float(value)

    def value(self, rank: float) -> Fraction:
        """Return the value at a rank, exactly: between two training values, a share of the way."""
        first = min(max(math.floor(rank), 0), len(self.values) - 1)
        second = min(first + 1, len(self.values) - 1)
        low, high = _fractions(self.values[[first, second]])
        return low + max(Fraction(rank) - first, Fraction(0)) * (high - low)


def ranked_if_tied(base: Encoding, values: Values) -> Encoding:
    """Return the encoding of training values: `base`, or ranks if narrowing ties too many pairs."""
    own = exact(base, values)
    if len(own) == 0 or not _finite(own).all():
        return base
    own = np.sort(own)
    return OwnRanks(_different(own), base) if are_tied(own, _numbers(base, own)) else base


def are_tied(own: NDArray, numbers: NDArray[np.float64]) -> bool:
    """Return whether float32 ties too many pairs: of `own` values (n,), ascending, as `numbers`."""
    n = len(own)
    pairs = _equal_pairs(_narrowed(numbers)) - _equal_pairs(own)
    return pairs > TOLERATED * n * n / 2


def exact(base: Encoding, values: Values) -> NDArray:
    """Return values (n,) without rounding, whatever their type: floats, integers or fractions."""
    if isinstance(base, Timed):
        return base.ticks(values)
    data = cast(pd.Series, values.data)
    if not is_numeric_dtype(data.dtype) or str(data.dtype).startswith("decimal"):
        objects = data.to_numpy(dtype=object)
        floats = objects.astype(np.float64)
        return floats if (floats == objects).all() else _fractions(objects)
    if not is_integer_dtype(data.dtype):
        return data.to_numpy(dtype=np.float64)
    unsigned = str(data.dtype).lower().startswith("uint64")
    return data.to_numpy(dtype=np.uint64 if unsigned else np.int64)


def _numbers(base: Encoding, own: NDArray) -> NDArray[np.float64]:
    return base.seconds(own) if isinstance(base, Timed) else own.astype(np.float64)


def _narrowed(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return ascending numbers (n,) scaled to [0, 1], in 32 bits."""
    span = numbers[-1] - numbers[0]
    if not 0 < span < np.inf:
        return np.zeros(len(numbers), dtype=np.float32)
    return ((numbers - numbers[0]) / span).astype(np.float32)


def _equal_pairs(ascending: NDArray) -> float:
    """Return the number of pairs of equal values."""
    count = np.diff(np.flatnonzero(np.r_[True, ascending[1:] != ascending[:-1], True])).astype(
        float
    )
    return float((count * (count - 1) / 2).sum())


def _different(ascending: NDArray) -> NDArray:
    return ascending[np.r_[True, ascending[1:] != ascending[:-1]]]


def _fractions(values: NDArray) -> NDArray:
    """Return numbers of any types as an array of fractions, which are exact; infinite ones stay."""
    result = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        try:
            result[i] = Fraction(value.item() if isinstance(value, np.generic) else value)
        except (OverflowError, ValueError):
            result[i] = float(value)
    return result


def _finite(values: NDArray) -> NDArray[np.bool_]:
    if values.dtype == object:
        return np.array([isinstance(value, Fraction) for value in values], dtype=np.bool_)
    return np.isfinite(values)


def _alike(new: NDArray, known: NDArray) -> tuple[NDArray, NDArray]:
    """Return new and known values in one type, without rounding if both are whole or fractions."""
    if known.dtype == object:
        return _fractions(new), known
    if new.dtype == object:
        if known.dtype.kind in "iu":
            return new, _fractions(known)
        return new.astype(np.float64), known.astype(np.float64)
    if "f" in (new.dtype.kind, known.dtype.kind):
        return new.astype(np.float64), known.astype(np.float64)
    if known.dtype == np.uint64:
        return np.maximum(new, 0).astype(np.uint64), known
    return np.minimum(new, np.iinfo(np.int64).max).astype(np.int64), known


def _minus(values: NDArray, others: NDArray) -> NDArray[np.float64]:
    """Return the differences (n,) of values of one type, exact if they are not negative."""
    if values.dtype.kind in "iu":
        # arithmetic of 64 bits without a sign goes round, so that it is right for any sign
        return (values.astype(np.uint64) - others.astype(np.uint64)).astype(np.float64)
    return (values - others).astype(np.float64)


# The exact test sorts a column.  Before it, a test on a sample of the rows finds the few columns
# for which it is needed: if narrowing ties a share of all pairs of rows that matters, it ties some
# in the sample.

SAMPLE = 2048
# A column with enough ties to be ranked has at least a quarter of them in nearly every sample.
SAFETY = 4
# Whole numbers in a range up to this are different in 32 bits.
NARROW = 2**24
# Beyond this, floats of 64 bits cannot tell whole numbers apart.
EXACT = 2.0**53


def ranked_alone(
    variables: Sequence[Variable], terms: Sequence[tuple[int, ...]], frame: pd.DataFrame
) -> tuple[list[Variable], list[tuple[int, ...]]]:
    """Return variables and terms, with ranks for predictors that conversion to float32 would tie.

    `terms` are the numbers of the variables whose product each predictor is.  A tied product is
    replaced by its own values as ranks, as a product of ranks would mean something else.
    """
    result, number = list(variables), list(range(len(variables)))
    alone = dict.fromkeys([term[0] for term in terms if len(term) == 1])
    columns = [v for v in alone if variables[v].evaluation is None]
    numbers = [variables[v].name for v in columns if isinstance(variables[v].encoding, Numbers)]
    suspected = set(_suspected(frame, numbers))
    for v in columns:
        variable = variables[v]
        if variable.name not in suspected and not isinstance(variable.encoding, Timed):
            continue
        ranked = replace(variable, encoding=_checked(variable, frame))
        if any(v in term for term in terms if len(term) > 1):
            number[v] = len(result)
            result.append(ranked)
        else:
            result[v] = ranked
    return result, [(number[term[0]],) if len(term) == 1 else term for term in terms]


def _checked(variable: Variable, frame: pd.DataFrame) -> Encoding:
    values = column_values(frame, variable.name)
    known = values.data.notna().to_numpy(dtype=np.bool_)
    if not known.all():
        values = replace(values, data=values.data[known])
    return ranked_if_tied(variable.encoding, values)


def _suspected(frame: pd.DataFrame, numbers: Sequence[str]) -> Iterator[str]:
    """Yield the columns of `frame` that hold `numbers` for which the exact test is needed."""
    n = len(frame)
    rows = None
    if n > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))
    dtype_of = dict(zip(frame.columns, frame.dtypes, strict=True))
    for dtype, run in groupby(numbers, key=dtype_of.__getitem__):
        names = list(run)
        if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
            yield from names
        elif dtype.kind == "f" or dtype.itemsize > 2:
            for _, block in column_blocks(frame, names):
                yield from block.columns[_tied(block.to_numpy(), rows)]


def _tied(cells: NDArray, rows: NDArray[np.int64] | None) -> NDArray[np.bool_]:
    """Return in which of the columns (n, k) of numbers different values may become equal."""
    low = np.fmin.reduce(cells, axis=0)[:, np.newaxis]
    high = np.fmax.reduce(cells, axis=0)[:, np.newaxis]
    beyond = np.zeros(cells.shape[1], dtype=np.bool_)
    if cells.dtype.kind in "iu":
        largest = np.maximum(np.abs(low.astype(np.float64)), np.abs(high.astype(np.float64)))
        beyond = largest[:, 0] > EXACT
        if not beyond.any() and (high - low <= NARROW).all():
            return beyond
    sample = np.sort((cells if rows is None else cells[rows]).T, axis=1)
    with np.errstate(all="ignore"):
        span = high.astype(np.float64) - low
        narrowed = ((sample - low.astype(np.float64)) / span).astype(np.float32)
    same = sample[:, 1:] == sample[:, :-1]
    tied = ((narrowed[:, 1:] == narrowed[:, :-1]) & ~same).sum(axis=1)
    # if no value repeats, so many ties are at most so many pairs
    pairs = tied * (tied + 1) / 2
    enough = TOLERATED * sample.shape[1] ** 2 / 2
    many = pairs > (enough if rows is None else enough / SAFETY)
    return beyond | ((tied > 0) & (same.any(axis=1) | many))
