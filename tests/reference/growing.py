"""Algorithm 1 of Zhan, Liu and Xia, with a list of nodes per level as the paper writes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.candidates import INDICATORS, LEAST_SQUARES, LOGISTIC, Blocks
from odrf.engine.growing import AIC, NO_PENALTY, Settings
from odrf.engine.sampling import Sampling
from reference.directions import centred, lda, least_squares, level_means, logistic
from reference.impurity import cuts, gain, impurity
from reference.randomness import Stream, draw_counts, largest_subset

# Projected values, all of order 1, that differ by less are equal but for rounding.
ROUNDING = 1e-9
NEGLIGIBLE = 1e-12

Candidate = tuple[list[int], NDArray | None]


@dataclass
class Node:
    """A node and, once it has been searched, its candidate directions (columns, θ).

    θ is None where the data do not determine it (the target is uncorrelated with every column):
    what a solver returns there is rounding, and any direction on those columns may follow.
    """

    rows: NDArray[np.int64]
    y: NDArray
    w: NDArray
    counts: NDArray[np.int64]
    depth: int
    candidates: list[Candidate] | None = None
    left: int = -1
    order: int = 0


class Split(NamedTuple):
    score: float
    gain: float
    left: NDArray[np.bool_]


def score(node: Node, gain: float, columns: list[int], settings: Settings) -> float:
    """The gain, or with a penalty N·log(I(A)/(I(A) - Δ)) - c·(coefficients and threshold)."""
    if settings.penalty == NO_PENALTY:
        return gain
    remaining = max(1 - gain / impurity(node.y, node.w, settings.criterion), NEGLIGIBLE)
    c = 2 if settings.penalty == AIC else math.log(node.counts.sum())
    return -node.counts.sum() * math.log(remaining) - c * (len(columns) + 1)


def best_split(node: Node, X: NDArray, settings: Settings) -> Split | None:
    """The first best of all cuts along all candidates; None when nothing is gained."""
    best = None
    for columns, theta in node.candidates:
        if theta is None:
            continue
        values = theta @ X[columns][:, node.rows]
        for left in cuts(values, node.counts, settings.min_leaf, ROUNDING):
            found = gain(node.y, node.w, left, settings.criterion)
            if found <= NEGLIGIBLE * impurity(node.y, node.w, settings.criterion):
                continue
            split = Split(score(node, found, columns, settings), found, left)
            if split.score > (best.score if best else 0):
                best = split
    return best


def _draw_target(stream: Stream, y: NDArray, a: NDArray, n_classes: int) -> NDArray | None:
    """The response on [0, 1], or the mark of a random side of the classes; None if constant."""
    present = np.unique(y)
    if len(present) < 2:
        return None
    if n_classes == 1:
        return (y - y.min()) / (y.max() - y.min())
    if len(present) == 2:
        return (y == present[1]).astype(float)
    if stream.uniform() < 0.5:
        weight = np.cumsum([a[y == k].sum() for k in present])
        one = np.searchsorted(weight, stream.uniform() * weight[-1], side="right")
        return (y == present[one]).astype(float)
    chosen = np.zeros(len(present), dtype=bool)
    while chosen.all() or not chosen.any():
        chosen = np.array([stream.uniform() < 0.5 for _ in present])
    return np.isin(y, present[chosen]).astype(float)


def _direction(
    Z: NDArray, t: NDArray, a: NDArray, estimate: Callable[[], NDArray]
) -> NDArray | None:
    if np.all(np.abs(centred(Z, a).T @ (a * centred(t, a))) <= NEGLIGIBLE * a.sum()):
        return None
    theta = estimate()
    return theta / np.linalg.norm(theta)


def _single(stream: Stream, X: NDArray, node: Node, blocks: Blocks, j: int, settings: Settings):
    columns = list(range(blocks.first[j], blocks.first[j + 1]))
    if len(columns) == 1:
        return columns, np.ones(1)
    t = _draw_target(stream, node.y, node.w, settings.n_classes)
    if t is None:
        return None
    Z = X[columns][:, node.rows].T
    estimator = level_means if blocks.types[j] == INDICATORS else least_squares
    return columns, _direction(Z, t, node.w, lambda: estimator(Z, t, node.w))


def _on_subset(stream: Stream, X: NDArray, node: Node, blocks: Blocks, subset, settings: Settings):
    columns = [c for j in subset for c in range(blocks.first[j], blocks.first[j + 1])]
    if len(columns) == 1:
        return columns, np.ones(1)
    limit = max(settings.direction_rows, 10 * len(columns))
    sample = np.arange(len(node.rows))
    if len(sample) > limit:
        sample = np.array([stream.below(len(node.rows)) for _ in range(limit)])
    y, a = node.y[sample], node.w[sample]
    t = _draw_target(stream, y, a, settings.n_classes)
    if t is None:
        return None
    Z = X[columns][:, node.rows[sample]].T
    if settings.family == LOGISTIC:
        return columns, _direction(Z, t, a, lambda: logistic(Z, t, a))
    if settings.family == LEAST_SQUARES:
        return columns, _direction(Z, t, a, lambda: least_squares(Z, t, a))
    return columns, _direction(Z, t, a, lambda: lda(Z, t, a, y))


def draw_candidates(
    stream: Stream,
    X: NDArray,
    node: Node,
    blocks: Blocks,
    permutation: list[int],
    settings: Settings,
) -> list[Candidate]:
    """Single predictors first, then directions on random subsets of q predictors."""
    P = len(permutation)
    singles = list(range(P))
    if settings.n_singles < P:
        stream.shuffle_front(permutation, settings.n_singles)
        singles = permutation[: settings.n_singles]
    found = [_single(stream, X, node, blocks, j, settings) for j in singles]
    for _ in range(settings.n_projections):
        q = settings.subset_size or 1 + stream.below(min(largest_subset(node.counts.sum()), P))
        stream.shuffle_front(permutation, q)
        found.append(_on_subset(stream, X, node, blocks, permutation[:q], settings))
    return [candidate for candidate in found if candidate is not None]


Choose = Callable[[int, Node], Split | None]


def grow(
    X: NDArray,
    y: NDArray,
    weights: NDArray,
    blocks: Blocks,
    sampling: Sampling,
    settings: Settings,
    stream: Stream,
    choose: Choose | None = None,
) -> list[Node]:
    """Algorithm 1: level after level, each node split or carried unchanged to the next.

    `choose` (number, node) returns the split of a node; by default the first best one.
    """
    choose = choose or (lambda _, node: best_split(node, X, settings))
    counts = draw_counts(stream, weights, sampling)
    rows = np.flatnonzero(counts)
    nodes = [Node(rows, y[rows], weights[rows] * counts[rows], counts[rows], 0)]
    permutation = list(range(len(blocks.types)))
    root_impurity = impurity(nodes[0].y, nodes[0].w, settings.criterion)
    level, carried, leaves = [0], [], 1
    while level != carried:
        carried, next_level = level, []
        for number in level:
            node, split = nodes[number], None
            if (
                leaves < settings.max_leaves
                and node.depth < settings.max_depth
                and node.counts.sum() >= 2 * settings.min_leaf
                and impurity(node.y, node.w, settings.criterion) > NEGLIGIBLE * root_impurity
                and node.candidates is None
            ):
                node.candidates = draw_candidates(stream, X, node, blocks, permutation, settings)
                split = choose(number, node)
            if split is None:
                next_level.append(number)
                continue
            node.left, node.order = len(nodes), leaves
            nodes += [_child(node, split.left), _child(node, ~split.left)]
            next_level += [node.left, node.left + 1]
            leaves += 1
        level = next_level
    return nodes


def _child(node: Node, at: NDArray[np.bool_]) -> Node:
    return Node(node.rows[at], node.y[at], node.w[at], node.counts[at], node.depth + 1)
