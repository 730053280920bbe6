"""Leaves of regression trees that are no means: lines, medians; and forests of local lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

__all__ = ["PENALTIES", "Leaves", "lines_in_leaves", "local_lines", "medians", "plain_columns"]

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Penalties of ridge regressions, as shares of the largest eigenvalue, or of the mean one."""
MOST_COLUMNS = 25


class Leaves(NamedTuple):
    """In which leaves rows end.

    Attributes
    ----------
    train : (n, b) int64
        The leaf of each training row in each tree.
    test : (m, b) int64
    unseen : (n, b) bool
        Which training rows are out of bag for each tree.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    unseen: NDArray[np.bool_]

    def of_tree(self, b: int) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
        """Yield, for each leaf, the rows it was made from, those out of bag, and test rows."""
        train, test, unseen = self.train[:, b], self.test[:, b], self.unseen[:, b]
        for leaf in np.unique(train[~unseen]):
            rows = np.flatnonzero(train == leaf)
            new = np.flatnonzero(test == leaf)
            yield rows[~unseen[rows]], rows[unseen[rows]], new


def plain_columns(
    train: pd.DataFrame, test: pd.DataFrame
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return standardised numbers and indicators of training and of test rows."""
    both = pd.get_dummies(pd.concat([train, test]).drop(columns="y"), dtype=float).to_numpy(float)
    mean, scale = both[: len(train)].mean(axis=0), both[: len(train)].std(axis=0)
    columns = (both[:, scale > 0] - mean[scale > 0]) / scale[scale > 0]
    return columns[: len(train)], columns[len(train) :]


def medians(leaves: Leaves, y: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
    """Return the medians of leaves, for training rows (n, b), and their mean for test rows (m,)."""
    n, B = leaves.train.shape
    known, new = np.zeros((n, B)), np.zeros(len(leaves.test))
    for b in range(B):
        for rows, left_out, tested in leaves.of_tree(b):
            known[left_out, b] = np.median(y[rows])
            new[tested] += np.median(y[rows]) / B
    return known, new


def lines_in_leaves(
    leaves: Leaves, y: NDArray[np.float64], Z: NDArray[np.float64], new: NDArray[np.float64]
) -> tuple[NDArray, NDArray]:
    """Return what ridge regressions in leaves say: (penalties, n, b) and, as a mean, (…, m).

    Predictions stay in the range of the leaf's responses (Künzel et al. 2019).
    """
    b = leaves.train.shape[1]
    known = np.zeros((len(PENALTIES), *leaves.train.shape))
    tested = np.zeros((len(PENALTIES), len(new)))
    for tree in range(b):
        for rows, left_out, at in leaves.of_tree(tree):
            centre, mean = Z[rows].mean(axis=0), y[rows].mean()
            off = Z[rows] - centre
            values, vectors = np.linalg.eigh(off @ off.T)
            along, most = vectors.T @ (y[rows] - mean), max(values[-1], 1e-12)
            bounds = y[rows].min(), y[rows].max()
            to_known = (Z[left_out] - centre) @ off.T @ vectors
            to_new = (new[at] - centre) @ off.T @ vectors
            for k, penalty in enumerate(PENALTIES):
                slopes = along / (np.maximum(values, 0) + penalty * most)
                known[k, left_out, tree] = np.clip(mean + to_known @ slopes, *bounds)
                tested[k, at] += np.clip(mean + to_new @ slopes, *bounds) / b
    return known, tested


def local_lines(
    leaves: Leaves, y: NDArray[np.float64], Z: NDArray[np.float64], new: NDArray[np.float64]
) -> tuple[NDArray, NDArray]:
    """Return what a local linear forest says: (penalties, n) out of bag, and (penalties, m).

    A ridge regression for each row, weighted by the forest (Friedberg et al. 2020).  Predictions
    stay in the range of the responses that count.  More than 25 columns are replaced by as many
    principal components.
    """
    if Z.shape[1] > MOST_COLUMNS:
        axes = np.linalg.svd(Z, full_matrices=False)[2][:MOST_COLUMNS].T
        Z, new = Z @ axes, new @ axes
    inside = ~leaves.unseen
    known = _weights(leaves.train, leaves.train, inside, leaves.unseen)
    tested = _weights(leaves.test, leaves.train, inside, np.ones(leaves.test.shape, dtype=bool))
    return _lines(known, y, Z, Z), _lines(tested, y, Z, new)


def _weights(
    asked: NDArray[np.int64],
    train: NDArray[np.int64],
    inside: NDArray[np.bool_],
    counts: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the weight (m, n) of each training row for each row that is asked for."""
    total = np.zeros((len(asked), len(train)))
    for b in range(train.shape[1]):
        rows, of_tree = np.flatnonzero(inside[:, b]), np.flatnonzero(counts[:, b])
        shape = max(asked[:, b].max(), train[:, b].max()) + 1, len(train)
        table = scipy.sparse.csr_matrix((np.ones(len(rows)), (train[rows, b], rows)), shape)
        share = 1 / np.maximum(np.asarray(table.sum(axis=1)).ravel(), 1)
        found = (scipy.sparse.diags(share) @ table)[asked[of_tree, b]].tocoo()
        total[of_tree[found.row], found.col] += found.data
    return total


def _lines(
    weights: NDArray[np.float64],
    y: NDArray[np.float64],
    Z: NDArray[np.float64],
    asked: NDArray[np.float64],
) -> NDArray[np.float64]:
    predicted = np.full((len(PENALTIES), len(asked)), np.nan)
    for i, row in enumerate(weights):
        near = np.flatnonzero(row > 0)
        if not len(near):
            continue
        share = row[near] / row[near].sum()
        centre, mean = share @ Z[near], share @ y[near]
        off = Z[near] - centre
        values, vectors = np.linalg.eigh((off * share[:, None]).T @ off)
        along = vectors.T @ (off.T @ (share * (y[near] - mean)))
        size = max(values.mean(), 1e-12)
        to_row = (asked[i] - centre) @ vectors
        for k, penalty in enumerate(PENALTIES):
            line = mean + to_row @ (along / (np.maximum(values, 0) + penalty * size))
            predicted[k, i] = np.clip(line, y[near].min(), y[near].max())
    return predicted
