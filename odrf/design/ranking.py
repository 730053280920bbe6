"""Which columns of the training rows are ranked, because 32 bits cannot tell their values apart.

The exact test sorts a column.  Before it, a test on a sample of the rows finds the few columns for
which it is needed: if narrowing ties a share of all pairs of rows that matters, it ties some in the
sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.encoding import Encoding
from odrf.design.columns.frame import column_blocks
from odrf.design.columns.moments import Durations, Moments
from odrf.design.columns.ranked import TOLERATED, ranked_if_tied
from odrf.design.columns.values import column_values
from odrf.design.variable import Variable

__all__ = ["ranked_alone"]

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
    """Return variables and terms with ranks for predictors that narrowing would tie.

    Parameters
    ----------
    variables : sequence of Variable
    terms : sequence of tuples of int
        For each predictor, the numbers of the variables whose product it is.  A product is one of
        the numbers themselves, as a product of ranks would mean something else.
    frame : pandas.DataFrame
        The training rows.
    """
    result, number = list(variables), list(range(len(variables)))
    alone = list(dict.fromkeys(term[0] for term in terms if len(term) == 1))
    in_products = {v for term in terms if len(term) > 1 for v in term}
    for v, each in zip(alone, _ranked([variables[v] for v in alone], frame), strict=True):
        if each is not variables[v] and v in in_products:
            number[v] = len(result)
            result.append(each)
        else:
            result[v] = each
    return result, [(number[term[0]],) if len(term) == 1 else term for term in terms]


def _ranked(variables: Sequence[Variable], frame: pd.DataFrame) -> list[Variable]:
    """Return the variables, ranked where they are columns of `frame` that narrowing would tie."""
    numbers = [variable.name for variable in variables if variable.is_number_column]
    suspected = set(_suspected(frame, numbers))
    return [
        replace(variable, encoding=_checked(variable, frame))
        if variable.name in suspected or _is_timed(variable)
        else variable
        for variable in variables
    ]


def _is_timed(variable: Variable) -> bool:
    return variable.evaluation is None and isinstance(variable.encoding, Moments | Durations)


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
    low, high = (end.reduce(cells, axis=0)[:, np.newaxis] for end in (np.fmin, np.fmax))
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
