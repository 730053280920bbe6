"""Grow a tree whose leaves are lines.

At each node the candidates are cuts of single predictors, of planes and of directions of curvature,
and hinges begun from the best of these, on all predictors and on the few that bend most.  Each is
evaluated by the best lines of its two sides: a constant, or as many predictors as BIC allows.  So a
tree has steps where the response has steps, and few leaves where it is smooth.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.factors import Matrix, indicated
from odrf.engine.lines.cuts import write_cuts
from odrf.engine.lines.hinges import write_hinges, write_risks
from odrf.engine.lines.leaf_lines import LeafLines
from odrf.engine.lines.moments import RIDGE, write_line, write_moments, write_plane
from odrf.engine.running import end_if_stopped, one_thread
from odrf.engine.trees.forest import Forest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Price of a parameter in units of BIC.  More than 1, as predictors are chosen.
PRICE = 1.5
# The same for each coefficient of a split.
PRICE_OF_SPLITS = 0.5
# Fewest rows of a leaf for each of its terms.
ROWS_A_TERM = 4
# Splits are sought on at most so many of a node's rows, evenly spaced; the best of them are
# evaluated on all rows.
MOST_ROWS, FINALISTS = 4096, 4
# Predictors of which a node's lines and splits are made: those that go with the response most.
MOST_COLUMNS = 64
# Of more columns than the first number, only the best cuts by each criterion are evaluated.
FEW_COLUMNS, BEST_CUTS = 12, 4
# Hinges begin from so many of the best cuts, on so many of the predictors that bend most, and on
# all; of more predictors than the last number, on all only from so many of the cuts.
STARTS, SUBSETS = 5, (2, 4, 8)
WIDE, STARTS_OF_WIDE = 12, 2
# A node's line is an average of its own and its parent's, which counts as so many rows (M5's
# smoothing; Quinlan 1992).  It counts less, as at a step, where its error on the rows of the node
# exceeds that of the node by more than so many times what estimated parameters explain by chance.
SMOOTHING, BY_CHANCE = 15.0, 30.0
# Predictions exceed the range of a leaf's responses by at most this share of it.
MARGIN = 0.05
# Errors below this share of the variance of the response are rounding errors.
LEAST = 1e-9


class LineParams(NamedTuple):
    """How a tree of lines grows.

    `min_leaf`: fewest rows of a leaf.  `max_leaves`, `max_depth`: limits.
    """

    min_leaf: int
    max_leaves: int
    max_depth: int


class _Split(NamedTuple):
    """A split: rows go left where coef·x ≤ threshold, in float32.  `gain`: decrease of the risk."""

    columns: NDArray[np.int32]
    coef: NDArray[np.float32]
    threshold: np.float32
    gain: float


class _Node(NamedTuple):
    """A node: its rows, depth, line (p + 1,) on filled predictors, and the split found for it."""

    rows: Integers
    depth: int
    line: Floats
    risk: float
    error: float
    n_terms: int
    split: _Split | None


class _Rows(NamedTuple):
    """The rows of a tree: X (n, p) as the tree reads it, Z (n, p) with means in missing cells.

    `holes` (h, 2): columns with missing cells, and their missing indicators; `means` (h,).
    `least`: an error of rounding, per unit of weight.
    """

    X: NDArray[np.float32]
    Z: NDArray[np.float32]
    y: Floats
    weights: Floats
    holes: Integers
    means: Floats
    least: float


@one_thread()
def grow_line_tree(
    X: Matrix, y: Floats, weights: Floats, groups: FeatureGroups, params: LineParams
) -> Forest:
    """Return the tree of the rows of X (p, n) with a positive weight, with its `Forest.lines`.

    Impurities of nodes are mean squared errors of their own lines, each multiplied by
    (n + k) / (n - k) for k parameters on n rows, the error to expect on new rows (Akaike 1969).
    The split that decreases the sum of penalised errors most is made next; one that does not
    decrease it is made only below one that does.
    """
    rows = _rows(X, y, weights, groups)
    nodes = [_node(rows, np.arange(len(rows.y)), 0, params)]
    left, order = [-1], [0]
    waiting, hopeful = [(-_gain(nodes[0]), 0)], [True]
    while waiting and len(nodes) // 2 + 1 < params.max_leaves:
        end_if_stopped()
        _, i = heapq.heappop(waiting)
        split = nodes[i].split
        if split is None or not (split.gain > 0.0 or hopeful[i]):
            continue
        goes_left = _goes_left(rows.X, nodes[i].rows, split)
        left[i], order[i] = len(nodes), len(nodes) // 2 + 1
        for side in (goes_left, ~goes_left):
            child = _node(rows, nodes[i].rows[side], nodes[i].depth + 1, params)
            heapq.heappush(waiting, (-_gain(child), len(nodes)))
            nodes.append(child)
            left.append(-1)
            order.append(0)
            hopeful.append(split.gain > 0.0)
    return _as_forest(rows, nodes, np.array(left), np.array(order))


def _gain(node: _Node) -> float:
    return 0.0 if node.split is None else node.split.gain


def _rows(X: Matrix, y: Floats, weights: Floats, groups: FeatureGroups) -> _Rows:
    used = np.flatnonzero(weights > 0.0)
    array = np.ascontiguousarray(indicated(X)[:, used].T)
    first = groups.first[:-1]
    with_holes = np.zeros(len(first), dtype=np.bool_)
    if groups.holes is not None:
        with_holes = groups.holes & (np.diff(groups.first) == 2)
    holes = np.stack([first[with_holes], first[with_holes] + 1], axis=1).astype(np.int64)
    y, weights = y[used], weights[used]
    Z, means = array, np.zeros(len(holes))
    if len(holes):
        Z = array.copy()
        for h, (column, indicator) in enumerate(holes):
            there = array[:, indicator] == 0.0
            means[h] = np.average(array[there, column], weights=weights[there])
            Z[~there, column] = means[h]
    mean = np.average(y, weights=weights)
    least = LEAST * float(np.average((y - mean) ** 2, weights=weights))
    return _Rows(array, Z, y, weights, holes, means, least)


def _goes_left(X: NDArray[np.float32], rows: Integers, split: _Split) -> NDArray[np.bool_]:
    """Return which rows go left, by sums in float32, term by term, as rows are sent later."""
    out = np.empty(len(rows), dtype=np.bool_)
    _write_sides(X, rows, split.columns, split.coef, split.threshold, out)
    return out


@kernel
def _write_sides(X, rows, columns, coef, threshold, out):
    for i in range(len(rows)):
        projected = np.float32(0.0)
        for t in range(len(columns)):
            projected += coef[t] * X[rows[i], columns[t]]
        out[i] = projected <= threshold


def _node(rows: _Rows, members: Integers, depth: int, params: LineParams) -> _Node:
    """Return the node of these rows, with its line and its best split."""
    columns = _columns(rows, members)
    q, n = len(columns), len(members)
    least = rows.least * float(rows.weights[members].sum())
    most_terms = max(0, n // ROWS_A_TERM - 1)
    moments, scratch = np.empty((q + 2, q + 2)), np.empty((q + 2, q + 2))
    write_moments(rows.Z, members, columns, rows.y, rows.weights, np.empty(q + 2), moments)
    own, found = np.empty(q + 1), np.empty(3)
    used = np.empty(q + 1, dtype=np.bool_)
    write_line(moments, n, least, PRICE, most_terms, scratch, used, own, found)
    line = np.zeros(rows.X.shape[1] + 1)
    line[0], line[1 + columns] = own[0], own[1:]
    risk, error, n_terms = float(found[0]), float(found[1]), int(found[2])
    split = None
    if n >= 2 * params.min_leaf and depth < params.max_depth and error > 2.0 * least:
        search = _Search(rows, members, columns, moments, own, least, most_terms, params.min_leaf)
        split = search.best(risk)
    return _Node(members, depth, line, risk, error, n_terms, split)


def _columns(rows: _Rows, members: Integers) -> Integers:
    """Return the columns of which lines and splits of a node are made."""
    p = rows.Z.shape[1]
    if p <= MOST_COLUMNS:
        return np.arange(p)
    Z, weights = rows.Z[members].astype(np.float64), rows.weights[members]
    Z -= np.average(Z, axis=0, weights=weights)
    y = rows.y[members] - np.average(rows.y[members], weights=weights)
    spread = np.sqrt(weights @ Z**2) + 1e-9
    return np.sort(np.argsort(-np.abs((weights * y) @ Z) / spread, kind="stable")[:MOST_COLUMNS])


class _Search:
    """The search for the split of a node.

    `members`: its rows; `columns` (q,); `moments` (q + 2, q + 2) of all its rows; `line` (q + 1,):
    its own.
    """

    def __init__(
        self, rows: _Rows, members: Integers, columns: Integers, moments: Floats, line: Floats,
        least: float, most_terms: int, min_leaf: int,
    ) -> None:  # fmt: skip
        self.rows, self.members, self.columns, self.moments = rows, members, columns, moments
        self.least, self.most_terms, self.min_leaf = least, most_terms, min_leaf
        n, q = len(members), len(columns)
        self.some, self.few = members, min_leaf
        if n > MOST_ROWS:
            self.some = members[np.arange(MOST_ROWS) * n // MOST_ROWS]
            self.few = max(2, min_leaf * MOST_ROWS // n)
        Z = rows.Z[np.ix_(self.some, columns)].astype(np.float64)
        self.Z, self.y, self.weights = Z, rows.y[self.some], rows.weights[self.some]
        self.residual = self.y - line[0] - Z @ line[1:]
        d = q + 2
        self.scratch = np.empty((d, d))
        self.sides = np.empty((2, d, d))
        self.used, self.line = np.empty(d, dtype=np.bool_), np.empty(d)

    def best(self, risk: float) -> _Split | None:
        """Return the split with the smallest penalised error of both sides; None without one."""
        starts, bends = self._cuts()
        if not len(starts):
            return None
        moments = self.moments
        if len(self.some) < len(self.members):
            moments = np.empty_like(self.moments)
            write_moments(
                self.rows.Z, self.some, self.columns, self.rows.y, self.rows.weights, self.line,
                moments,
            )  # fmt: skip
        risks = self._risks(starts, self.some, moments, self.few)
        in_order = np.argsort(risks, kind="stable")[:STARTS]
        begun = starts[in_order[np.isfinite(risks[in_order])]]
        hinges = self._hinges(begun, bends)
        candidates = np.concatenate([starts, hinges])
        risks = np.concatenate([risks, self._risks(hinges, self.some, moments, self.few)])
        in_order = np.argsort(risks, kind="stable")
        if len(self.some) < len(self.members):
            candidates = candidates[in_order[:FINALISTS]]
            risks = self._risks(candidates, self.members, self.moments, self.min_leaf)
            in_order = np.argsort(risks, kind="stable")
        for at in in_order[:FINALISTS]:
            if np.isfinite(risks[at]):
                split = self._split(candidates[at], risk - float(risks[at]))
                if split is not None:
                    return split
        return None

    def _cuts(self) -> tuple[Floats, Integers]:
        """Return cuts as splits (c, q + 1), and the columns in the order of how much they bend.

        Of each column, of the plane of the response, of that of the squared residuals, and of the
        directions in which the residuals curve most.
        """
        q = len(self.columns)
        variables = np.concatenate([np.eye(q), self._directions()])
        values = np.ascontiguousarray(variables @ self.Z.T)
        order = np.argsort(values, axis=1, kind="stable")
        decreases, cuts = np.zeros((2, 3, len(variables)))
        write_cuts(values, order, self.y, self.residual, self.weights, self.few, decreases, cuts)
        kept = np.isfinite(cuts)
        if q > FEW_COLUMNS:
            ranks = np.argsort(np.argsort(-decreases[:, :q], axis=1, kind="stable"), axis=1)
            kept[:, :q] &= ranks < BEST_CUTS
        criterion, variable = np.nonzero(kept)
        splits = np.concatenate(
            [-cuts[criterion, variable][:, np.newaxis], variables[variable]], axis=1
        )
        return splits, np.argsort(-decreases[2, :q], kind="stable")

    def _directions(self) -> Floats:
        """Return the directions (d, q) that are tried besides single columns."""
        squares = self.residual**2
        directions = [self._plane(self.y), self._plane(squares)]
        weights = self.weights / self.weights.sum()
        centred = self.Z - weights @ self.Z
        spread = np.sqrt(weights @ centred**2)
        varies = spread > 1e-9
        scaled = np.divide(centred, spread, out=np.zeros_like(centred), where=varies)
        curvature = (scaled * (weights * self.residual)[:, np.newaxis]).T @ scaled
        values, vectors = np.linalg.eigh(curvature)
        for at in np.argsort(-np.abs(values), kind="stable")[:2]:
            directions.append(
                np.divide(vectors[:, at], spread, out=np.zeros(len(spread)), where=varies)
            )
        kept = [theta for theta in directions if np.isfinite(theta).all() and theta.any()]
        return np.array(kept).reshape(len(kept), len(self.columns))

    def _plane(self, target: Floats) -> Floats:
        """Return the coefficients (q,) of the plane of a target on all columns."""
        Z = np.ascontiguousarray(self.Z, dtype=np.float32)
        q = len(self.columns)
        moments, plane = np.empty((q + 2, q + 2)), np.empty(q + 1)
        every = np.arange(len(Z))
        write_moments(Z, every, np.arange(q), target, self.weights, self.line, moments)
        write_plane(moments, RIDGE, self.scratch, plane)
        return plane[1:]

    def _risks(self, splits: Floats, members: Integers, moments: Floats, min_leaf: int) -> Floats:
        risks, left = np.empty(len(splits)), np.empty(len(members), dtype=np.bool_)
        least = self.least * len(members) / len(self.members)
        options = min_leaf, least, PRICE, self.most_terms
        write_risks(
            self.rows.Z, members, self.columns, self.rows.y, self.rows.weights, moments, options,
            splits, left, self.sides, self.scratch, self.used, self.line, risks,
        )  # fmt: skip
        n_terms = (splits[:, 1:] != 0.0).sum(axis=1)
        n = len(members)
        return risks * np.exp(PRICE_OF_SPLITS * n_terms * np.log(n) / n)

    def _hinges(self, starts: Floats, bends: Integers) -> Floats:
        """Return the hinges (h, q + 1) begun from each of the starts (s, q + 1)."""
        q, n = len(self.columns), len(self.some)
        sizes = [size for size in SUBSETS if size < q] + [q]
        sizes = [size for size in sizes if size < SUBSETS[-1] or 3 * size <= n]
        of_starts = np.tile(np.array(sizes), (len(starts), 1))
        if q > WIDE:
            of_starts[STARTS_OF_WIDE:][of_starts[STARTS_OF_WIDE:] == q] = 0
        subsets = np.zeros((len(starts), len(sizes), q), dtype=np.int64)
        for s, start in enumerate(starts):
            alone = np.flatnonzero(start[1:])
            for t, size in enumerate(sizes):
                subsets[s, t, :size] = bends[:size] if size < q else np.arange(q)
                if len(alone) == 1 and alone[0] not in subsets[s, t, :size]:
                    subsets[s, t, size - 1] = alone[0]  # the predictor of a cut is in its hinges
        splits = np.empty((len(starts) * len(sizes), q + 1))
        d, own = q + 2, np.empty(q, dtype=np.int64)
        left, goes_left = np.empty((2, n), dtype=np.bool_)
        write_hinges(
            self.rows.Z, self.some, self.columns, self.rows.y, self.rows.weights, self.few, RIDGE,
            starts, subsets, of_starts, left, goes_left, np.empty((2, n)), np.empty((n, d)),
            np.empty(n), np.empty((2, d, d)), self.scratch, np.empty((2, d)), own, self.line,
            splits,
        )  # fmt: skip
        return splits[np.isfinite(splits).all(axis=1)]

    def _split(self, split: Floats, gain: float) -> _Split | None:
        """Return a split (q + 1,) as the tree reads it; None if a side then has too few rows."""
        theta = np.zeros(self.rows.X.shape[1])
        theta[self.columns] = split[1:]
        threshold = -split[0]
        for (column, indicator), mean in zip(self.rows.holes, self.rows.means, strict=True):
            theta[indicator] += theta[column] * mean
        size = float(np.sqrt(theta @ theta))
        if not size > 0.0:
            return None
        columns = np.flatnonzero(np.abs(theta) > 1e-7 * size)
        found = _Split(
            columns.astype(np.int32), (theta[columns] / size).astype(np.float32),
            np.float32(threshold / size), gain,
        )  # fmt: skip
        n_left = int(_goes_left(self.rows.X, self.members, found).sum())
        return found if self.min_leaf <= n_left <= len(self.members) - self.min_leaf else None


def _as_forest(rows: _Rows, nodes: list[_Node], left: Integers, order: Integers) -> Forest:
    """Return the nodes as a forest of one tree, in the order in which they were made."""
    m, empty = len(nodes), np.empty(0)
    split = [node.split if child >= 0 else None for node, child in zip(nodes, left, strict=True)]
    weight = np.array([rows.weights[node.rows].sum() for node in nodes])
    count = np.array([len(node.rows) for node in nodes])
    value = np.array([np.average(rows.y[n.rows], weights=rows.weights[n.rows]) for n in nodes])
    k = np.array([node.n_terms + 1 for node in nodes])
    error = np.array([node.error for node in nodes])
    impurity = error * (count + k) / np.maximum(count - k, 0.5) / weight
    gain = np.zeros(m)
    at = np.flatnonzero(left >= 0)
    after = weight[left[at]] * impurity[left[at]] + weight[left[at] + 1] * impurity[left[at] + 1]
    gain[at] = impurity[at] - after / weight[at]
    sizes = [0 if each is None else len(each.columns) for each in split]
    made = [each for each in split if each is not None]
    arrays: dict[str, Any] = {
        "root": np.array([0, m]),
        "left": left.astype(np.int32),
        "threshold": np.array(
            [np.nan if each is None else each.threshold for each in split], dtype=np.float32
        ),
        "start": np.append(0, np.cumsum(sizes)).astype(np.int32),
        "index": np.concatenate([empty, *(each.columns for each in made)]).astype(np.int32),
        "coef": np.concatenate([empty, *(each.coef for each in made)]).astype(np.float32),
        "value": value[:, np.newaxis],
        "count": count.astype(np.int32),
        "weight": weight,
        "impurity": impurity,
        "gain": gain,
        "order": order.astype(np.int32),
        "ordered": np.bool_(False),
        "surrogates": None,
        "lines": _lines(rows, nodes, left),
    }
    return Forest.of(arrays)


def _agreement(rows: _Rows, node: _Node, parent: Floats) -> float:
    """Return a number from 0 to 1, the smaller the worse the parent's line fits the node's rows."""
    y, weights = rows.y[node.rows], rows.weights[node.rows]
    excess = float(weights @ (y - parent[0] - rows.Z[node.rows] @ parent[1:]) ** 2) - node.error
    n, k = len(node.rows), node.n_terms + 1
    by_chance = BY_CHANCE * k * node.error / (n - k)
    return min(1.0, by_chance / excess) if excess > 0.0 else 1.0


def _lines(rows: _Rows, nodes: list[_Node], left: Integers) -> LeafLines:
    """Return the lines of all nodes, averaged with those of their parents."""
    lines: list[Floats] = [node.line for node in nodes]
    for i, child in enumerate(left):
        if child >= 0:
            for c in (child, child + 1):
                n = len(nodes[c].rows)
                s = SMOOTHING * _agreement(rows, nodes[c], lines[i])
                lines[c] = (n * lines[c] + s * lines[i]) / (n + s)
    columns, coef = [], []
    for line in lines:
        theta = line[1:].copy()
        for (column, indicator), mean in zip(rows.holes, rows.means, strict=True):
            theta[indicator] += theta[column] * mean
        at = np.flatnonzero(theta)
        columns.append(at)
        coef.append(theta[at])
    low = np.array([rows.y[node.rows].min() for node in nodes])
    high = np.array([rows.y[node.rows].max() for node in nodes])
    margin = MARGIN * (high - low)
    return LeafLines(
        np.append(0, np.cumsum([len(each) for each in columns])),
        np.concatenate(columns).astype(np.int32),
        np.concatenate(coef),
        np.array([line[0] for line in lines]),
        low - margin,
        high + margin,
        np.array([node.n_terms + 1 for node in nodes], dtype=np.int32),
    )
