"""A share of the rows held out once, as for the number of rounds of boosting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.design.dividing.structured import RowsToDivide
from odrf.design.folds import last_times

__all__ = ["held_out_share"]


def held_out_share(rows: RowsToDivide, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which of the rows (n,) of positive weight are held out, about a `share` of them.

    If the rows have an order, these are the last ones.  Otherwise rows, or whole groups, are drawn
    at random, about the same share of each class, of events, and of each stratum.
    """
    n, order, groups = len(rows.y), rows.order, rows.groups
    weighted = np.ones(n, dtype=bool) if rows.weights is None else rows.weights > 0
    units = np.arange(n) if groups is None else groups
    if order is not None:
        held = np.zeros(n, dtype=bool)
        held[weighted] = last_times(order[weighted], share)
        return held
    candidates = np.flatnonzero(weighted)
    drawn = rng.permutation(candidates[np.unique(units[candidates], return_index=True)[1]])
    for codes in (rows.balanced, rows.strata):
        if codes is not None:
            drawn = drawn[np.argsort(codes[drawn], kind="stable")]
    ends = np.floor(share * np.arange(len(drawn) + 1) + 0.5)
    return weighted & np.isin(units, units[drawn[np.diff(ends) > 0]])
