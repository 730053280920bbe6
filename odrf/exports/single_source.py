"""Splits on one column of the data alone: which of its values go left, exactly."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from odrf.exports.describing import Branch, Description, sources_in
from odrf.exports.expressions import Cell, RankedCell
from odrf.exports.raw_columns import EmptyColumn, Labelled, LevelColumn, NumberColumn

__all__ = ["LabelSides", "NumberSides", "sides_of"]

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class NumberSides:
    """Which numbers go left.

    Attributes
    ----------
    column : str
    upto : bool
        Whether those up to `limit` go left; else those from `limit` on.
    limit : float
        If ±∞, all numbers go to the same side.
    empty_left : bool
        Whether an empty cell goes left.
    """

    column: str
    upto: bool
    limit: float
    empty_left: bool


@dataclass(frozen=True)
class LabelSides:
    """Which labels go left.

    Attributes
    ----------
    column : str
    left, right : tuple
        The known labels.
    others_left : bool
        Whether empty cells and other labels go left.
    """

    column: str
    left: tuple[object, ...]
    right: tuple[object, ...]
    others_left: bool


def sides_of(fit: Description, split: Branch) -> NumberSides | LabelSides | None:
    """Return which values go left at a split on one column of the data; None at any other."""
    sources = {s for term in split.terms for s in sources_in(fit.columns[term.column])}
    if len(sources) != 1:
        return None
    source = sources.pop()
    of = fit.sources[source]
    if isinstance(of, Labelled | RankedCell):
        labels = [label for label in of.labels if label is not None]
        known = {label: _goes_left(fit, split, of.labels.index(label)) for label in labels}
        unknown = _goes_left(fit, split, None)
        return LabelSides(
            of.column,
            tuple(label for label, left in known.items() if left),
            tuple(label for label, left in known.items() if not left),
            unknown,
        )
    if not isinstance(of, Cell):
        return None
    empty_left = _goes_left(fit, split, None)
    if fit.kinds[of.column] == "logical":
        known = {truth: _goes_left(fit, split, float(truth)) for truth in (False, True)}
        return LabelSides(
            of.column,
            tuple(truth for truth, left in known.items() if left),
            tuple(truth for truth, left in known.items() if not left),
            empty_left,
        )
    return _limit(fit, split, of.column, empty_left)


def _limit(fit: Description, split: Branch, column: str, empty_left: bool) -> NumberSides:
    """Find the limit by bisection of all floats: the side changes once, if at all."""
    upto = _goes_left(fit, split, -LARGEST)
    if upto == _goes_left(fit, split, LARGEST):
        return NumberSides(column, True, np.inf if upto else -np.inf, empty_left)
    low, high = _ordinal(-LARGEST), _ordinal(LARGEST)
    while high - low > 1:
        middle = (low + high) // 2
        if _goes_left(fit, split, _of_ordinal(middle)) == upto:
            low = middle
        else:
            high = middle
    return NumberSides(column, upto, _of_ordinal(low if upto else high), empty_left)


def _goes_left(fit: Description, split: Branch, value: float | None) -> bool:
    """Return whether a row goes left whose source has this value or code; None if it is empty."""
    total = np.float32(0)
    for term in split.terms:
        column = fit.columns[term.column]
        scaled = np.float32(0)
        match column:
            case LevelColumn(parts=parts):
                scaled = np.float32(value is not None and parts[0].code == value)
            case EmptyColumn(empty=empty, present=present):
                scaled = empty if value is None else present
            case NumberColumn(parts=parts) if value is not None:
                ranked = isinstance(fit.sources[parts[0].source], RankedCell)
                scaled = column.scaled(float(value) + ranked)
        total = total + term.coefficient * scaled
    return bool(total <= split.threshold)


def _ordinal(value: float) -> int:
    """Return the rank of a float among all floats."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def _of_ordinal(rank: int) -> float:
    bits = rank if rank >= 0 else -rank | (1 << 63)
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
