"""Importances evaluated by held-out rows, from their definition: row by row, split by split."""

from __future__ import annotations

import numpy as np

__all__ = [
    "evaluated_by_definition",
    "means_below",
    "own_response",
    "permuted_by_definition",
    "shares",
]


def own_response(forest, y):
    """Return the response, or the indicators of the classes (n, K)."""
    K = forest.value.shape[1]
    return y[:, None] if K == 1 else np.eye(K)[y.astype(int)]


def child_of(forest, node, x):
    """Return the child of a node to which the row x goes."""
    projected = np.float32(0)
    for term in range(*forest.start[node : node + 2]):
        projected += forest.coef[term] * x[forest.index[term]]
    return forest.left[node] + (projected > forest.threshold[node])


def shares(predictor, coef, P):
    """Return the part of a split that each predictor has, by the range of its coefficients."""
    size = np.array([np.ptp([0.0, *coef[predictor == j].astype(float)]) for j in range(P)])
    return size / size.sum()


def evaluated_by_definition(forest, X, y, weights, rows, first, value, output):
    """Follow each of the `rows` through each tree, and note what each split adds.

    `y` (n, K) is centred as it should be; `value` (m, K) are the predictions of all nodes, and
    `output` gives the columns of `y` that a tree predicts.
    """
    columns = np.repeat(np.arange(len(first) - 1), np.diff(first))
    importance = np.zeros(len(first) - 1)
    for b in range(forest.n_trees):
        for i in rows:
            node = forest.root[b]
            while forest.left[node] >= 0:
                terms = slice(*forest.start[node : node + 2])
                index, coef = forest.index[terms], forest.coef[terms]
                child = child_of(forest, node, X[:, i])
                added = (value[child] - value[node]) @ y[i, output(b)]
                weight = weights[i] / weights[rows].sum()
                importance += weight * added * shares(columns[index], coef, len(importance))
                node = child
    return importance


def means_below(forest):
    """Return the values of all nodes: of an inner node the weighted mean of its leaves."""
    value = forest.value.copy()
    parent = forest.parents()
    for node in np.flatnonzero(forest.left >= 0):
        leaves = []
        for leaf in np.flatnonzero(forest.left < 0):
            above = leaf
            while above > node:
                above = parent[above]
            if above == node:
                leaves.append(leaf)
        value[node] = np.average(forest.value[leaves], axis=0, weights=forest.weight[leaves])
    return value


def permuted_by_definition(forest, X, y, weights, rows, first, rng):
    """Return the covariance of response and prediction that permuting each predictor loses."""
    share = weights[rows] / weights[rows].sum()
    centred = y[rows] - share @ y[rows]

    def covariance(held):
        total = 0.0
        for b in range(forest.n_trees):
            for i, x in enumerate(held.T):
                node = forest.root[b]
                while forest.left[node] >= 0:
                    node = child_of(forest, node, x)
                total += share[i] * forest.value[node] @ centred[i]
        return total / forest.n_trees

    lost = []
    for j in range(len(first) - 1):
        held = X[:, rows].copy()
        columns = slice(first[j], first[j + 1])
        held[columns] = held[columns][:, rng.permutation(len(rows))]
        lost.append(covariance(X[:, rows]) - covariance(held))
    return np.array(lost)
