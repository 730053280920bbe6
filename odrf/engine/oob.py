"""Out-of-bag predictions: their errors, permutation losses, and the losses of pruned forests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import allocating, kernel, part
from odrf.engine.factors import Matrix, rows_of_predictors, stored, with_rows
from odrf.engine.memory import require_memory
from odrf.engine.numeric import shuffle_front
from odrf.engine.resamples import Draws
from odrf.engine.running import ROWS_PER_BLOCK, end_if_stopped, in_blocks, in_order, row_blocks
from odrf.engine.trees.forest import NUMBER, Forest, predicted_class
from odrf.engine.trees.routing import EVERY_ROW, leaves_of, walk

# Instead of a sum of weights that is 0.
TINY = 1e-300

# So many rows walk down a tree before the permutation importance looks whether it is to stop.
ROWS_AT_ONCE = 2**19


class OutOfBag(NamedTuple):
    """Out-of-bag results of a forest.

    `value` (n, K): mean leaf value over the trees that did not draw the row; NaN without any.
    `votes` (n,): their number.  `error_path` (B,): weighted mean loss of the first b trees over the
    rows that have a prediction of them.
    """

    value: NDArray[np.float64]
    votes: NDArray[np.int64]
    error_path: NDArray[np.float64]


class LossIncrease(NamedTuple):
    """By how much the out-of-bag loss of B trees increases when one of P predictors is permuted.

    `of_tree` (B, P): weighted mean increase over the out-of-bag rows of each tree, if it has any.
    `of_row` (P, n): what each row contributes; the sum over the rows is the mean over the trees.
    `share` (n,): the share of the row in these means.
    """

    of_tree: NDArray[np.float64]
    of_row: NDArray[np.float32]
    share: NDArray[np.float64]


@part
def loss_of(value, y, prediction_rule):
    """Return the squared error of value[0], or for classes the 0-1 loss of the predicted class."""
    if prediction_rule == NUMBER:
        return (value[0] - y) ** 2
    return 0.0 if predicted_class(value, prediction_rule) == int(y) else 1.0


@allocating
def _accumulate(leaves, y, weights, lo, unseen, value, prediction_rule, out, votes, path):
    """Add the predictions of the rows from `lo` on, tree by tree, to `out` and `votes`.

    leaves (B, m) are the leaves of these rows, valid where unseen (B, n) is true.  path (B, 2)
    receives the sums of weighted losses and of weights.
    """
    n_trees, n_rows = leaves.shape
    n_values = value.shape[1]
    mean, losses = np.empty(n_values), np.zeros(n_rows)
    for b in range(n_trees):
        for i in range(n_rows):
            row = lo + i
            if unseen[b, row]:
                votes[row] += 1
                for k in range(n_values):
                    out[row, k] += value[leaves[b, i], k]
                    mean[k] = out[row, k] / votes[row]
                losses[i] = loss_of(mean, y[row], prediction_rule)
            if votes[row] > 0:
                path[b, 0] += weights[row] * losses[i]
                path[b, 1] += weights[row]
    for row in range(lo, lo + n_rows):
        for k in range(n_values):
            out[row, k] = out[row, k] / votes[row] if votes[row] > 0 else np.nan


@part
def _copy_columns(X, rows, first, last, sample):
    """Copy rows first … last - 1 of X (r, n), at n's `rows`, to the flat sample (m, r)."""
    for j in range(first, last):
        for i in range(len(rows)):
            sample[i * X.shape[0] + j] = X[j, rows[i]]


@part
def _row_losses(
    sample, rows, y, root, words, floats, level_words, level_floats, value, prediction_rule,
    walkers, places, leaves, out,
):  # fmt: skip
    """Write to out (m,) a tree's losses for the predictors in the flat sample (m, r), of `rows`."""
    n_rows = np.uint64(len(rows))
    for i in range(n_rows):
        walkers[i], places[i] = i, root
    walk(
        sample, np.uint64(len(sample)) // n_rows, walkers, places, n_rows, words, floats,
        level_words, level_floats, leaves,
    )  # fmt: skip
    for i in range(n_rows):
        out[i] = loss_of(value[leaves[i]], y[rows[i]], prediction_rule)


@allocating
def _losses_as_they_are(
    X, y, rows, sample, root, words, floats, level_words, level_floats, value, prediction_rule, out
):  # fmt: skip
    """Write to out (m,) a tree's losses on `rows`, whose predictors are written to `sample`."""
    n_rows = len(rows)
    walkers, places = np.empty(n_rows, dtype=np.uint32), np.empty(n_rows, dtype=np.uint64)
    leaves = np.empty(n_rows, dtype=np.int64)
    _copy_columns(X, rows, 0, X.shape[0], sample)
    _row_losses(
        sample, rows, y, root, words, floats, level_words, level_floats, value, prediction_rule,
        walkers, places, leaves, out,
    )  # fmt: skip


@allocating
def _permuted_losses(
    X, y, weights, rows, begin, end, used, state, permuted, sample, base, root, words, floats,
    level_words, level_floats, value, prediction_rule, out, of_row,
):  # fmt: skip
    """Write to out (P,) the increase of a tree's loss on `rows` when each `used` one is permuted.

    `used` are numbers of predictors, begin[j] … end[j] - 1 their rows of X (r, n); permuted (m,)
    holds the rows, and is shuffled; sample (m * r,) and base (m,) are as `_losses_as_they_are`
    writes them. of_row (len(used), m) receives what each of the m rows adds.
    """
    n_rows = len(rows)
    walkers, places = np.empty(n_rows, dtype=np.uint32), np.empty(n_rows, dtype=np.uint64)
    leaves, losses, total = np.empty(n_rows, dtype=np.int64), np.empty(n_rows), 0.0
    for i in range(n_rows):
        total += weights[rows[i]]
    if total <= 0.0:
        return
    for k in range(len(used)):
        j = used[k]
        shuffle_front(state, permuted, n_rows)
        _copy_columns(X, permuted, begin[j], end[j], sample)
        _row_losses(
            sample, rows, y, root, words, floats, level_words, level_floats, value,
            prediction_rule, walkers, places, leaves, losses,
        )  # fmt: skip
        _copy_columns(X, rows, begin[j], end[j], sample)
        increase = 0.0
        for i in range(n_rows):
            part_of_row = weights[rows[i]] * (losses[i] - base[i])
            of_row[k, i] = part_of_row / total
            increase += part_of_row
        out[j] = increase / total


def out_of_bag(forest: Forest, X: Matrix, y: NDArray[np.float64], draws: Draws) -> OutOfBag:
    """Predict every training row by the trees that did not draw it, which `draws` repeats."""
    return out_of_bag_by_fold([forest], np.zeros(len(y), dtype=np.int64), X, y, draws)


def out_of_bag_by_fold(
    forests: Sequence[Forest],
    fold: NDArray[np.int64],
    X: Matrix,
    y: NDArray[np.float64],
    draws: Draws,
) -> OutOfBag:
    """Predict every training row by the forest, pruned in its own way, of its fold (n,)."""
    n, (B, K) = len(y), (forests[0].n_trees, forests[0].value.shape[1])
    unseen = draws.all_unseen()
    result = OutOfBag(np.zeros((n, K)), np.zeros(n, dtype=np.int64), np.zeros(B))
    path = np.zeros((B, 2))
    for f, forest in enumerate(forests):
        if len(forests) == 1:
            path += predict_out_of_bag(forest, X, y, draws.weights, unseen, draws.n_jobs, result)
        elif (rows := np.flatnonzero(fold == f)).size:
            part = OutOfBag(result.value[rows], result.votes[rows], result.error_path)
            of_fold = (
                with_rows(X, rows),
                y[rows],
                draws.weights[rows],
                np.take(unseen, rows, axis=1),
            )
            path += predict_out_of_bag(forest, *of_fold, draws.n_jobs, part)
            result.value[rows], result.votes[rows] = part.value, part.votes
    with np.errstate(invalid="ignore"):
        return result._replace(error_path=path[:, 0] / path[:, 1])


def predict_out_of_bag(
    forest: Forest,
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    unseen: NDArray[np.bool_],
    n_jobs: int,
    result: OutOfBag,
    see: Callable[[int, NDArray[np.int32]], object] = lambda begin, leaves: None,
) -> NDArray[np.float64]:
    """Predict rows by the trees that have not seen them, as `unseen` (B, n) says.

    Values and votes are added to those of `result`.  `see` gets, in the order of the rows, the
    first of some rows and their leaves (B, m).  Returns the sums (B, 2) of weighted losses and of
    weights by the number of trees.
    """
    packed = forest.packed_for(X)

    def run(block: slice) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        path = np.zeros((forest.n_trees, 2))
        leaves = leaves_of(packed, X, block, unseen)
        _accumulate(
            leaves, y, weights, block.start, unseen, forest.value, forest.prediction_rule,
            result.value, result.votes, path,
        )  # fmt: skip
        return path, leaves

    total, blocks = np.zeros((forest.n_trees, 2)), row_blocks(len(y))
    for block, (path, leaves) in zip(blocks, in_order(run, blocks, n_jobs), strict=True):
        total += path
        see(block.start, leaves)
    return total


def permutation_loss(
    forest: Forest,
    X: Matrix,
    y: NDArray[np.float64],
    first: NDArray[np.int64],
    draws: Draws,
    advance: Callable[[], object] = lambda: None,
) -> LossIncrease:
    """Return by how much each tree's out-of-bag loss increases when a predictor is permuted.

    All columns ``first[j]:first[j + 1]`` of predictor j are permuted together, among the tree's
    out-of-bag rows (Breiman 2001, section 10).
    """
    B, P, n = forest.n_trees, len(first) - 1, len(y)
    require_memory(
        P * (4.0 * n + 8.0 * B), f"the losses of {n} rows for {P} predictors", "use fewer rows"
    )
    increase = LossIncrease(np.zeros((B, P)), np.zeros((P, n), dtype=np.float32), np.zeros(n))
    root, *nodes = forest.packed_for(X)
    p, prediction_rule, weights = len(X), forest.prediction_rule, draws.weights
    array, begin, end = stored(X), *rows_of_predictors(X, first)

    def run(b: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        unseen, state = draws.unseen_again(b)
        rows = np.flatnonzero(unseen)
        columns = np.zeros(p, dtype=bool)
        columns[forest.index[slice(*forest.start[forest.root[b : b + 2]])]] = True
        used = np.flatnonzero(np.logical_or.reduceat(columns, first[:-1]))
        of_row = np.zeros((len(used), len(rows)), dtype=np.float32)
        if root[b] < 0 or len(rows) == 0:
            return rows, used, of_row
        sample, base = np.empty(len(rows) * len(array), dtype=np.float32), np.empty(len(rows))
        tree = root[b], *nodes, forest.value, prediction_rule
        _losses_as_they_are(array, y, rows, sample, *tree, base)
        permuted, at_once = rows.copy(), max(1, ROWS_AT_ONCE // len(rows))
        for lo in range(0, len(used), at_once):
            end_if_stopped()
            some = slice(lo, lo + at_once)
            _permuted_losses(
                array, y, weights, rows, begin, end, used[some], state, permuted, sample, base,
                *tree, increase.of_tree[b], of_row[some],
            )  # fmt: skip
        return rows, used, of_row

    evaluated = np.zeros(B, dtype=bool)
    # added in the order of the trees: the same bits for any number of threads
    for b, (rows, used, of_row) in enumerate(in_order(run, range(B), draws.n_jobs, X.size)):
        evaluated[b] = len(rows) > 0
        increase.of_row[np.ix_(used, rows)] += of_row / np.float32(B)
        increase.share[rows] += weights[rows] / max(weights[rows].sum(), TINY) / B
        advance()
    if evaluated.all() or not evaluated.any():
        return increase
    of_all = B / evaluated.sum()
    return LossIncrease(
        increase.of_tree[evaluated], increase.of_row * np.float32(of_all), increase.share * of_all
    )


# At each stage a row ends at some node between its leaf and the root.  A node predicts for the
# stages from the first one at which rows end in it up to the one at which they end in its parent.
# So one walk from the leaf to the root gives the predictions of all stages.

# Most numbers in the sums of a block: one for each row, class and stage.
ROOM = 2**21


@part
def _add_values(leaves, above, first, value, lo, wanted, total, trees):
    """Add to total (m, K, k) each tree's values for the m rows from `lo` on, at all k stages.

    leaves (B, m) are their leaves; above (n_nodes,) is each node's parent, -1 for a root.  It goes
    tree by tree, so that the nodes stay in the cache.  trees (m,) counts the `wanted` trees.
    """
    n_stages, n_values = np.uint64(total.shape[2]), np.uint64(total.shape[1])
    for b in range(np.uint64(leaves.shape[0])):
        for i in range(np.uint64(leaves.shape[1])):
            if len(wanted) > 0 and not wanted[b, lo + i]:
                continue
            trees[i] += 1
            node, stage = np.int64(leaves[b, i]), np.uint64(0)
            while node >= 0:
                here = np.uint64(node)
                node = above[here]
                until = np.uint64(first[np.uint64(node)]) if node >= 0 else n_stages
                for k in range(n_values):
                    node_value = value[here, k]
                    for j in range(stage, until):
                        total[i, k, j] += node_value
                stage = until


@allocating
def _add_losses(leaves, above, first, value, y, weights, lo, wanted, prediction_rule, mass, sums):
    """Add the rows from `lo` on to mass (2,) and sums (3, k); see `stage_losses`."""
    n_rows, n_stages, n_values = leaves.shape[1], sums.shape[1], value.shape[1]
    total, mean = np.zeros((n_rows, n_values, n_stages)), np.empty(n_values)
    trees = np.zeros(n_rows, dtype=np.int64)
    _add_values(leaves, above, first, value, np.uint64(lo), wanted, total, trees)
    for i in range(n_rows):
        if trees[i] == 0:
            continue
        row = lo + i
        weight = weights[row]
        mass[0] += weight
        mass[1] += weight**2
        for j in range(n_stages):
            for k in range(n_values):
                mean[k] = total[i, k, j] / trees[i]
            loss = loss_of(mean, y[row], prediction_rule)
            sums[0, j] += weight * loss
            sums[1, j] += weight**2 * loss
            sums[2, j] += (weight * loss) ** 2


def stage_losses(
    forest: Forest,
    first: NDArray[np.int64],
    n_stages: int,
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_jobs: int,
    wanted: NDArray[np.bool_] = EVERY_ROW,
    advance: Callable[[int], object] = lambda n: None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the losses of the forest at each of k stages on the rows of X (p, n).

    `first` (m,): the first stage at which rows end in each node: 0 for leaves, k if they never do;
    it does not decrease from a node to its parent.  `wanted` (B, n): which trees predict which
    rows, by default all; a row without any is left out.

    Returns `mass` (2,): Σw and Σw² over the rows, and `sums` (3, k): Σwl, Σw²l and Σw²l² of the
    losses l: squared errors, or for classes the 0-1 loss.
    """
    packed, above = forest.packed_for(X), forest.parents()
    prediction_rule = forest.prediction_rule
    mass, sums = np.zeros(2), np.zeros((3, n_stages))

    def run(block: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        block_mass, block_sums = np.zeros_like(mass), np.zeros_like(sums)
        leaves = leaves_of(packed, X, block, wanted)
        _add_losses(
            leaves, above, first, forest.value, y, weights, block.start, wanted, prediction_rule,
            block_mass, block_sums,
        )  # fmt: skip
        return block_mass, block_sums

    size = min(ROWS_PER_BLOCK, max(1, ROOM // (forest.value.shape[1] * n_stages)))
    blocks = row_blocks(X.shape[1], size)
    for block_mass, block_sums in in_blocks(run, blocks, n_jobs, advance):
        mass += block_mass
        sums += block_sums
    return mass, sums


@kernel
def write_out_of_bag_values(table, leaves, unseen, centre, scale, first, last, values):
    """Write values (m, b, K) of the trees ``first:last`` of b, less centre, times scale.

    table (N, K) has the values of nodes; leaves (m, b) the nodes that rows reach; unseen (m, b)
    whether the row is out of bag, else its value is 0.  centre and scale, (m, K) or (1, K), are of
    each row or of all.
    """
    apart = np.uint64(len(centre) > 1)
    for r in range(np.uint64(len(leaves))):
        c = r * apart
        for t in range(np.uint64(first), np.uint64(last)):
            if unseen[r, t]:
                node = np.uint64(leaves[r, t])
                for k in range(np.uint64(table.shape[1])):
                    values[r, t, k] = (table[node, k] - centre[c, k]) * scale[c, k]
            else:
                for k in range(np.uint64(table.shape[1])):
                    values[r, t, k] = 0.0


@kernel
def write_own_values(table, leaves, unseen, code, first, last, own):
    """Write to own (m, b) what trees ``first:last`` say of the class `code` (m,) of each row."""
    for r in range(np.uint64(len(leaves))):
        k = np.uint64(code[r])
        for t in range(np.uint64(first), np.uint64(last)):
            own[r, t] = table[np.uint64(leaves[r, t]), k] if unseen[r, t] else 0.0


# Out-of-bag sums of the leaves of trees.
# They are sums of whole numbers, which are the same in any order: so parts of them can be added up
# anywhere.

# No sum is larger: one bit below that of the sign is left free.
MOST_BITS = 61


class LeafScale(NamedTuple):
    """What whole numbers stand for: responses less `centre`, times weights, times these."""

    centre: float
    response: float
    weight: float


def leaf_scale(n: int, span: tuple[float, float], heaviest: float, classes: bool) -> LeafScale:
    """Return the scale for the sums of n rows, up to the `heaviest`, of responses in `span`.

    A number is rounded by less than 2⁻⁶⁰ n times the largest one.  Of class codes, weights are
    summed.
    """
    low, high = span
    centre = 0.0 if classes else low + (high - low) / 2
    widest = heaviest * max(high - centre, centre - low)
    weight = _power(n, heaviest)
    return LeafScale(centre, weight if classes else _power(n, widest), weight)


def _power(n: int, largest: float) -> float:
    """Return the power of two by which n numbers up to the largest may be multiplied."""
    if largest == 0:
        return 1.0
    bits = MOST_BITS - n.bit_length() - math.frexp(largest)[1]
    return math.ldexp(1.0, min(bits, 1000))


@kernel
def add_to_leaves(leaves, unseen, begin, y, weights, classes, scale, sums):
    """Add rows to the sums (nodes, K + 1) of the leaves that they reach, whole numbers of `scale`.

    leaves (B, m) are those of the rows from `begin` on, valid where unseen (B, n) is true.  The
    sums are of weights times centred responses, or of weights of each class, and last of weights.
    """
    last = sums.shape[1] - 1
    for i in range(leaves.shape[1]):
        row = begin + i
        of_weight = np.int64(np.rint(weights[row] * scale.weight))
        k, of_response = 0, of_weight
        if classes:
            k = int(y[row])
        else:
            centred = weights[row] * (y[row] - scale.centre)
            of_response = np.int64(np.rint(centred * scale.response))
        for b in range(leaves.shape[0]):
            if unseen[b, row]:
                leaf = leaves[b, i]
                sums[leaf, k] += of_response
                sums[leaf, last] += of_weight


def sums_in_units(sums: NDArray[np.int64], scale: LeafScale) -> NDArray[np.float64]:
    """Return the sums (nodes, K + 1) as numbers, of centred responses."""
    numbers: NDArray[np.float64] = sums.astype(np.float64)
    numbers[:, :-1] /= scale.response
    numbers[:, -1] /= scale.weight
    return numbers
