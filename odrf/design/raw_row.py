"""From one row of raw values to scaled predictors, without pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.encoding import Indicators, Numbers, Ranks
from odrf.design.columns.finite import LARGEST
from odrf.design.columns.listing import listed
from odrf.design.columns.scaling import FARTHEST
from odrf.design.design import Design
from odrf.engine.trees.single import scale_row
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
    source : (p,) int32
        The predictor that each column of the matrix is computed from.
    level : (p,) int32
        The code of the label that an indicator column stands for; -1 for a column of numbers.
    """

    design: Design
    labels: tuple[Labels | None, ...]
    source: NDArray[np.int32]
    level: NDArray[np.int32]

    def scaled(self, row: RawRow) -> NDArray[np.float32] | None:
        """Return the scaled predictors (p,) of a row, or None if one of them is missing.

        Raises
        ------
        InputError
            As `Design.matrix` does, or if the row does not have one value for each predictor.
        """
        values = self._in_order(row)
        raw = None if values is None else self._numbers(values)
        if raw is not None:
            x = np.empty(len(self.source), dtype=np.float32)
            low, width = self.design.scaling.low, self.design.scaling.range
            if scale_row(raw, self.source, self.level, low, width, LARGEST, FARTHEST, x):
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
        return np.ascontiguousarray(X[:, 0]) if complete.all() else None


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


def plan_row(design: Design) -> RowPlan:
    """Return the plan of a design.

    Raises
    ------
    InputError
        A predictor is an expression or a product, not a column of the data.
    """
    labels: list[Labels | None] = []
    source: list[int] = []
    level: list[int] = []
    for j, (name, term) in enumerate(zip(design.predictors, design.recipe.terms, strict=True)):
        variable = design.recipe.variables[term[0]]
        if len(term) > 1 or variable.evaluation is not None:
            raise InputError(
                f"predictor {name!r} is computed from columns of the data, which needs a data "
                "frame: use predict, or add it to the data as a column before fitting"
            )
        match variable.encoding:
            case Indicators(levels):
                labels.append({label: float(code) for code, label in enumerate(levels)})
                level += range(len(levels))
            case Ranks(levels):
                labels.append({label: 1.0 + rank for rank, label in enumerate(levels)})
                level.append(-1)
            case Numbers():
                labels.append(None)
                level.append(-1)
            case _:
                labels.append(READ_BY_DESIGN)
                level.append(-1)
        source += [j] * (len(level) - len(source))
    return RowPlan(design, tuple(labels), np.array(source, np.int32), np.array(level, np.int32))
