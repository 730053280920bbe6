"""Predictions and losses of a grown forest: one row, one tree, one loss at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.resamples import Sampling
from odrf.engine.trees.forest import Forest
from reference.randomness import Stream, draw_counts


def direction(forest: Forest, node: int) -> tuple[list[int], list[float]]:
    """The columns and coefficients of a node's split."""
    at = slice(forest.start[node], forest.start[node + 1])
    return forest.index[at].tolist(), forest.coef[at].tolist()


def goes_left(X: NDArray, columns: list[int], theta: list[float], threshold: float) -> NDArray:
    """Which rows of X (p, n) go left, adding products in float32 in the order of the columns."""
    projected = np.zeros(X.shape[1], dtype=np.float32)
    for column, coefficient in zip(columns, theta, strict=True):
        projected += np.float32(coefficient) * X[column]
    return projected <= threshold


def leaf(forest: Forest, b: int, x: NDArray) -> int:
    """Walk one row x (p,) down tree b."""
    node = int(forest.root[b])
    while forest.left[node] >= 0:
        goes = goes_left(x[:, None], *direction(forest, node), forest.threshold[node])[0]
        node = int(forest.left[node]) + (0 if goes else 1)
    return node


def predict(forest: Forest, X: NDArray) -> NDArray:
    return np.array(
        [
            np.mean([forest.value[leaf(forest, b, x)] for b in range(forest.n_trees)], axis=0)
            for x in X.T
        ]
    )


def loss(value: NDArray, y: float) -> float:
    return (value[0] - y) ** 2 if len(value) == 1 else float(np.argmax(value) != y)


def out_of_bag(
    forest: Forest, X: NDArray, y: NDArray, weights: NDArray, samplings: list[Sampling],
    streams: NDArray,
) -> tuple[NDArray, NDArray[np.int64], NDArray]:  # fmt: skip
    """Prediction, number of voting trees, and the error of the first b trees, b = 1 … B."""
    draws = zip(streams, samplings, strict=True)
    drawn = np.array([draw_counts(Stream(state), weights, sampling) for state, sampling in draws])
    drawn = drawn > 0
    value = np.full((len(y), forest.value.shape[1]), np.nan)
    path = []
    for b in range(forest.n_trees):
        losses = np.full(len(y), np.nan)
        for i in range(len(y)):
            voters = np.flatnonzero(~drawn[: b + 1, i])
            if len(voters):
                leaves = [leaf(forest, tree, X[:, i]) for tree in voters]
                value[i] = np.mean(forest.value[leaves], axis=0)
                losses[i] = loss(value[i], y[i])
        has = ~np.isnan(losses) & (weights > 0)
        path.append(np.average(losses[has], weights=weights[has]) if has.any() else np.nan)
    return value, (~drawn).sum(axis=0), np.array(path)


def stage_losses(
    forest: Forest, first: NDArray[np.int64], n_stages: int, X: NDArray, y: NDArray,
    weights: NDArray, wanted: NDArray[np.bool_],
) -> tuple[NDArray, NDArray]:  # fmt: skip
    """Sums over rows of weights and losses, each tree walked down again at every stage."""
    rows = np.flatnonzero(wanted.any(axis=0))
    sums = np.zeros((3, n_stages))
    for stage in range(n_stages):
        stopped = forest.keeping(first > stage)
        for i in rows:
            values = [
                forest.value[leaf(stopped, b, X[:, i])]
                for b in range(forest.n_trees)
                if wanted[b, i]
            ]
            lost = loss(np.mean(values, axis=0), y[i])
            sums[:, stage] += [weights[i] * lost, weights[i] ** 2 * lost, (weights[i] * lost) ** 2]
    return np.array([weights[rows].sum(), (weights[rows] ** 2).sum()]), sums


def permutation_loss(
    forest: Forest, X: NDArray, y: NDArray, weights: NDArray, first: NDArray[np.int64],
    samplings: list[Sampling], streams: NDArray,
) -> tuple[NDArray, NDArray, NDArray]:  # fmt: skip
    """Increase of each tree's out-of-bag loss when the columns of one predictor are permuted.

    With it what each row adds to the mean over the trees, and the share of each row in this mean.
    Trees without out-of-bag rows are left out, unless all are.
    """
    B, P, n = forest.n_trees, len(first) - 1, len(y)
    increase, of_row, share = np.zeros((B, P)), np.zeros((P, n)), np.zeros(n)
    for b in range(B):
        stream = Stream(streams[b])
        rows = np.flatnonzero(draw_counts(stream, weights, samplings[b]) == 0).tolist()
        used = set(forest.tree(b).index.tolist())
        moved = list(rows)
        if weights[rows].sum() > 0:
            share[rows] += weights[rows] / weights[rows].sum() / B

        def losses(X: NDArray, b: int = b, rows: list[int] = rows) -> NDArray:
            return np.array([loss(forest.value[leaf(forest, b, X[:, i])], y[i]) for i in rows])

        for j in range(P):
            columns = range(first[j], first[j + 1])
            if weights[rows].sum() > 0 and used.intersection(columns):
                stream.shuffle_front(moved, len(moved))
                permuted = X.copy()
                permuted[np.ix_(columns, rows)] = X[np.ix_(columns, moved)]
                more = losses(permuted) - losses(X)
                increase[b, j] = np.average(more, weights=weights[rows])
                of_row[j, rows] += more * weights[rows] / weights[rows].sum() / B
    counts = [draw_counts(Stream(streams[b]), weights, samplings[b]) for b in range(B)]
    evaluated = np.array([bool((count == 0).any()) for count in counts])
    if evaluated.any():
        increase, part = increase[evaluated], evaluated.mean()
        return increase, of_row / part, share / part
    return increase, of_row, share


def standard_error(parts: NDArray, share: NDArray) -> float:
    """That of a weighted mean of rows that contribute `parts` to it."""
    rows = np.flatnonzero(share)
    off = [parts[i] - share[i] / share.sum() * parts[rows].sum() for i in rows]
    return float(np.sqrt(np.sum(np.square(off)) * len(rows) / (len(rows) - 1)))
