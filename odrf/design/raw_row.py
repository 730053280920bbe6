"""From one row of raw values to scaled predictors, without pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.encoding import Indicators, Numbers, Ranks
from odrf.design.columns.finite import LARGEST
from odrf.design.columns.listing import listed
from odrf.design.columns.scaling import FARTHEST
from odrf.design.design import Design
from odrf.engine.directions.candidates import has_many_levels
from odrf.engine.factors import stored
from odrf.engine.trees.routing import scale_row
from odrf.errors import InputError

__all__ = ["RawRow", "RowPlan", "plan_row"]

RawRow = NDArray | Sequence[Any] | Mapping[str, Any] | pd.Series
"""Values in the order of the predictors, or by the names of the predictors."""

Labels = dict[Any, float]

# The labels of a predictor such as a date, whose values the design reads: no value is among them.
READ_BY_DESIGN: Labels = {object(): 0.0}

# Types that are read as numbers.
NUMBERS = (float, int, np.floating, np.integer, np.bool_)


@dataclass(frozen=True, eq=False)
class RowPlan:
    """The steps of a `Design` whose predictors are columns of the data, for one row.

    Attributes
    ----------
    design : Design
        Used for rows that need a data frame.
    labels : (P,) tuple of dict or None
        For each predictor, the code of each of its labels; None for numbers.
    source : (r,) int32
        The predictor that each row of the matrix is computed from.
    level : (r,) int32
        The code of the label that an indicator stands for; -1 for a row of numbers or of codes.
    low, range : (r,) float64
        The scaling of each row; the range is 0 for the columns of empty cells, which are 0 where no
        value is missing.
    """

    design: Design
    labels: tuple[Labels | None, ...]
    source: NDArray[np.int32]
    level: NDArray[np.int32]
    low: NDArray[np.float64]
    range: NDArray[np.float64]

    def scaled(self, row: RawRow) -> NDArray[np.float32] | None:
        """Return the scaled predictors of a row, or None if it cannot be predicted.

        They are the numbers (r,) that a `odrf.engine.factors.Matrix` of the row stores.  NaN
        where a cell is empty, and no row has an empty cell of the predictor in training.

        Raises
        ------
        InputError
            As `Design.matrix` does, or if the row does not have one value for each predictor.
        """
        values = self._in_order(row)
        raw = None if values is None else self._numbers(values)
        if raw is not None:
            x = np.empty(len(self.source), dtype=np.float32)
            scaling = self.low, self.range
            if scale_row(raw, self.source, self.level, *scaling, LARGEST, FARTHEST, x):
                return x
        # Missing and unknown values and other types than in training are rare; the design treats
        # them.
        return self._by_frame(row)

    def _in_order(self, row: RawRow) -> NDArray | Sequence[Any] | None:
        """Return the values in the order of the predictors; None if a mapping lacks one."""
        names = self.design.predictors
        if isinstance(row, np.ndarray):
            if row.shape != (len(names),):
                raise self._misshapen(f"an array of shape {row.shape}")
            return row
        if isinstance(row, list | tuple):
            if len(row) != len(names):
                raise self._misshapen(f"{len(row)} value{'s' * (len(row) != 1)}")
            return row
        if not isinstance(row, Mapping | pd.Series):
            raise self._misshapen(f"a {type(row).__name__}")
        named = dict(row.items())
        try:
            return [named[name] for name in names]
        except KeyError:
            return None

    def _misshapen(self, shape: str) -> InputError:
        names = self.design.predictors
        return InputError(
            f"the row is {shape}: give one value for each of the {len(names)} predictors, in "
            f"their order ({listed(names)}), or a mapping of their names to values"
        )

    def _numbers(self, values: NDArray | Sequence[Any]) -> NDArray[np.float64] | None:
        """Return the values (P,) as numbers and codes of labels; None if one is neither."""
        if not any(self.labels):
            raw = _number_array(values)
            if raw is not None:
                return raw
        try:
            return np.array(list(map(_number, values, self.labels)), dtype=np.float64)
        except (KeyError, TypeError, OverflowError):
            return None

    def _by_frame(self, row: RawRow) -> NDArray[np.float32] | None:
        """Encode the row by the design, as a data frame."""
        named = (
            row.items() if hasattr(row, "items") else zip(self.design.predictors, row, strict=True)
        )
        frame = pd.DataFrame({name: pd.Series([value]) for name, value in named})
        X, complete = self.design.matrix(frame)
        return np.ascontiguousarray(stored(X)[:, 0]) if complete.all() else None


def _number_array(values: NDArray | Sequence[Any]) -> NDArray[np.float64] | None:
    try:
        # always a copy: Numba would compile again for a strided or read-only array
        array = np.array(values)
    except ValueError:
        return None
    numeric = array.ndim == 1 and array.dtype.kind in "biuf"
    return array.astype(np.float64, copy=False) if numeric else None


def _number(value: Any, labels: Labels | None) -> float:
    if labels is not None:
        return labels[value]
    if not isinstance(value, NUMBERS):
        raise TypeError
    return float(value)


class _Source(NamedTuple):
    """A row of the matrix: its predictor, level, and scaling, as in `RowPlan`."""

    predictor: int
    level: int
    low: float
    range: float


def plan_row(design: Design) -> RowPlan:
    """Return the plan of a design.

    Raises
    ------
    InputError
        A predictor is an expression or a product, not a column of the data.
    """
    labels: list[Labels | None] = []
    numbers: list[_Source] = []
    codes: list[_Source] = []
    scaling, first, many = design.scaling, design.first, has_many_levels(design.feature_groups)
    for j, (name, term) in enumerate(zip(design.predictors, design.recipe.terms, strict=True)):
        variable = design.recipe.variables[term[0]]
        if len(term) > 1 or variable.evaluation is not None:
            raise InputError(
                f"predictor {name!r} is computed from columns of the data, which needs a data "
                "frame: use predict, or add it to the data as a column before fitting"
            )
        low, span = (each[first[j] : first[j + 1]] for each in (scaling.low, scaling.range))
        match variable.encoding:
            case Indicators(levels) if many[j]:
                code = np.where(span[: len(levels)] > 0, np.arange(1.0, len(levels) + 1), 0.0)
                labels.append(dict(zip(levels, code.tolist(), strict=True)))
                codes.append(_Source(j, -1, 0.0, 1.0))
                continue
            case Indicators(levels):
                labels.append({label: float(code) for code, label in enumerate(levels)})
                of_level = list(range(len(levels)))
            case Ranks(levels):
                labels.append({label: 1.0 + rank for rank, label in enumerate(levels)})
                of_level = [-1]
            case Numbers():
                labels.append(None)
                of_level = [-1]
            case _:
                labels.append(READ_BY_DESIGN)
                of_level = [-1]
        if design.recipe.holes[j]:
            of_level.append(len(of_level))
            span = np.append(span[:-1], 0.0)
        numbers += [_Source(j, *each) for each in zip(of_level, low, span, strict=True)]
    source, level, low, span = (np.array(each) for each in zip(*numbers, *codes, strict=True))
    return RowPlan(
        design, tuple(labels), source.astype(np.int32), level.astype(np.int32), low, span
    )
