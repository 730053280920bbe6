"""Errors of subtrees on rows that the tree was not grown on: folds, out of bag."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.engine.factors import Matrix, with_rows
from odrf.engine.memory import require_memory
from odrf.engine.numeric import streams
from odrf.engine.resamples import Draws
from odrf.engine.running import in_order, one_thread
from odrf.engine.trees.forest import Forest, predicted_classes
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import InputError
from odrf.pruning.complexity import CHOICES, MINIMUM, Subtrees, chosen, chosen_row

# Errors of a tree pruned at each of many α, on rows that it was not grown on.

RowLosses = Callable[[NDArray[np.float64], NDArray[np.float64], bool], NDArray[np.float64]]
"""The losses (m,) of predicting values (m, K) for responses (m, …), as `losses_of` gives them."""

Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""The rows (n,) of a fold that train, and those that are held out."""


@dataclass(frozen=True)
class HeldOut:
    """Sums over held-out rows of case weight w and loss l, for each of k values of α.

    Rows that belong together count as one unit: w is the sum of their weights, and l their mean
    loss.  `weight`, `squares`: Σw and Σw².  `loss`, `crossed`, `squared` (k,): Σwl, Σw²l and Σw²l².
    """

    weight: float
    squares: float
    loss: NDArray[np.float64]
    crossed: NDArray[np.float64]
    squared: NDArray[np.float64]

    def __add__(self, other: HeldOut) -> HeldOut:
        return HeldOut(
            self.weight + other.weight,
            self.squares + other.squares,
            self.loss + other.loss,
            self.crossed + other.crossed,
            self.squared + other.squared,
        )

    def at(self, row: int) -> HeldOut:
        """Return the sums for one value of α, of which there is one then."""
        one = slice(row, row + 1)
        sums = self.loss[one], self.crossed[one], self.squared[one]
        return HeldOut(self.weight, self.squares, *sums)

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean loss of a row (k,)."""
        return self.loss / self.weight

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard error of the mean loss (k,), for independent rows or groups of rows.

        One row, or one group, does not tell it: it is NaN.
        """
        if self.weight**2 <= self.squares:
            return np.full(len(self.loss), np.nan)
        mean = self.mean
        sum_of_squares = self.squared - 2 * mean * self.crossed + mean**2 * self.squares
        return np.sqrt(np.maximum(sum_of_squares, 0.0)) / self.weight


@one_thread()
def held_out_sums(
    losses: NDArray[np.float64],
    weights: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
) -> HeldOut:
    """Return the sums for losses (k, m) of rows with case weights and groups (m,)."""
    if groups is not None:
        different, unit = np.unique(groups, return_inverse=True)
        of_units = _of_each(len(losses), len(different))
        np.add.at(of_units.T, unit, (losses * weights).T)
        return held_out_groups(of_units, np.bincount(unit, weights).astype(np.float64))
    return HeldOut(
        float(weights.sum()),
        float(weights @ weights),
        losses @ weights,
        losses @ weights**2,
        losses**2 @ weights**2,
    )


def _of_each(k: int, n_groups: int) -> NDArray[np.float64]:
    """Return zeros (k, n_groups) if memory suffices for them."""
    require_memory(
        8.0 * k * n_groups,
        f"the errors of {k} subtrees in {n_groups} groups",
        "use larger leaves (min_leaf=), or fewer of them (max_leaves=)",
    )
    return np.zeros((k, n_groups))


def losses_of(
    value: NDArray[np.float64], y: NDArray[np.float64], ordered: bool = False
) -> NDArray[np.float64]:
    """Return the loss (m,) of predicting `value` (m, K): squared error for K = 1, else 0-1.

    With `ordered`, the predicted class is the median of the ordered classes.
    """
    if value.shape[1] == 1:
        return (y - value[:, 0]) ** 2
    return (predicted_classes(value, ordered) != y).astype(float)


@one_thread()
def held_out(
    tree: Forest,
    critical: NDArray[np.float64],
    alpha: NDArray[np.float64],
    X: Matrix,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
    losses: RowLosses = losses_of,
) -> HeldOut:
    """Evaluate a tree, pruned at each of the `alpha` (k,), rising, on the rows of X (p, m).

    `tree` is a forest of one tree, `critical` (m,) holds the critical α of its nodes.  A row stops
    at the first node on its way down whose critical α is not above α.  So a node predicts for α
    from its critical α up to that of its parent, and one walk from the leaf to the root evaluates
    all α.  Rows of one group, of `groups` (m,), count as one unit.  The responses y (m, …) are what
    `losses` takes.
    """
    k = len(alpha)
    stops = _stops(tree, critical, alpha, X, y, losses)
    if groups is not None:
        different, unit = np.unique(groups, return_inverse=True)
        of_units = _of_each(k + 1, len(different))
        for begin, until, rows, loss in stops:
            np.add.at(of_units, (begin, unit[rows]), weights[rows] * loss)
            np.subtract.at(of_units, (until, unit[rows]), weights[rows] * loss)
        weight = np.bincount(unit, weights).astype(np.float64)
        return held_out_groups(np.cumsum(of_units, axis=0)[:k], weight)
    changes = np.zeros((3, k + 1))
    for begin, until, rows, loss in stops:
        w = weights[rows]
        for change, of_row in zip(changes, (w * loss, w**2 * loss, (w * loss) ** 2), strict=True):
            change += np.bincount(begin, of_row, k + 1)
            change -= np.bincount(until, of_row, k + 1)
    sums = np.cumsum(changes, axis=1)[:, :k]
    return HeldOut(float(weights.sum()), float(weights @ weights), *sums)


def _stops(
    tree: Forest,
    critical: NDArray[np.float64],
    alpha: NDArray[np.float64],
    X: Matrix,
    y: NDArray[np.float64],
    losses: RowLosses,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """Yield from and until which α (by number) rows stop at nodes, the rows, and their losses.

    The nodes are those of one depth from the leaves; see `held_out`.
    """
    k, starts, parents = len(alpha), np.searchsorted(alpha, critical), tree.parents()
    node, row = leaf_nodes(tree, X, 1)[:, 0], np.arange(len(y))
    while len(node):
        parent = parents[node]
        until = np.where(parent >= 0, starts[parent], k)
        predicts = starts[node] < until
        nodes, rows = node[predicts], row[predicts]
        loss = losses(tree.values(nodes, X, rows), y[rows], bool(tree.ordered))
        yield starts[nodes], until[predicts], rows, loss
        node, row = parent[parent >= 0], row[parent >= 0]


@one_thread()
def held_out_groups(loss: NDArray[np.float64], weight: NDArray[np.float64]) -> HeldOut:
    """Return the sums for weighted losses (k, G) and weights (G,) of groups."""
    return HeldOut(
        float(weight.sum()),
        float(weight @ weight),
        loss.sum(axis=1),
        loss @ weight,
        (loss**2).sum(axis=1),
    )


# Cross-validation of pruning: trees grown without a fold and evaluated on its rows.


class EvaluationRows(NamedTuple):
    """The rows that trees of folds are evaluated on, and how.

    `X` (p, n); `y` (n, …), `weights` (n,): what rows are evaluated by.  `losses`: as `losses_of`.
    `described`: takes a grown tree, the mask (n,) of the rows it was grown on and its stream
    (1, 4), and returns the tree with the values and impurities by which it is pruned and evaluated;
    None: those that it has grown with.
    """

    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    losses: RowLosses = losses_of
    described: Callable[[Forest, NDArray[np.bool_], NDArray[np.uint64]], Forest] | None = None


class Fold(NamedTuple):
    """A tree, and the mask (n,) of its validation rows, not used to grow it."""

    tree: Forest
    rows: NDArray[np.bool_]


def folds_grown(
    grow: Callable[[tuple[NDArray[np.bool_], NDArray[np.uint64]]], Forest],
    folds: Sequence[Masks],
    seed: int,
    n_jobs: int,
    advance: Callable[[], object],
) -> list[Fold]:
    """Grow a tree on the training rows of each fold; for any number of threads the same.

    `grow`: takes a pair, the mask (n,) of the training rows and the random stream (4,) of the tree.
    """
    training = [train for train, _ in folds]
    trees = in_order(grow, zip(training, streams(seed, 0, len(folds)), strict=True), n_jobs)
    grown = []
    for (_, test), tree in zip(folds, trees, strict=True):
        grown.append(Fold(tree, test))
        advance()
    return grown


def cross_validated(
    by: EvaluationRows,
    folds: list[Fold],
    critical: Callable[[Forest], NDArray[np.float64]],
    alpha: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
) -> list[HeldOut]:
    """Evaluate pruning at each of the `alpha` (k,), rising, for each fold: its rows by its tree.

    `critical` gives the critical α of the splits of a tree.  Rows of one of the `groups` (n,) count
    as one unit; those of a group that folds divide count as one in each.
    """

    def evaluated(fold: Fold) -> HeldOut:
        tree, rows = fold
        units = None if groups is None else groups[rows]
        X, y, weights = with_rows(by.X, rows), by.y[rows], by.weights[rows]
        return held_out(tree, critical(tree), alpha, X, y, weights, units, by.losses)

    return [evaluated(fold) for fold in folds]


def of_all_folds(folds: Sequence[HeldOut]) -> HeldOut:
    """Return the sums over the rows of all folds."""
    return reduce(add, folds)


def geometric_means(alpha: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the α at which trees of folds are pruned, one for each range of α.

    A subtree of the tree grown on all rows is optimal for a range of α.  The trees of the folds
    have other critical α; they are pruned at the geometric mean of the range's ends, as in rpart.
    The last range has no upper end; infinity stands for it.
    """
    return np.append(np.sqrt(alpha[:-1] * alpha[1:]), np.inf)


# A row whose own loss took part in the choice of α makes the pruned trees look too good.  So the
# rows are divided into folds.  For the rows of a fold, α is chosen again by the rows of the other
# folds, and the trees are pruned at that α to predict them.

JUDGED_FOLDS = 5


@dataclass(frozen=True, eq=False)
class OutOfBagChoice:
    """The α that the out-of-bag rows outside of each fold choose.

    `rule`: which subtrees of each tree are candidates.  `fold` (n,): the fold of each training row.
    `alphas` (F, B): for the rows of each fold, the α of each tree, or of all of them.
    """

    rule: str
    fold: NDArray[np.int64]
    alphas: NDArray[np.float64]


def chosen_elsewhere(folds: Sequence[HeldOut], rule: str) -> list[int]:
    """Return for each of F folds which of k values of α the other folds choose, by their errors.

    Where the others have no rows of positive weight, the first value, which prunes nothing.
    """
    rows = []
    for f in range(len(folds)):
        others = reduce(add, [held for g, held in enumerate(folds) if g != f])
        known = others.weight > 0
        rows.append(chosen(others.mean, others.standard_error, rule) if known else 0)
    return rows


def error_of_choice(folds: Sequence[HeldOut], rule: str) -> tuple[float, float]:
    """Return the mean loss and its standard error if the other folds choose α for each fold.

    The smallest of many errors is too small: it is smallest by chance, too.  The rows of a fold
    have no part in the choice for them.
    """
    rows = chosen_elsewhere(folds, rule)
    held = reduce(add, [fold.at(row) for fold, row in zip(folds, rows, strict=True)])
    return float(held.mean[0]), float(held.standard_error[0])


# The nested subtrees of a tree and their errors on held-out rows, as one table.


@dataclass(frozen=True, eq=False)
class SubtreePath:
    """The subtrees of a tree that are optimal for some complexity parameter α.

    `rule`: which subtrees are candidates. `loss`: how the training error is measured. `by`: which
    rows were held out, in words. `critical` (m,): the critical α of each split. `table`: that of
    `odrf.reports.paths.PruningPath`. `nested`: for each rule that chooses a row of the table, the
    error, as ``xerror``, and its standard error if the other folds choose it for each fold; empty
    without folds.
    """

    rule: str
    loss: str
    by: str
    critical: NDArray[np.float64]
    table: pd.DataFrame
    nested: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def is_evaluated(self) -> bool:
        """Whether the subtrees were evaluated on held-out rows."""
        return "xerror" in self.table

    def row(self, rule: str) -> int:
        """Return the number of the table's row that `rule`, "min" or "1se", chooses.

        Raises `InputError` if `rule` is unknown, or no rows were held out.
        """
        checked_choice("rule", rule, CHOICES)
        if not self.is_evaluated:
            raise InputError(
                f'rule="{rule}" needs errors on held-out rows: make the path with cv=10 or newdata='
            )
        return chosen_row(self.table, rule, "xerror", "xstd")

    def alpha(self, rule: str) -> float:
        """Return the smallest α that leads to the subtree chosen by `rule`."""
        return float(self.table["alpha"].iloc[self.row(rule)])


def subtree_path(
    subtrees: Subtrees,
    rule: str,
    loss: str,
    unit: float,
    folds: Sequence[HeldOut],
    by: str,
    root: float | None = None,
) -> SubtreePath:
    """Return the path of the `subtrees`; errors on held-out rows are divided by `unit`.

    `folds`: the sums of each fold; one if the rows are new, none without held-out rows.  `root`:
    what training errors are divided by; by default that of the tree of one leaf.
    """
    root = float(subtrees.error[-1]) if root is None else root
    table = pd.DataFrame(
        {
            "alpha": subtrees.alpha,
            "leaves": subtrees.leaves,
            "error": subtrees.error,
            "relative_error": subtrees.error / root if root > 0 else 0.0,
        }
    )
    nested = {}
    if folds:
        unit, held = unit if unit > 0 else 1.0, of_all_folds(folds)
        table["xerror"] = held.mean / unit
        table["xstd"] = held.standard_error / unit
        if len(folds) > 1:
            for choice in CHOICES:
                error, std_error = error_of_choice(folds, choice)
                nested[choice] = error / unit, std_error / unit
    return SubtreePath(rule, loss, by, subtrees.critical, table, nested)


# Complexity parameters for a forest: common to all trees, or one per tree from its rows out of bag.

# Number of common α: the number of splits falls by about the same factor from one to the next.
STEPS = 20


def common_alphas(critical: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values of α, rising from 0, that keep fewer and fewer splits; the last keeps none.

    `critical` (m,): critical α of the splits of all trees; 0 where there is no split.
    """
    rising = np.sort(critical[critical > 0])
    if len(rising) == 0:
        return np.zeros(1)
    kept = np.geomspace(len(rising), 1, STEPS).round().astype(np.int64)[1:]
    return np.unique(
        np.concatenate([[0.0], rising[len(rising) - 1 - kept[kept < len(rising)]], rising[-1:]])
    )


def out_of_bag_alphas(
    forest: Forest,
    critical: NDArray[np.float64],
    X: Matrix,
    y: NDArray[np.float64],
    draws: Draws,
    fold: NDArray[np.int64],
    advance: Callable[[], object] = lambda: None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each tree (B,) the α with the smallest error on the rows that it did not sample.

    With it the α (F, B) that these rows choose if those of one fold, of `fold` (n,), are left out.
    `critical` (m,): critical α of each split; 0 where there is no split. `X`, `y`: the training
    rows. `advance`: called after each tree.
    """
    weights, F = draws.weights, int(fold.max()) + 1

    def best(b: int) -> list[float]:
        out_of_bag = draws.unseen(b)
        if not weights[out_of_bag].any():
            return [0.0] * (F + 1)
        tree, of_tree = forest.tree(b), critical[forest.root[b] : forest.root[b + 1]]
        alpha = np.unique(of_tree)  # leaves have 0

        def errors(rows: NDArray[np.bool_]) -> HeldOut:
            return held_out(tree, of_tree, alpha, with_rows(X, rows), y[rows], weights[rows])

        of_all = errors(out_of_bag)
        row = chosen(of_all.mean, of_all.standard_error, MINIMUM)
        others = chosen_elsewhere([errors(out_of_bag & (fold == f)) for f in range(F)], MINIMUM)
        return [float(alpha[k]) for k in (row, *others)]

    chosen_of_trees = []
    for alphas in in_order(best, range(forest.n_trees), draws.n_jobs):
        chosen_of_trees.append(alphas)
        advance()
    chosen_alphas = np.array(chosen_of_trees)
    return chosen_alphas[:, 0], chosen_alphas[:, 1:].T
