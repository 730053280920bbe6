"""The surrogate splits of a tree as flat arrays, and what tells empty cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import INDICATORS, FeatureGroups
from odrf.engine.limits import in_fewer_bits

__all__ = ["MOST_SURROGATES", "Marks", "SurrogateSplits", "marks_of", "no_surrogates"]

# Surrogates of a split, as many as rpart keeps.
MOST_SURROGATES = 5

# Fields with an entry for each surrogate, and fields with an entry for each of their terms.
OF_SURROGATES = ("threshold", "flipped", "agree", "adj", "n_split")
OF_TERMS = ("column", "coef")


class Marks(NamedTuple):
    """What tells whether a row's cells are empty.

    Attributes
    ----------
    first : (P + 1,) int64
        Predictor j has the columns ``first[j]:first[j + 1]``.
    predictor : (p,) int64
        The predictor of each column.
    mark : (P,) int64
        The column that is 1 where the predictor is empty and 0 elsewhere; -1 if there is none.
    factor : (P,) bool
        Whether the predictor is a factor.  A row without any of its levels is then empty too.
    """

    first: np.ndarray
    predictor: np.ndarray
    mark: np.ndarray
    factor: np.ndarray


def marks_of(feature_groups: FeatureGroups) -> Marks:
    """Return what tells the empty cells of these predictors.

    The last column of a predictor with empty cells is 1 in these rows.
    """
    first, P = feature_groups.first, len(feature_groups.types)
    holes, missing_level = feature_groups.holes, feature_groups.missing_level
    marked = np.zeros(P, dtype=np.bool_)
    if holes is not None:
        marked |= holes
    if len(missing_level):
        marked |= missing_level
    predictor = np.repeat(np.arange(P), feature_groups.widths)
    mark = np.where(marked, first[1:] - 1, -1)
    return Marks(first, predictor, mark, feature_groups.types == INDICATORS)


class SurrogateSplits(NamedTuple):
    """The surrogates of the splits of m nodes, best first, as flat arrays.

    A row that has an empty cell in what the split of node i needs takes the first of the surrogates
    ``first[i]:first[i + 1]`` that it has all values for.  Surrogate s sends it left if
    Σ coef·x[column] over ``start[s]:start[s + 1]`` is at most ``threshold[s]``; if it is `flipped`,
    right.  A row that has values for none goes to the side with more weight.

    Attributes
    ----------
    first : (m + 1,) int32, or int64 if there are too many surrogates
    majority_left : (m,) bool
        Whether at least half of the weight of the rows that have all values goes left.
    start : (S + 1,) int32, or int64 if they have too many terms
    threshold : (S,) float32
    flipped : (S,) bool
    agree : (S,) float64
        Share of the rows with all values for the split that the surrogate sends to the same side,
        by weight.  A row without a value for the surrogate counts as sent to the other side.
    adj : (S,) float64
        (agree - a) / (1 - a), a being the share of the larger side: what the surrogate adds to
        sending all rows there.
    n_split : (S,) int32
        How many rows of the node, counting repetitions, took the surrogate.
    column : (z,) int32
    coef : (z,) float32
    marks : Marks
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
        """Return the same for rows with q more columns, which mark empty cells of `columns` (q,).

        Those of predictors that already have such a column are never needed.
        """
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
        np.zeros(m + 1, dtype=np.int32),
        np.zeros(m, dtype=np.bool_),
        np.zeros(1, dtype=np.int32),
        np.empty(0, dtype=np.float32),
        np.empty(0, dtype=np.bool_),
        np.empty(0),
        np.empty(0),
        np.empty(0, dtype=np.int32),
        np.empty(0, dtype=np.int32),
        np.empty(0, dtype=np.float32),
        marks,
    )


def _ranges(
    first: NDArray[np.integer], which: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """Return the numbers ``first[i]`` … ``first[i + 1] - 1`` of each i of `which`, and their ends.

    The ends begin with 0.
    """
    sizes = first[which + 1] - first[which]
    ends = _ends(sizes)
    return np.arange(int(ends[-1])) + np.repeat(first[which] - ends[:-1], sizes), ends


def _ends(sizes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return where pieces of these sizes (k,) end, one after the other; 0 comes first."""
    return in_fewer_bits(np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]))
