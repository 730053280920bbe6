"""The surrogate splits of a tree as flat arrays, for growth and for routing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import ZERO, kernel, part
from odrf.engine.directions.candidates import INDICATORS, FeatureGroups
from odrf.engine.factors import Layout
from odrf.engine.memory import in_fewer_bits
from odrf.engine.rows import project
from odrf.engine.trees.packing import HEAD, Packed, with_level_tables, write_terms

# Surrogates of a split, as many as rpart keeps.
MOST_SURROGATES = 5

# Fields with an entry for each surrogate, and fields with an entry for each of their terms.
OF_SURROGATES = ("threshold", "flipped", "agree", "adj", "n_split")
OF_TERMS = ("column", "coef")


class Marks(NamedTuple):
    """What tells whether a row's cells are empty.

    `first` (P + 1,): predictor j has the columns ``first[j]:first[j + 1]``.  `predictor` (p,): the
    predictor of each column.  `mark` (P,): the column that is 1 where the predictor is empty and 0
    elsewhere; -1 if there is none.  `factor` (P,): whether the predictor is a factor.  A row
    without any of its levels is then empty too.
    """

    first: np.ndarray
    predictor: np.ndarray
    mark: np.ndarray
    factor: np.ndarray


def marks_of(feature_groups: FeatureGroups) -> Marks:
    """Return what tells the empty cells of these predictors, by the last columns they have."""
    first, P = feature_groups.first, len(feature_groups.types)
    holes, missing_level = feature_groups.holes, feature_groups.missing_level
    marked = np.zeros(P, dtype=np.bool_)
    if holes is not None:
        marked |= holes
    if len(missing_level):
        marked |= missing_level
    predictor = np.repeat(np.arange(P), np.diff(feature_groups.first))
    mark = np.where(marked, first[1:] - 1, -1)
    return Marks(first, predictor, mark, feature_groups.types == INDICATORS)


class SurrogateSplits(NamedTuple):
    """The surrogates of the splits of m nodes, best first, as flat arrays.

    A row that has an empty cell in what the split of node i needs takes the first of the surrogates
    ``first[i]:first[i + 1]`` that it has all values for.  Surrogate s sends it left if
    Σ coef·x[column] over ``start[s]:start[s + 1]`` is at most ``threshold[s]``; if it is `flipped`,
    right.  A row that has values for none goes to the side with more weight.

    `first` (m + 1,), `start` (S + 1,), `threshold` (S,), `flipped` (S,), `column` (z,), `coef`
    (z,).  `majority_left` (m,): whether at least half of the weight of the rows that have all
    values goes left.  `agree` (S,): share of the rows with all values for the split that the
    surrogate sends to the same side, by weight.  A row without a value for the surrogate counts as
    sent to the other side.  `adj` (S,): (agree - a) / (1 - a), a being the share of the larger
    side: what the surrogate adds to sending all rows there.  `n_split` (S,): how many rows of the
    node, counting repetitions, took the surrogate.
    """

    first: NDArray[np.integer]
    majority_left: NDArray[np.bool_]
    start: NDArray[np.integer]
    threshold: NDArray[np.float32]
    flipped: NDArray[np.bool_]
    agree: NDArray[np.float64]
    adj: NDArray[np.float64]
    n_split: NDArray[np.int32]
    column: NDArray[np.int32]
    coef: NDArray[np.float32]
    marks: Marks

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, but for the marks, which all trees of a forest share."""
        return sum([array.nbytes for array in self[:-1]])

    def in_fewer_bits(self) -> SurrogateSplits:
        """Return the same with whole numbers in 32 bits where these suffice."""
        return self._replace(first=in_fewer_bits(self.first), start=in_fewer_bits(self.start))

    def of_nodes(self, nodes: NDArray[np.integer]) -> SurrogateSplits:
        """Return the surrogates of these nodes, in this order."""
        surrogates, first = _ranges(self.first, nodes)
        terms, start = _ranges(self.start, surrogates)
        arrays: dict[str, Any] = {name: getattr(self, name)[surrogates] for name in OF_SURROGATES}
        arrays |= {name: getattr(self, name)[terms] for name in OF_TERMS}
        majority = self.majority_left[nodes]
        return self._replace(first=first, start=start, majority_left=majority, **arrays)

    def marked_by(self, columns: NDArray[np.integer]) -> SurrogateSplits:
        """Return the same for rows with q more columns: empty cells of `columns` (q,)."""
        p = len(self.marks.predictor)
        predictor, mark = self.marks.predictor[columns], self.marks.mark.copy()
        new = np.flatnonzero((mark[predictor] < 0) & ~self.marks.factor[predictor])
        mark[predictor[new]] = p + new
        extended = np.concatenate([self.marks.predictor, predictor])
        return self._replace(marks=self.marks._replace(predictor=extended, mark=mark))

    def followed_by(self, others: Sequence[SurrogateSplits]) -> SurrogateSplits:
        """Return the surrogates of these nodes and of those of `others`, one after the other."""
        parts = [self, *others]
        names = ("majority_left", *OF_SURROGATES, *OF_TERMS)
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in names
        }
        for name in ("first", "start"):
            sizes = np.concatenate([np.diff(getattr(part, name)) for part in parts])
            arrays[name] = _ends(sizes)
        return self._replace(**arrays)


def no_surrogates(m: int, marks: Marks) -> SurrogateSplits:
    """Return those of m nodes that have none."""
    return SurrogateSplits(
        np.zeros(m + 1, dtype=np.int32), np.zeros(m, dtype=np.bool_), np.zeros(1, dtype=np.int32),
        np.empty(0, dtype=np.float32), np.empty(0, dtype=np.bool_), np.empty(0), np.empty(0),
        np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32),
        marks,
    )  # fmt: skip


def _ranges(
    first: NDArray[np.integer], which: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """Return numbers ``first[i]`` … ``first[i + 1] - 1`` of each i of `which`, and their ends."""
    sizes = first[which + 1] - first[which]
    ends = _ends(sizes)
    return np.arange(int(ends[-1])) + np.repeat(first[which] - ends[:-1], sizes), ends


def _ends(sizes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return where pieces of these sizes (k,) end, one after the other; 0 comes first."""
    return in_fewer_bits(np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]))


# Rows that have values for all terms of a direction.
# This is tested like a split, so that training and routing tell it in the same way: a sum of
# columns is at most a threshold.  The columns that mark empty cells count 1, the levels of factors
# -1.  Each row has one level of each of F factors, or at least one cell is empty: the sum is -F or
# more.


@part
def _is_first_of_predictor(marks, columns, t):
    s = 0
    while marks.predictor[columns[s]] != marks.predictor[columns[t]]:
        s += 1
    return s == t


@part
def _is_one_factor(marks, columns, size):
    j, alone = marks.predictor[columns[0]], True
    for t in range(1, size):
        alone = alone and marks.predictor[columns[t]] == j
    return alone and marks.factor[j]


@part
def without_marks(columns, theta, c, size, marks):
    """Remove the columns that mark empty cells from columns[c] and theta[c]; return the size.

    They are 0 in the rows that have all values.  Columns with the coefficient 0 are removed too: a
    row needs no values of theirs.
    """
    n = 0
    for t in range(size):
        is_mark = marks.mark[marks.predictor[columns[c, t]]] == columns[c, t]
        if not is_mark and theta[c, t] != 0.0:
            columns[c, n], theta[c, n] = columns[c, t], theta[c, t]
            n += 1
    return n


@kernel
def write_test(marks, columns, size, own_levels, tested, theta):
    """Write the test whether a row has values for a direction; return its size and threshold.

    columns (≥ size,) are those of the direction.  If `own_levels`, a row also lacks a value if it
    has a level of a factor, split alone, that is not among the columns.  The test goes to `tested`
    and `theta`, (≥ p,): a row has all values if Σ theta·x[tested] is at most the threshold.  Its
    size is 0 if all rows have.
    """
    n, threshold = ZERO, np.float32(0.5)
    if own_levels and _is_one_factor(marks, columns, size):
        for t in range(size):
            tested[t], theta[t] = columns[t], -1.0
        return size, np.float32(-0.5)
    for t in range(size):
        if not _is_first_of_predictor(marks, columns, t):
            continue
        j = marks.predictor[columns[t]]
        if marks.factor[j]:
            for column in range(marks.first[j], marks.first[j + 1]):
                if column != marks.mark[j]:
                    tested[n], theta[n] = column, -1.0
                    n += 1
            threshold -= np.float32(1.0)
        elif marks.mark[j] >= 0:
            tested[n], theta[n] = marks.mark[j], 1.0
            n += 1
    return n, threshold


@part
def complete_rows(rows, lo, m, marks, columns, size, own_levels, work):
    """Write to work.complete (≥ m,) which of the m rows from `lo` on have values for a direction.

    The arguments are those of `write_test`; `work` is a `SurrogateScratch`.  Returns how many.
    """
    complete = work.complete
    n, threshold = write_test(marks, columns, size, own_levels, work.tested[0], work.ones[0])
    if n == 0:
        for i in range(m):
            complete[i] = True
        return m
    project(rows, lo, m, work.tested, work.ones, ZERO, n, work.values)
    number = ZERO
    for i in range(m):
        complete[i] = work.values[i] <= threshold
        number += complete[i]
    return number


# A tree with surrogates in the layout for routing.
# Every split becomes a chain of records of that layout: a test whether a row has all values for the
# split, then the split; a test whether it has those for the first surrogate, then this; and so on.
# The last of the tests that fails leads to the side with more weight.  So routing needs no other
# rule.


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
        """Append a split after the test for values, if needed; return whether it is."""
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
    root: NDArray[np.integer], left: NDArray[np.integer], threshold: NDArray[np.float32],
    start: NDArray[np.integer], index: NDArray[np.integer], coef: NDArray[np.float32],
    surrogates: SurrogateSplits, layout: Layout | None = None,
) -> Packed:  # fmt: skip
    """Pack the arrays of a `Forest` with surrogates, as `odrf.engine.trees.packing.pack`."""
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
    root: NDArray[np.integer], first_record: NDArray[np.int64], children: NDArray[np.int64],
    threshold: list[Any], sizes: NDArray[np.int64], columns: NDArray[np.int32],
    theta: NDArray[np.float32],
) -> Packed:  # fmt: skip
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
