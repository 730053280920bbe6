"""The splits of all trees as arrays that a graph of ONNX can gather from."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from odrf.exports.describing import Branch, Description, Term
from odrf.exports.raw_columns import EmptyColumn, LevelColumn

__all__ = ["SplitTables"]


class SplitTables:
    """The splits, then the leaves, which have no terms and lead to themselves.

    A term is a coefficient times a column of the matrix.  The levels of a factor that follow one
    another are one term: the coefficient of the row's own level, times 1.

    Attributes
    ----------
    roots : (1, B) int32
    left, right : (m,) int32
    threshold : (m,) float32
    first : (m,) int32
        The first term of each node.
    size, brief : (m,) int32
        How many terms it has; and how many in rows without empty cells, where the last ones are 0.
    column : (t,) int32
        By term the column of the matrix.
    factor : (t,) int32
        0, or 1 + the place of the factor in `factors`.
    base : (t,) int32
        Where its coefficient is; of a factor that of no level, after which come the levels.
    coefficient : float32
    factors : list of int
        The sources that are factors with terms.
    depth : int
        Most splits between a root and a leaf.
    """

    def __init__(self, fit: Description) -> None:
        n_splits, n_leaves = len(fit.splits), len(fit.value)
        self._fit = fit
        self._place = {column: at for at, column in enumerate(fit.columns)}
        self._terms: list[tuple[int, int, int]] = []
        self._coefficients: list[np.float32] = []
        self.factors: list[int] = []
        leaf = {node: n_splits + at for at, node in enumerate(fit.value)}

        def number(node: int) -> int:
            return node if node >= 0 else leaf[-1 - node]

        own = list(range(n_splits, n_splits + n_leaves))
        first, size, brief = [], [], []
        for split in fit.splits:
            first.append(len(self._terms))
            brief.append(self._append(split) - first[-1])
            size.append(len(self._terms) - first[-1])
        none = [0] * n_leaves
        self.roots = np.array([[number(root) for root in fit.roots]], dtype=np.int32)
        self.left = np.array([number(s.left) for s in fit.splits] + own, dtype=np.int32)
        self.right = np.array([number(s.right) for s in fit.splits] + own, dtype=np.int32)
        self.threshold = np.array([float(s.threshold) for s in fit.splits] + none, np.float32)
        self.first, self.size, self.brief = (
            np.array(each + none, dtype=np.int32) for each in (first, size, brief)
        )
        terms = np.array(self._terms or [(0, 0, 0)], dtype=np.int32)
        self.column, self.factor, self.base = np.ascontiguousarray(terms.T)
        self.coefficient = np.array(self._coefficients or [np.float32(0)], dtype=np.float32)
        self.depth = self._deepest(n_splits)

    def _append(self, split: Branch) -> int:
        """Append the terms of a split; return where its last ones begin, which tell empty cells."""
        end = len(self._terms)
        for source, terms in groupby(split.terms, self._factor):
            if source is not None:
                self._append_levels(source, list(terms))
                end = len(self._terms)
                continue
            for term in terms:
                self._terms.append((self._place[term.column], 0, len(self._coefficients)))
                self._coefficients.append(term.coefficient)
                column = self._fit.columns[term.column]
                if not (isinstance(column, EmptyColumn) and column.present == 0):
                    end = len(self._terms)
        return end

    def _append_levels(self, source: int, terms: list[Term]) -> None:
        if source not in self.factors:
            self.factors.append(source)
        ones = len(self._place)
        self._terms.append((ones, 1 + self.factors.index(source), len(self._coefficients)))
        of_code = {self._code(term): term.coefficient for term in terms}
        last = max(of_code)
        self._coefficients += [of_code.get(code, np.float32(0)) for code in range(-1, last + 1)]
        # levels without a coefficient after the last one that has one
        labels = len(self._fit.sources[source].labels)  # type: ignore[union-attr]
        self._coefficients += [np.float32(0)] * (labels - 1 - last)

    def _factor(self, term: Term) -> int | None:
        """Return the factor of which a term is a level, if it is no product."""
        column = self._fit.columns[term.column]
        if not isinstance(column, LevelColumn) or len(column.parts) > 1:
            return None
        return column.parts[0].source

    def _code(self, term: Term) -> int:
        column = self._fit.columns[term.column]
        assert isinstance(column, LevelColumn)
        return column.parts[0].code or 0

    def _deepest(self, n_splits: int) -> int:
        depth = np.zeros(len(self.left), dtype=np.int64)
        while True:
            below = np.maximum(depth[self.left], depth[self.right])
            deeper = np.where(np.arange(len(depth)) < n_splits, 1 + below, 0)
            if (deeper == depth).all():
                return int(depth[self.roots].max())
            depth = deeper
