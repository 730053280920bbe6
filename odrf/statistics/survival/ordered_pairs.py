"""Pairs of a row with an event and a row at risk, and how many of them scores put in order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.running import one_thread
from odrf.engine.survival.log_rank import pair_sums

__all__ = ["ComparedPairs", "OrderedPairs", "ordered_pairs", "share_in_order"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class ComparedPairs(NamedTuple):
    """Which pairs are compared: row j with case i if first[j] ≤ at[i] < last[j].

    Attributes
    ----------
    at : (n,) int64
        The position of each case in time, -1 for other rows.
    first, last : (n,) int64
    case_weight, weight : (n,) float64
        A pair weighs the product: of the case, and of the row it is compared with.
    """

    at: Integers
    first: Integers
    last: Integers
    case_weight: Floats
    weight: Floats


class OrderedPairs(NamedTuple):
    """Sums of weights of pairs, for each row.

    Attributes
    ----------
    tied : float
        The weight of compared pairs with equal scores.
    in_order, compared : (n,) float64
        Of pairs with the row as the case; equal scores count half as in order.
    in_order_as_other, compared_as_other : (n,) float64
        Of pairs with the row as the one that the case is compared with.
    """

    tied: float
    in_order: Floats
    compared: Floats
    in_order_as_other: Floats
    compared_as_other: Floats

    def excess_of_cases(self, share: float) -> Floats:
        """Return how many more pairs of each case than this share are in order: (n,)."""
        return self.in_order - share * self.compared

    def excess_of_others(self, share: float) -> Floats:
        """Return the same of the pairs in which each row is compared with a case: (n,)."""
        return self.in_order_as_other - share * self.compared_as_other


@one_thread()
def ordered_pairs(pairs: ComparedPairs, score: Floats) -> OrderedPairs:
    """Add up the pairs; in order are those whose case has the higher score (n,)."""
    levels, rank = np.unique(score, return_inverse=True)
    cases = np.flatnonzero((pairs.at >= 0) & (pairs.case_weight > 0))
    others = np.flatnonzero((pairs.first < pairs.last) & (pairs.weight > 0))
    sums = np.zeros((5, len(score)))
    with compiled_at_ease(pair_sums):
        pair_sums(
            cases[np.argsort(pairs.at[cases], kind="stable")],
            others[np.argsort(pairs.first[others], kind="stable")],
            others[np.argsort(pairs.last[others], kind="stable")],
            pairs.at, pairs.first, pairs.last, rank.reshape(-1), pairs.case_weight, pairs.weight,
            np.zeros(len(levels) + 1), np.zeros(len(levels)), sums,
        )  # fmt: skip
    below, equal, compared, in_order_as_other, compared_as_other = sums
    return OrderedPairs(
        float(pairs.case_weight @ equal),
        pairs.case_weight * (below + equal / 2),
        pairs.case_weight * compared,
        pairs.weight * in_order_as_other,
        pairs.weight * compared_as_other,
    )


def share_in_order(found: list[OrderedPairs]) -> float:
    """Return the share of all compared pairs that are in order; NaN without pairs."""
    compared = sum(float(pairs.compared.sum()) for pairs in found)
    in_order = sum(float(pairs.in_order.sum()) for pairs in found)
    return in_order / compared if compared > 0 else float("nan")
