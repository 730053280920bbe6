"""Importance of predictors and directions: by training, held-out and out-of-bag rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, rows_of_predictors, stored, with_rows
from odrf.engine.oob import LeafScale, sums_in_units
from odrf.engine.resamples import Draws
from odrf.engine.running import in_order, one_thread
from odrf.engine.trees.forest import Forest, node_of_terms
from odrf.engine.trees.routing import leaves_of, routing_blocks
from odrf.statistics.data_checks import distinct_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Directions of unit length whose coefficients differ by less are the same.
ALIKE = 1e-4
MOST_STEPS = 2.0**62


class Directions(NamedTuple):
    """The distinct directions, θ and -θ being the same: of each node, and one node of each."""

    of_node: Integers
    example: Integers


def impurity_importance(forest: Forest, first: Integers) -> Floats:
    """Return the mean impurity decrease per tree of each predictor (P,), in units of the criterion.

    The decrease w(A)·Δ_A / w(root) of a split is divided by `shared_out`: the sum over predictors
    is the mean decrease of a tree. Predictor j has the columns ``first[j]:first[j + 1]``.
    """
    return shared_out(forest, _decreases(forest), first) / forest.n_trees


def summed_importance(forest: Forest, first: Integers) -> Floats:
    """Return the impurity decrease of each predictor (P,), summed over trees that are summed."""
    removed = np.where(forest.is_split(), forest.weight * forest.gain, 0.0)
    return shared_out(forest, removed, first)


def response_columns(y: Floats, n_classes: int) -> Floats:
    """Return responses (n, K): a number as it is (K = 1), a class as indicators of all classes."""
    return y[:, None] if n_classes == 1 else np.eye(n_classes)[y.astype(np.int64)]


def sampling_errors(of_row: NDArray, share: Floats, groups: Integers | None = None) -> Floats:
    """Return the standard errors (P,) of means over rows, or over `groups` (n,) of them."""
    if groups is not None:
        in_groups = [np.bincount(groups, row).astype(np.float64) for row in (share, *of_row)]
        return sampling_errors(np.array(in_groups[1:]), in_groups[0])
    known = share > 0
    m = int(known.sum())
    if m < 2:
        return np.full(len(of_row), np.nan)
    part = share[known] / share[known].sum()
    errors = [
        np.sum((values - part * values.sum()) ** 2)
        for values in (row[known].astype(np.float64) for row in of_row)
    ]
    return np.sqrt(np.array(errors) * m / (m - 1))


def shared_out(forest: Forest, decrease: Floats, first: Integers) -> Floats:
    """Divide the decrease of each split (m,) among its predictors (P,), in proportion to ranges.

    The range of a predictor is the largest minus the smallest of its coefficients and 0: |θ_j| of a
    number, scaled to [0, 1]. So a factor of many levels counts as a number that moves rows as far.
    """
    P = len(first) - 1
    if not len(forest.coef):
        return np.zeros(P)
    predictor = np.repeat(np.arange(P), np.diff(first))
    pair = node_of_terms(forest) * P + predictor[forest.index]
    order = np.argsort(pair, kind="stable")
    begins = np.flatnonzero(np.diff(pair[order], prepend=-1))
    coef = forest.coef[order].astype(np.float64)
    size = np.maximum(np.maximum.reduceat(coef, begins), 0.0)
    size -= np.minimum(np.minimum.reduceat(coef, begins), 0.0)
    node, of = np.divmod(pair[order[begins]], P)
    whole = np.bincount(node, weights=size, minlength=forest.n_nodes)
    shared: Floats = np.zeros(P)
    np.add.at(shared, of, decrease[node] * size / whole[node])
    return shared


def _decreases(forest: Forest) -> Floats:
    """Return by how much each split decreases the impurity of its tree, (m,)."""
    root = np.repeat(forest.root[:-1], np.diff(forest.root))
    # a tree without a split may have no weight either
    return np.divide(
        forest.weight * forest.gain,
        forest.weight[root],
        out=np.zeros(forest.n_nodes),
        where=forest.is_split(),
    )


def distinct_directions(forest: Forest) -> Directions:
    """Return which nodes split along the same direction (Tomita et al. 2020, section 4.5)."""
    of_node = np.full(forest.n_nodes, -1)
    split, width = forest.is_split(), np.diff(forest.start)
    examples, known = [np.empty(0, dtype=np.int64)], 0
    for size in np.unique(width[split]):
        nodes = np.flatnonzero(split & (width == size))
        terms = forest.start[nodes][:, None] + np.arange(size)
        columns, coef = forest.index[terms], forest.coef[terms].astype(np.float64)
        order = np.argsort(columns, axis=1)
        columns = np.take_along_axis(columns, order, axis=1)
        coef = np.take_along_axis(coef, order, axis=1)
        steps = np.round(np.sign(coef[:, :1]) * coef / ALIKE)
        # the term of missing cells that always go one way is beyond whole numbers
        steps = np.clip(steps, -MOST_STEPS, MOST_STEPS).astype(np.int64)
        first, number = distinct_rows(np.hstack([columns, steps]))
        of_node[nodes] = known + number
        examples.append(nodes[first])
        known += len(first)
    return Directions(of_node, np.concatenate(examples))


def direction_importance(forest: Forest, directions: Directions) -> Floats:
    """Return the mean impurity decrease per tree by the splits along each direction (k,)."""
    nodes = directions.of_node >= 0
    k = len(directions.example)
    removed = np.bincount(directions.of_node[nodes], weights=_decreases(forest)[nodes], minlength=k)
    return removed / forest.n_trees


def importance_by_tree(forest: Forest, directions: Directions, chosen: Integers) -> Floats:
    """Return the impurity decrease (B, j) of each tree by splits along the `chosen` directions."""
    place = np.full(len(directions.example) + 1, -1)
    place[chosen] = np.arange(len(chosen))
    place_of_node = place[directions.of_node]
    nodes = np.flatnonzero(place_of_node >= 0)
    tree = np.searchsorted(forest.root, nodes, side="right") - 1
    removed = np.bincount(
        tree * len(chosen) + place_of_node[nodes],
        weights=_decreases(forest)[nodes],
        minlength=forest.n_trees * len(chosen),
    )
    return removed.reshape(forest.n_trees, len(chosen)).astype(np.float64)


def usage(forest: Forest, first: Integers) -> Integers:
    """Return the number of splits (P,), π_k of Perry (2020), that have each predictor."""
    node = node_of_terms(forest)
    in_split = forest.is_split()[node]
    predictor = np.searchsorted(first, forest.index[in_split], side="right") - 1
    P = len(first) - 1
    once = np.unique(node[in_split] * P + predictor)
    return np.bincount(once % P, minlength=P)


# Rows times trees whose leaves are computed in one batch.
LEAVES_AT_ONCE = 2**22
# Nodes times outputs of the trees whose sums are stored at once.
SUMS_AT_ONCE = 2**24
# Fewer rows have no covariance.
FEWEST_ROWS = 2


class HeldOutTrees(NamedTuple):
    """Trees, pruned or not, and their validation rows (n,), which grew none of them."""

    forest: Forest
    rows: NDArray[np.bool_]


def held_out_importance(
    parts: Iterable[HeldOutTrees],
    X: Matrix,
    target: Floats,
    weights: Floats,
    first: Integers,
    summed: bool,
    n_jobs: int,
) -> Floats:
    """Return the held-out importance of each predictor (P,), the mean over parts with two rows.

    That of a split is the covariance of the response with the change of the prediction that the
    split makes, over rows that did not grow the tree, divided by `shared_out`: 0 on average for
    responses in random order. `target` (n, K). If `summed`, each tree adds to one of K outputs in
    turn.
    """
    total, n_used, K = np.zeros(len(first) - 1), 0, target.shape[1]
    for forest, rows, centred in _centred_parts(parts, target, weights):
        forest = _with_inner_values(forest) if summed else forest
        evaluated = (
            (leaf, centred[:, [b % K]] if summed else centred)
            for b, leaf in leaves_by_tree(forest, with_rows(X, rows), n_jobs)
        )
        of_part = shared_out(forest, added_covariances(forest, evaluated), first)
        total += of_part if summed else of_part / forest.n_trees
        n_used += 1
    return total / max(n_used, 1)


def permuted_importance(
    parts: Iterable[HeldOutTrees],
    X: Matrix,
    target: Floats,
    weights: Floats,
    first: Integers,
    seed: int,
    n_jobs: int,
) -> Floats:
    """Return the held-out importance of each predictor (P,), of all of a tree together.

    For splits that use all predictors, and for leaves with lines.

    It is the covariance of response and prediction over the validation rows, minus what is left of
    it when the columns of the predictor are permuted among them.
    """
    rng = np.random.default_rng(seed)
    total, n_used = np.zeros(len(first) - 1), 0
    for forest, rows, centred in _centred_parts(parts, target, weights):
        held = with_rows(X, rows)
        before = _covariances(forest, held, centred, np.arange(forest.n_trees), n_jobs)
        uses, array = np.zeros((forest.n_trees, len(first) - 1), dtype=bool), stored(held)
        for b, (begin, end) in enumerate(pairwise(forest.start[forest.root])):
            columns = np.unique(forest.index[begin:end])
            if forest.lines is not None:
                columns = np.union1d(columns, forest.lines.column)
            uses[b, np.searchsorted(first, columns, side="right") - 1] = True
        for j, (begin, end) in enumerate(zip(*rows_of_predictors(held, first), strict=True)):
            trees, values = np.flatnonzero(uses[:, j]), array[begin:end].copy()
            array[begin:end] = values[:, rng.permutation(len(rows))]
            after = _covariances(forest, held, centred, trees, n_jobs)
            array[begin:end] = values
            total[j] += (before[trees] - after[trees]).sum() / forest.n_trees
        n_used += 1
    return total / max(n_used, 1)


def _centred_parts(
    parts: Iterable[HeldOutTrees], target: Floats, weights: Floats
) -> Iterator[tuple[Forest, Integers, Floats]]:
    """Yield trees, their validation rows (m,), and targets (m, K) less the mean, times shares."""
    for forest, evaluating in parts:
        rows = np.flatnonzero(evaluating & (weights > 0))
        if len(rows) >= FEWEST_ROWS:
            with one_thread():
                share = weights[rows] / weights[rows].sum()
                centred = share[:, None] * (target[rows] - share @ target[rows])
            yield forest, rows, centred


@one_thread()
def _covariances(
    forest: Forest, X: Matrix, centred: Floats, trees: Integers, n_jobs: int
) -> Floats:
    """Return the covariance of the response with each of the `trees`: (B,), 0 for the others."""
    covariance = np.zeros(forest.n_trees)
    for b, leaf in leaves_by_tree(forest, X, n_jobs, trees):
        covariance[b] = np.vdot(centred, forest.values(leaf, X, np.arange(len(leaf))))
    return covariance


def leaves_by_tree(
    forest: Forest, X: Matrix, n_jobs: int, trees: Integers | None = None
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Yield the number of each of the trees, by default all, and the leaves (n,) of X (p, n)."""
    step = max(1, LEAVES_AT_ONCE // X.shape[1])
    numbers = np.arange(forest.n_trees) if trees is None else trees
    for begin in range(0, len(numbers), step):
        some = numbers[begin : begin + step]
        packed = forest.packed_for(X)
        packed = packed._replace(root=packed.root[some])
        sent = partial(leaves_of, packed, X)
        leaves = np.hstack(list(in_order(sent, routing_blocks(forest, X, n_jobs), n_jobs)))
        yield from zip(some.tolist(), leaves, strict=True)


def added_covariances(
    forest: Forest, evaluated: Iterable[tuple[NDArray[np.int32], Floats]]
) -> Floats:
    """Return for each split (m,) the sum of its rows times its change of the prediction."""
    added, evaluated, first = np.zeros(forest.n_nodes), iter(evaluated), 0
    while first < forest.n_trees:
        # the sums of all trees would take as much memory as the trees
        begin = forest.root[first]
        most = begin + SUMS_AT_ONCE // forest.value.shape[1]
        last = max(first + 1, int(np.searchsorted(forest.root, most, side="right")) - 1)
        part = forest.trees(first, last)
        sums = np.zeros_like(part.value)
        for (lo, hi), (leaf, rows) in zip(pairwise(part.root), evaluated, strict=False):
            for k, column in enumerate(rows.T):
                sums[lo:hi, k] = np.bincount(leaf - (begin + lo), column, hi - lo)
        added[begin : begin + part.n_nodes] = covariances_of_sums(part, sums)
        first = last
    return added


def covariances_of_sums(forest: Forest, sums: Floats) -> Floats:
    """Return the same of `sums` (m, K) of the rows of each leaf, which become those of nodes."""
    added = np.zeros(forest.n_nodes)
    for nodes in _splits_from_below(forest):
        for side in range(2):
            child = forest.left[nodes] + side
            change = forest.value[child] - forest.value[nodes]
            added[nodes] += (change * sums[child]).sum(axis=1)
            sums[nodes] += sums[child]
    return added


def _with_inner_values(forest: Forest) -> Forest:
    """Return the trees with the mean of the leaves below as the value of each inner node."""
    value, weight = forest.value.copy(), forest.weight
    for nodes in _splits_from_below(forest):
        left, right = forest.left[nodes], forest.left[nodes] + 1
        of_left = weight[left] / (weight[left] + weight[right])
        value[nodes, 0] = of_left * value[left, 0] + (1.0 - of_left) * value[right, 0]
    return replace(forest, value=value)


def _splits_from_below(forest: Forest) -> Iterator[Integers]:
    """Yield the splits of each depth, the deepest first."""
    depth = forest.depth()
    split = np.flatnonzero((forest.left >= 0) & (depth >= 0))
    split = split[np.argsort(-depth[split], kind="stable")]
    yield from np.split(split, np.flatnonzero(np.diff(depth[split])) + 1)


# Importance of predictors by out-of-bag rows, which have not chosen the splits.
def out_of_bag_importance(
    forest: Forest,
    X: Matrix,
    y: Floats,
    first: Integers,
    draws: Draws,
    advance: Callable[[], object] = lambda: None,
) -> Floats:
    """Return the out-of-bag impurity decrease of each predictor (P,), the mean over trees.

    It is the covariance of the response with the change of the prediction that a split makes, over
    rows that the tree did not sample (Li, Wang, Basu, Kumbier and Yu 2019, NeurIPS): 0 on average
    of a split that is unrelated to the response, whatever the number of values of its predictors.
    """
    out_of_bag, weights = draws.all_unseen() & (draws.weights > 0), draws.weights
    K = forest.value.shape[1]
    target = response_columns(y, K)
    centred = weights[:, None] * (target - np.average(target, axis=0, weights=weights))
    n_used = int(out_of_bag.any(axis=1).sum())

    def evaluated() -> Iterator[tuple[NDArray[np.int32], Floats]]:
        for b, leaf in leaves_by_tree(forest, X, draws.n_jobs):
            rows = np.flatnonzero(out_of_bag[b])
            advance()  # before the last tree is returned: no other one is requested
            yield leaf[rows], centred[rows] / weights[rows].sum()

    return shared_out(forest, added_covariances(forest, evaluated()), first) / max(n_used, 1)


def importance_of_sums(
    forest: Forest, sums: Integers, scale: LeafScale, mean: Floats, first: Integers
) -> Floats:
    """Return the `out_of_bag_importance` (P,) of sums over the rows of each leaf.

    `sums` (m, K + 1) are those of weights times responses, or of each class, and of the weights, by
    `odrf.engine.chunks` in units of `scale`; `mean` (K,) is the weighted mean of all rows.
    """
    total, n_used = np.zeros(len(first) - 1), 0
    # one tree after the other: what is computed of all nodes would take more memory than the trees
    for b in range(forest.n_trees):
        of_tree = sums_in_units(sums[forest.root[b] : forest.root[b + 1]], scale)
        weight = of_tree[:, -1].sum()
        if weight > 0:
            tree = forest.tree(b)
            centred = (of_tree[:, :-1] - of_tree[:, -1:] * (mean - scale.centre)) / weight
            total += shared_out(tree, covariances_of_sums(tree, centred), first)
            n_used += 1
    return total / max(n_used, 1)


# How many predictors matter, by their importances.
def effective_number(importance: Floats, order: int) -> float:
    """Return the effective number of importances (P,) ≥ 0, of Hill (1973), of order 2 or 1.

    With shares s, 1 / Σ s² or exp(-Σ s log s): m if m are equal and the others 0.
    """
    if not (importance > 0).any():
        return 0.0
    share = importance / importance.max()
    share = share[share > 0] / share.sum()
    if order == 2:
        return float(1 / (share**2).sum())
    return float(np.exp(-(share * np.log(share)).sum()))


def largest(importance: Floats, number: float) -> Integers:
    """Return, ascending, which are the largest `number`, rounded up, of importances (P,)."""
    return np.sort(np.argsort(-importance, kind="stable")[: math.ceil(number)])
