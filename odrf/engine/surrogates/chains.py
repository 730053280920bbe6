"""A tree with surrogates in the layout for routing.

Every split becomes a chain of records of that layout: a test whether a row has all values for the
split, then the split; a test whether it has those for the first surrogate, then this; and so on.
The last of the tests that fails leads to the side with more weight.  So routing needs no other
rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.rows.coded import Layout
from odrf.engine.surrogates.complete_rows import write_test
from odrf.engine.surrogates.surrogate_splits import SurrogateSplits
from odrf.engine.trees.level_tables import with_level_tables
from odrf.engine.trees.packing import HEAD, Packed, write_terms

__all__ = ["pack_with_surrogates"]


class _Records:
    """Records in the order of their nodes; a child is another record, or -1 - i for node i."""

    def __init__(self, surrogates: SurrogateSplits) -> None:
        self.surrogates = surrogates
        p = len(surrogates.marks.predictor)
        self._tested: NDArray[np.int64] = np.empty(p, dtype=np.int64)
        self._theta = np.empty(p, dtype=np.float32)
        self.children: list[list[int]] = []
        self.threshold: list[Any] = []
        self.terms: list[tuple[NDArray, NDArray]] = []

    def append(self, sides: list[int], threshold: Any, index: NDArray, coef: NDArray) -> None:
        """Append a record that sends rows to these children."""
        self.children.append(sides)
        self.threshold.append(threshold)
        self.terms.append((index, coef))

    def append_tested(
        self, sides: list[int], threshold: Any, index: NDArray, coef: NDArray, own_levels: bool
    ) -> bool:
        """Append a split after the test whether a row has values for it; return if it needs one.

        Rows without go to the record after the split.
        """
        columns = index.astype(np.int64)
        n, limit = write_test(
            self.surrogates.marks, columns, len(columns), own_levels, self._tested, self._theta
        )
        if n > 0:
            at = len(self.children)
            self.append([at + 1, at + 2], limit, self._tested[:n].copy(), self._theta[:n].copy())
        self.append(sides, threshold, index, coef)
        return n > 0

    def append_chain(
        self, node: int, left: int, threshold: Any, index: NDArray, coef: NDArray
    ) -> None:
        """Append the split of a node with this left child, and its surrogates."""
        splits, sides = self.surrogates, [-1 - left, -2 - left]
        if not self.append_tested(sides, threshold, index, coef, False):
            return
        for s in range(splits.first[node], splits.first[node + 1]):
            of_s = slice(splits.start[s], splits.start[s + 1])
            sent = sides[::-1] if splits.flipped[s] else sides
            if not self.append_tested(
                sent, splits.threshold[s], splits.column[of_s], splits.coef[of_s], True
            ):
                return
        # the last test leads beyond its split: to the larger side instead
        self.children[-2][1] = sides[0] if splits.majority_left[node] else sides[1]


def pack_with_surrogates(
    root: NDArray[np.integer],
    left: NDArray[np.integer],
    threshold: NDArray[np.float32],
    start: NDArray[np.integer],
    index: NDArray[np.integer],
    coef: NDArray[np.float32],
    surrogates: SurrogateSplits,
    layout: Layout | None = None,
) -> Packed:
    """Pack the arrays of a `Forest` with surrogates.

    The other arguments are those of `odrf.engine.trees.packing.pack`.
    """
    records, splits = _Records(surrogates), np.flatnonzero(left >= 0)
    first_record = -1 - np.arange(len(left))
    for node in splits.tolist():
        first_record[node] = len(records.children)
        terms = slice(start[node], start[node + 1])
        records.append_chain(node, int(left[node]), threshold[node], index[terms], coef[terms])
    children = np.array(records.children, dtype=np.int64).reshape(-1, 2)
    of_nodes = children < 0
    children[of_nodes] = first_record[-1 - children[of_nodes]]
    sizes = np.array([len(columns) for columns, _ in records.terms], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.concatenate([np.empty(0), *(own for own, _ in records.terms)]).astype(np.int32)
    theta = np.concatenate([np.empty(0), *(own for _, own in records.terms)]).astype(np.float32)
    tables = None
    if layout is not None:
        every = np.zeros(len(sizes), dtype=np.int64)
        tables = with_level_tables(every, starts, columns, theta, layout)
        sizes, columns, theta = np.diff(tables.start), tables.row, tables.coef
    packed = _written(root, first_record, children, records.threshold, sizes, columns, theta)
    if tables is None:
        return packed
    return packed._replace(level_words=tables.words, level_floats=tables.floats)


def _written(
    root: NDArray[np.integer],
    first_record: NDArray[np.int64],
    children: NDArray[np.int64],
    threshold: list[Any],
    sizes: NDArray[np.int64],
    columns: NDArray[np.int32],
    theta: NDArray[np.float32],
) -> Packed:
    """Return records with these children, thresholds and terms; leaf i is child -1 - i."""
    ends = np.cumsum(HEAD + 2 * sizes)
    place = ends - HEAD - 2 * sizes
    words = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int32)
    of_root = first_record[root[:-1]]
    packed = Packed(np.where(of_root < 0, of_root, 0), words, words.view(np.float32))
    if len(place):
        packed.root[:] = np.where(of_root < 0, of_root, place[np.maximum(of_root, 0)])
        for side in range(2):
            child = children[:, side]
            words[place + side] = np.where(child < 0, child, place[np.maximum(child, 0)] - place)
        packed.floats[place + 2] = threshold
        words[place + 3] = sizes
        write_terms(packed, 0, sizes, columns, theta)
    return packed
