"""An order of the levels of a factor: those whose rows are alike stand side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.memory import require_memory
from odrf.engine.running import one_thread

__all__ = ["similarity_order"]


@one_thread()
def similarity_order(
    level: NDArray[np.int64], n_levels: int, others: Sequence[pd.Series]
) -> NDArray[np.int64]:
    """Return the numbers of the levels in an order by similarity of the other variables.

    The distance of two levels is the sum over the variables of the largest difference of their
    distribution functions or, of factors, half of the sum of differences of shares.  Scaling to one
    dimension gives the order (Apley and Zhu 2020, as in the R package ALEPlot).

    Parameters
    ----------
    level : (n,) int64
        The level of each row, from 0; each level has a row.
    n_levels : int
    others : sequence of Series
        The other variables of these rows.
    """
    distance = np.zeros((n_levels, n_levels))
    rows = np.bincount(level, minlength=n_levels)
    for column in others:
        number = pd.api.types.is_numeric_dtype(column)
        code, found = pd.factorize(column, sort=number)
        known = code >= 0
        require_memory(
            8.0 * n_levels * max(3 * len(found), n_levels),
            f"the shares of {len(found)} values of {column.name!r} in {n_levels} levels",
            "use a factor of fewer levels, or fewer rows",
        )
        table = np.zeros((n_levels, len(found)))
        np.add.at(table, (level[known], code[known]), 1.0)
        share = table / np.maximum(rows, 1)[:, np.newaxis]
        for a in range(n_levels):
            if number:
                cumulated = np.cumsum(share - share[a], axis=1)
                distance[a] += np.abs(cumulated).max(axis=1, initial=0.0)
            else:
                distance[a] += np.abs(share - share[a]).sum(axis=1) / 2
    centring = np.eye(n_levels) - 1 / n_levels
    _, vector = np.linalg.eigh(-centring @ distance**2 @ centring / 2)
    place = vector[:, -1]
    # the sign of an eigenvector is arbitrary
    place = place if place[0] <= place[-1] else -place
    return np.argsort(np.round(place, 12), kind="stable")
