"""Variables: atoms of the formula with their evaluation and encoding; grids of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.checks import is_whole
from odrf.design.columns import Values, column_values, selected
from odrf.design.encoding import Encoding, Indicators, Numbers, Ranks, learn_encoding
from odrf.design.evaluation import Evaluation
from odrf.design.formula import Atom, Column, quoted


@dataclass(frozen=True, eq=False)
class Variable:
    """How an atom becomes k columns of numbers; `evaluation` is None for a column as it is."""

    name: str
    evaluation: Evaluation | None
    encoding: Encoding

    @property
    def spelling(self) -> str:
        """As a formula names it: its name, quoted if it is that of a column and odd."""
        return quoted(self.name) if self.evaluation is None else self.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that the atom is computed from."""
        rule = self.evaluation
        return (self.name,) if rule is None else rule.expression.columns

    @property
    def column_of_levels(self) -> str | None:
        """The column of the data whose values are the levels, as in ``x`` or ``C(x)``, if any."""
        if not isinstance(self.encoding, Indicators | Ranks) or len(self.columns) != 1:
            return None
        column = self.columns[0]
        written = {f"{name}({quoted(column)})" for name in ("C", "factor")}
        # levels= of C() are in the encoding
        same = self.name.split(",")[0].rstrip(")") + ")" in written
        return column if self.evaluation is None or same else None

    @property
    def is_number_column(self) -> bool:
        """Whether the atom is a column of numbers, taken as it is."""
        return self.evaluation is None and isinstance(self.encoding, Numbers)

    @property
    def is_factor(self) -> bool:
        """Whether the atom is a factor, whose levels have indicators."""
        return isinstance(self.encoding, Indicators)

    @property
    def width(self) -> int:
        """The number of its columns k."""
        return len(self.encoding.suffixes)

    def known(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return the rows (n,) of `frame` in which none of its `columns` is empty."""
        return rows_known(frame, self.columns)

    def encode(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return the columns of numbers (k, n) for the rows of `frame`; NaN for missing cells."""
        known = self.known(frame)
        if known.all():
            return self.encoding.encode(self._values(frame))
        columns = np.full((self.width, len(frame)), np.nan)
        if known.any():
            rows = selected(frame, self.columns)[known]
            columns[:, known] = self.encoding.encode(self._values(rows))
        return columns

    def codes(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """Return the levels (n,) of a factor, see `Indicators.codes`; -1 for missing cells."""
        known, factor = self.known(frame), cast(Indicators, self.encoding)
        if known.all():
            return factor.codes(self._values(frame))
        codes = np.full(len(frame), -1)
        if known.any():
            codes[known] = factor.codes(self._values(selected(frame, self.columns)[known]))
        return codes

    def _values(self, frame: pd.DataFrame) -> Values:
        if self.evaluation is None:
            return column_values(frame, self.name)
        return self.evaluation.values(frame)


def columns_of_numbers(frame: pd.DataFrame) -> dict[str, Variable]:
    """Return the variables of the columns, maybe thousands, of NumPy's numbers, by name."""
    numbers = Numbers()
    return {
        name: Variable(name, None, numbers)
        for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf"
    }


def learn_variable(atom: Atom, frame: pd.DataFrame, env: EvalEnvironment) -> Variable:
    """Learn from the rows `frame` how to encode `atom`; its columns have no missing cells there."""
    evaluation, values = training_values(atom, frame, env)
    return Variable(atom.name, evaluation, learn_encoding(values))


def rows_known(frame: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.bool_]:
    """Return the rows (n,) of `frame` in which none of the `columns` is empty."""
    known = np.ones(len(frame), dtype=np.bool_)
    for name in columns:
        known &= frame[name].notna().to_numpy(dtype=np.bool_)
    return known


def training_values(
    atom: Atom, frame: pd.DataFrame, env: EvalEnvironment
) -> tuple[Evaluation | None, Values]:
    """Return the values of `atom` on the training rows, and its evaluation if it needs one."""
    if isinstance(atom, Column):
        return None, column_values(frame, atom.name)
    evaluation = Evaluation(atom, frame, env)
    return evaluation, evaluation.values(frame)


# It is stored in the frame's ``attrs``, which pandas copies when rows are selected: ``shape`` is
# (height, width), ``channels`` a number, by default 1.

SHAPE, CHANNELS = "shape", "channels"


def grid_of(data: pd.DataFrame) -> tuple[int, int, int] | None:
    """Return channels, height and width, or None if the frame has no valid ``attrs["shape"]``.

    Examples
    --------
    >>> data = pd.DataFrame({"a": [1.0], "b": [2.0]})
    >>> data.attrs["shape"] = (1, 2)
    >>> grid_of(data)
    (1, 1, 2)
    """
    shape, channels = data.attrs.get(SHAPE), data.attrs.get(CHANNELS, 1)
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        return None
    if not all(_is_size(part) for part in (channels, *shape)):
        return None
    return int(channels), int(shape[0]), int(shape[1])


def set_grid(data: pd.DataFrame, channels: int, height: int, width: int) -> None:
    """Store in the frame that its columns are pixels, in the order channel, row, column."""
    data.attrs[SHAPE] = (height, width)
    if channels > 1:
        data.attrs[CHANNELS] = channels


def _is_size(value: Any) -> bool:
    return is_whole(value) and int(value) >= 1
