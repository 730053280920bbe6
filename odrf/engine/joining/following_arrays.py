"""Arrays of nodes that mostly follow from others, so that large forests need not keep them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FOLLOWED", "FOLLOWING"]


def _weights(
    root: NDArray[np.integer], left: NDArray[np.integer], count: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the weights of nodes (m,) if all rows have the weight 1."""
    return count.astype(np.float64)


def _ranks(
    root: NDArray[np.integer], left: NDArray[np.integer], count: NDArray[np.integer]
) -> NDArray[np.int32]:
    """Return the ranks of splits (m,) if they were made in the order of the nodes."""
    split = left >= 0
    ranks = np.cumsum(split, dtype=np.int32)
    if len(root) > 2:
        before = np.zeros(len(root) - 1, dtype=np.int32)
        before[1:] = ranks[root[1:-1] - 1]
        ranks -= np.repeat(before, np.diff(root))
    ranks[~split] = 0
    return ranks


FOLLOWED = "root", "left", "count"
"""The arrays of a `Forest` that others follow from."""

FOLLOWING: dict[str, Callable[..., NDArray[Any]]] = {"weight": _weights, "order": _ranks}
"""How arrays of a `Forest` follow from `FOLLOWED`."""
