"""Rows with stand-ins, each that differs from the others once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, layout_of, stored, with_layout
from odrf.statistics.data_checks import distinct_rows

__all__ = ["DistinctDraws", "distinct_draws"]


class DistinctDraws(NamedTuple):
    """What some draws of stand-ins make of the rows of a matrix.

    Attributes
    ----------
    changed : Matrix (p, d)
        Rows that differ from those of the matrix, and from each other if they are of the same row.
    row : (d,) int64
        The row of the matrix that each of them is of.
    number : (D, n) int64
        Which of the changed rows each draw makes of each row; -1 if the row is as it was.
    """

    changed: Matrix
    row: NDArray[np.int64]
    number: NDArray[np.int64]


def distinct_draws(X: Matrix, draws: Sequence[Matrix]) -> DistinctDraws:
    """Return what draws make of the rows of a matrix, each different row once.

    A label has few values, so that most draws give a row what it has, or what another draw gave.

    Parameters
    ----------
    X : Matrix (p, n)
    draws : sequence of D Matrix (p, n)
        The same rows with stand-ins.
    """
    # Bits are compared, not numbers: an empty cell equals an empty cell.
    bits = stored(X).view(np.int32)
    of_draws = [stored(draw).view(np.int32) for draw in draws]
    differs = [of_draw != bits for of_draw in of_draws]
    places = np.flatnonzero(np.any([where.any(axis=1) for where in differs], axis=0))
    draw, row = np.nonzero(np.array([where.any(axis=0) for where in differs]))
    values = np.stack([of_draw[places] for of_draw in of_draws])[draw, :, row]
    first, which = distinct_rows(np.column_stack([row, values]))
    number = np.full((len(draws), X.shape[1]), -1)
    number[draw, row] = which
    row = row[first]
    changed = bits[:, row]
    changed[places] = values[first].T
    return DistinctDraws(with_layout(changed.view(np.float32), layout_of(X)), row, number)
