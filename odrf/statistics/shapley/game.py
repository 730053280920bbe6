"""What Shapley values are computed from, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.packing import Packed

__all__ = ["Game", "OrderDraws", "Shares"]

# Drawing the boxes below this weight, over the root of `max_boxes`, takes about as long as
# enumerating `max_boxes` boxes.
LIGHTEST = 3.0


@dataclass(frozen=True, eq=False)
class Game:
    """What is divided among the terms: the trees, the rows, and the background rows.

    Attributes
    ----------
    packed : Packed
        The trees.
    value : (m, K) float64
        The values of their leaves.
    n_outputs : int
        Outputs; if K is 1, tree b belongs to output b modulo this.
    scale : float
        What sums of trees are multiplied by: 1 / B for a mean of B trees.
    used : (B, P) bool
        Which terms each tree reads.
    term_of : (r,) int64
        The term of each number of a row.
    rows : (n_background + n, r) float32
        The background rows, then the rows that are explained.
    n_background : int
    """

    packed: Packed
    value: NDArray[np.float64]
    n_outputs: int
    scale: float
    used: NDArray[np.bool_]
    term_of: NDArray[np.int64]
    rows: NDArray[np.float32]
    n_background: int


@dataclass(frozen=True)
class OrderDraws:
    """When coalitions are not enumerated, and how many orders are drawn then.

    Attributes
    ----------
    max_boxes : int
        Most boxes of coalitions of a tree and a pair of rows.
    n_draws : int
        Orders, each with its reverse, for what is not enumerated.
    origin : (4,) uint64
        What random numbers follow from.
    """

    max_boxes: int
    n_draws: int
    origin: NDArray[np.uint64]

    @property
    def lightest(self) -> float:
        """The least weight of a box that is divided, in a tree that has more than `max_boxes`."""
        return LIGHTEST / max(1, self.max_boxes) ** 0.5


class Shares(NamedTuple):
    """Shapley values (n, P, K) or interaction values (n, P, P, K) with their standard errors.

    `drawn` is the share of games of which values were drawn.
    """

    values: NDArray[np.float64]
    std_error: NDArray[np.float64]
    drawn: float
