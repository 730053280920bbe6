"""One forest of many small ones at once: for these it is faster than one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.limits import MOST_PLACES, in_fewer_bits, require_numbers
from odrf.engine.trees.forest_arrays import OF_NODES, OF_TERMS, Forest
from odrf.engine.trees.packing import FEWER

__all__ = ["concatenated"]


def concatenated(parts: Sequence[Forest]) -> Forest:
    """Return the trees of all `parts`, at least one, in their order; none has surrogates.

    The same as `odrf.engine.trees.forest_arrays.joined` returns, but all trees are in memory twice.
    """
    nodes = _before([part.n_nodes for part in parts])
    terms = _before([len(part.index) for part in parts])
    require_numbers(int(nodes[-1]), MOST_PLACES, "nodes of all trees", FEWER)
    arrays: dict[str, NDArray[Any]] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in (*OF_NODES, *OF_TERMS)
    }
    moved = np.repeat(nodes[:-1], np.diff(nodes)).astype(np.int32)
    arrays["left"] = np.where(arrays["left"] < 0, np.int32(-1), arrays["left"] + moved)
    arrays["root"] = _moved([part.root for part in parts], nodes)
    arrays["start"] = in_fewer_bits(_moved([part.start for part in parts], terms))
    return Forest.of(arrays | {"ordered": parts[-1].ordered, "surrogates": None}).lean()


def _before(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return how many come before each part, and how many there are."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _moved(ends: Sequence[NDArray[np.integer]], before: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of all parts, each of which has one more than parts of its own."""
    first = [of_part[:-1] + at for of_part, at in zip(ends, before, strict=False)]
    return np.concatenate([*first, before[-1:]])
