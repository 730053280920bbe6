"""Missing cells of new rows, in predictors that have none in training.

A term of a split is imputed by the mean of its predictor among the training rows of the node; a
split on one factor takes the cell as a level that the node does not have. A fit on rows in chunks
imputes the mean of the column, and so does a tree of lines; others without training rows refuse
such cells. A tree with surrogates only needs indicators of the missing cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.design import INDICATORS, Design, TrainingData
from odrf.engine.factors import (
    Layout,
    Matrix,
    beside,
    indicated,
    layout_of,
    stored,
    with_layout,
    with_rows,
)
from odrf.engine.trees.forest import Forest, LazyArrays
from odrf.engine.trees.packing import Packed, groups_of_trees
from odrf.engine.trees.routing import leaf_nodes, predict_row
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, BoostedFit, Fit, GuidedFit, StreamedFit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SomeFit = TypeVar("SomeFit", bound=AnyFit)
NO_COLUMNS: Integers = np.empty(0, dtype=np.int64)


def reading_empty_cells(
    fit: SomeFit, X: Matrix, also: Integers = NO_COLUMNS
) -> tuple[SomeFit, Matrix]:
    """Return the fit and the matrix (p + q, n) with which rows X (p, n) can be predicted.

    The q further columns are missing indicators of columns that have NaN, or are among `also`; the
    splits of the fit have the imputed value of each as a further term.
    """
    columns = np.union1d(empty_columns(X), also)
    if not len(columns):
        return fit, X
    if isinstance(fit, StreamedFit) and fit.fills is not None:
        return fit, with_means(X, columns, fit.fills)
    if fit.rows is not None and fit.forest.lines is not None:
        return fit, with_means(X, columns, column_means(fit.rows))
    if fit.rows is None:
        raise InputError(
            f"{fit.design.columns[columns[0]]!r} is missing in new rows and in no training row, "
            "where a split takes the mean of its training rows, and the fit has none of them: fill "
            "in these cells"
        )
    data = replace(fit.data, X=beside([fit.data.X, _nothing(columns, len(fit.data.y))]))
    return _with_forest(fit, data, filling_forest(fit, columns)), with_empty_cells(X, columns)


def column_means(rows: TrainingData) -> Floats:
    """Return the means (p,) of the columns of training rows, by their weights."""
    return np.average(indicated(rows.X).astype(np.float64), axis=1, weights=rows.weights)


def with_means(X: Matrix, columns: Integers, means: Floats) -> Matrix:
    """Return X (p, n) with the means (p,) of columns in their missing cells."""
    array, rows = stored(X).copy(), _rows(X, columns)
    fills = means[columns].astype(np.float32)[:, np.newaxis]
    array[rows] = np.where(np.isnan(array[rows]), fills, array[rows])
    return with_layout(array, layout_of(X))


def empty_columns(X: Matrix) -> Integers:
    """Return the columns (q,) of a matrix in which cells are missing."""
    empty: NDArray[np.bool_] = np.asarray(np.isnan(stored(X)).any(axis=1))
    columns = number_columns(X)
    return columns[empty[_rows(X, columns)]]


def number_columns(X: Matrix) -> Integers:
    """Return the columns of a matrix that are stored as they are, not as codes of a factor."""
    layout = layout_of(X)
    return np.arange(len(X)) if layout is None else np.flatnonzero(layout.level == 0)


def with_empty_cells(X: Matrix, columns: Integers) -> Matrix:
    """Return X (p, n) with 0 in missing cells, and a missing indicator of each of `columns`."""
    empty = np.isnan(stored(X)[_rows(X, columns)])
    filled = with_layout(np.nan_to_num(stored(X), nan=0.0), layout_of(X))
    return beside([filled, empty.astype(np.float32)])


def filling_rule(fit: AnyFit) -> FillingRule:
    """Return what predicts single rows with missing cells, computed when the first one comes."""

    def find(rule: FillingRule) -> None:
        X = fit.data.X
        columns = number_columns(X)
        one_row = beside([with_rows(X, slice(1)), _nothing(columns, 1)])
        packed = filling_forest(fit, columns).packed_for(one_row)
        rule.set_fields({"packed": packed, "columns": columns, "layout": layout_of(X)})

    return FillingRule.read_by(find)


@dataclass(frozen=True)
class FillingRule(LazyArrays):
    """The trees with an imputation value for each term of `columns` (q,), for one row at a time."""

    packed: Packed
    columns: Integers
    layout: Layout | None

    def mean(self, value: Floats, x: NDArray[np.float32]) -> Floats:
        """Return the mean (K,) of leaf values `value` (m, K) for a row x (r,) with missing NaN."""
        X = with_empty_cells(with_layout(x[:, np.newaxis], self.layout), self.columns)
        return predict_row(self.packed, value, np.ascontiguousarray(stored(X)[:, 0]))

    def __getstate__(self) -> dict[str, Any]:
        return self.in_memory()


def _rows(X: Matrix, columns: Integers) -> NDArray[np.integer]:
    """Return the rows of what is `stored` that have these columns."""
    layout = layout_of(X)
    return columns if layout is None else layout.place[columns]


def _nothing(columns: Integers, n: int) -> NDArray[np.float32]:
    return np.zeros((len(columns), n), dtype=np.float32)


def _with_forest(fit: SomeFit, data: TrainingData, forest: Forest) -> SomeFit:
    if isinstance(fit, BoostedFit):
        return replace(fit, training=data, boosted=fit.boosted._replace(forest=forest))
    if isinstance(fit, GuidedFit):
        return replace(fit, training=data, reader=forest)
    assert isinstance(fit, Fit)
    return replace(fit, training=data, forest=forest)


def filling_forest(fit: AnyFit, columns: Integers) -> Forest:
    """Return the trees, with imputation values for the `columns` (q,) as terms p … p + q - 1."""
    forest, p = fit.forest, len(fit.design.columns)
    if forest.surrogates is not None:
        return replace(forest, surrogates=forest.surrogates.marked_by(columns))
    rank = np.full(p, -1)
    rank[columns] = np.arange(len(columns))
    node = np.repeat(np.arange(forest.n_nodes), np.diff(forest.start))
    terms = np.flatnonzero((rank[forest.index] >= 0) & ~_on_one_factor(forest, fit.design)[node])
    means = _means_at_terms(fit, columns, terms, rank)
    index = np.concatenate([forest.index, p + rank[forest.index[terms]]]).astype(np.int32)
    coef = np.concatenate([forest.coef, forest.coef[terms] * means.astype(np.float32)])
    of_node = np.concatenate([node, node[terms]])
    order = np.argsort(of_node, kind="stable")
    sizes = np.bincount(of_node, minlength=forest.n_nodes)
    start = np.concatenate([[0], np.cumsum(sizes)])
    return replace(forest, start=start, index=index[order], coef=coef[order])


def _on_one_factor(forest: Forest, design: Design) -> NDArray[np.bool_]:
    """Return which nodes (m,) have a split on one factor alone."""
    predictor = np.searchsorted(design.first, forest.index, side="right") - 1
    split = np.flatnonzero(np.diff(forest.start) > 0)
    alone = np.zeros(forest.n_nodes, dtype=np.bool_)
    first = forest.start[split]
    least, most = np.minimum.reduceat(predictor, first), np.maximum.reduceat(predictor, first)
    alone[split] = (least == most) & (design.types[least] == INDICATORS)
    return alone


def _means_at_terms(fit: AnyFit, columns: Integers, terms: Integers, rank: Integers) -> Floats:
    """Return for each of `terms` (z,) the mean of its column over the training rows of its node."""
    forest, n = fit.forest, len(fit.data.y)
    values = stored(fit.data.X)[_rows(fit.data.X, columns)]
    rows = np.concatenate([values, np.ones((1, n), dtype=np.float32)]).T
    rows = rows.astype(np.float64) * fit.data.weights[:, np.newaxis]
    means = np.empty(len(terms))
    for trees in groups_of_trees(forest.root):
        some = forest.trees(trees.start, trees.stop)
        leaves = leaf_nodes(some, fit.data.X, fit.control.n_jobs)
        of_node = _node_means(some, leaves, rows)
        begin, end = forest.start[forest.root[[trees.start, trees.stop]]]
        first, last = np.searchsorted(terms, [begin, end])
        at = terms[first:last] - begin
        node = np.searchsorted(some.start, at, side="right") - 1
        means[first:last] = of_node[node, rank[some.index[at]]]
    return means


def _node_means(forest: Forest, leaves: Integers, rows: Floats) -> Floats:
    """Return the means (m, q) over the training rows of each node, or over all of an empty one."""
    n = len(rows)
    sums = np.zeros((forest.n_nodes, rows.shape[1]))
    for tree, leaf in enumerate(leaves.T):
        first, last = forest.root[tree : tree + 2]
        reached = scipy.sparse.csr_array(
            (np.ones(n), (leaf - first, np.arange(n))), shape=(last - first, n)
        )
        sums[first:last] = reached @ rows
    depth = forest.depth()
    for level in range(int(depth.max()) - 1, -1, -1):
        split = np.flatnonzero((depth == level) & (forest.left >= 0))
        sums[split] = sums[forest.left[split]] + sums[forest.left[split] + 1]
    weight = sums[:, -1:]
    of_all = rows.sum(axis=0, keepdims=True)
    sums = np.where(weight > 0, sums, of_all)
    return sums[:, :-1] / sums[:, -1:]
