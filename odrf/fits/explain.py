"""One prediction explained, and one tree that imitates a fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from odrf.design import TrainingData
from odrf.design.folds import FoldRows
from odrf.design.new_rows import training_frame, variables, with_levels, with_values
from odrf.engine.factors import Matrix, with_rows
from odrf.engine.running import one_thread
from odrf.engine.trees.forest import Forest, add_up_branches, predicted_classes
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.errors import InputError
from odrf.fits.estimands import deviation_of, holds_numbers, is_exact
from odrf.fits.fit import AnyFit, BoostedFit, Fit, RawRows
from odrf.fits.growing import grow_fit
from odrf.fits.missing import reading_empty_cells
from odrf.fits.pruning import grown_without, pruned_at
from odrf.fits.responses import ValidationFolds, expected_response, folds_asked
from odrf.fits.scores import explained_part
from odrf.options.options import Options
from odrf.pruning import complexity
from odrf.pruning.validation import Fold, cross_validated, geometric_means, subtree_path
from odrf.text.splits import SplitWriter
from odrf.text.summary import evenly_spread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MIN_LEAF = 5


class Imitation(NamedTuple):
    """A tree that imitates a fit; `error` is None with offsets, which the tree lacks."""

    fit: Fit
    fidelity: float
    agreement: float | None
    error: float | None
    by: str


def imitated(
    fit: AnyFit, max_leaves: int, cv: object, seed: int, progress: bool = False
) -> Imitation:
    """Return a pruned tree, grown on the predictions of a fit for its training rows.

    Of K classes, it has each row once for each, weighted by the predicted probability: so class
    shares of leaves are mean probabilities. Of the pruning path, the subtree of at most
    `max_leaves` leaves with the smallest error by cross-validation.
    """
    target = expected_response(fit, fit.data.X)
    if (target == target[0]).all():
        raise InputError("the fit predicts the same for all rows: there is nothing to imitate")
    copies, data = _rows_to_imitate(fit, target)
    call = f"{fit.call}.surrogate(max_leaves={max_leaves})"
    response = replace(fit.design.response, columns=(), evaluation=None, imitated=True)
    design = replace(fit.design, response=response)
    K = response.n_classes
    request = Options(
        n_trees=1,
        blend=False,
        resample="none",
        min_leaf=MIN_LEAF * K,
        seed=seed,
        n_jobs=fit.control.n_jobs,
    )
    grown = grow_fit(call, design, data, request)
    loss = complexity.ERROR if K == 1 else complexity.IMPURITY
    validation = folds_asked(fit, cv, seed, "")
    of_copies = [FoldRows(fold.train[copies], fold.test[copies]) for fold in validation.folds]
    validation = validation._replace(folds=of_copies)
    growth, folds = grown_without(grown, validation, fit.control.n_jobs, progress)
    subtrees = complexity.nested_subtrees(grown.forest, complexity.WEAKEST_LINK, loss)
    critical = partial(complexity.critical_alphas, rule=complexity.WEAKEST_LINK, loss=loss)
    alphas = geometric_means(subtrees.alpha)
    held = cross_validated(growth, folds, critical, alphas, copies)
    error = float(complexity.root_errors(grown.forest)[0])
    path = subtree_path(subtrees, complexity.WEAKEST_LINK, loss, error, held, validation.by)
    small = path.table["leaves"].to_numpy() <= max_leaves
    row = int(np.argmin(np.where(small, path.table["xerror"].to_numpy(), np.inf)))
    alpha = float(path.table["alpha"].iloc[row])
    forest = replace(grown.forest, count=_rows_in_nodes(grown.forest, fit.data.X))
    tree = pruned_at(replace(grown, forest=forest), alpha, complexity.WEAKEST_LINK, "", path=path)
    predicted = _held_out(fit, folds, copies, critical, float(alphas[row]), target.shape)
    return _evaluated(fit, tree, target, predicted, validation)


def _rows_to_imitate(fit: AnyFit, target: Floats) -> tuple[Integers, TrainingData]:
    """Return the number of the training row of each row of the tree's data, and these data."""
    data, (n, K) = fit.data, target.shape
    if K == 1:
        changed = replace(data, y=target[:, 0], class_weights=None)
        return np.arange(n), changed
    row, code = np.nonzero(target > 0)
    copied = replace(
        data,
        X=with_rows(data.X, row),
        y=code.astype(np.float64),
        weights=data.weights[row] * target[row, code],
        index=pd.RangeIndex(len(row)),
        complete=np.ones(len(row), dtype=np.bool_),
        class_weights=None,
        kept=None if data.kept is None else data.kept.iloc[row],
        structure=None,
    )
    return row, copied


def _rows_in_nodes(tree: Forest, X: Matrix) -> NDArray[np.int32]:
    """Return how many rows of X (p, n) reach each node (m,): each once, without its copies."""
    leaf = leaf_nodes(tree, X, 1)[:, 0]
    count = np.bincount(leaf, minlength=tree.n_nodes).astype(np.float64)[:, None]
    add_up_branches(tree.left, count)
    return count[:, 0].astype(np.int32)


def _held_out(
    fit: AnyFit,
    folds: list[Fold],
    copies: Integers,
    critical: partial[Floats],
    alpha: float,
    shape: tuple[int, int],
) -> Floats:
    """Return for each training row (n, K) the prediction of the tree grown without it."""
    out = np.full(shape, np.nan)
    for fold in folds:
        rows = np.unique(copies[fold.rows])
        tree = complexity.pruned(fold.tree, critical(fold.tree), alpha)
        out[rows] = predict(tree, with_rows(fit.data.X, rows), fit.control.n_jobs)
    return out


@one_thread()
def _evaluated(
    fit: AnyFit, tree: Fit, target: Floats, predicted: Floats, validation: ValidationFolds
) -> Imitation:
    known = ~np.isnan(predicted[:, 0]) & (fit.data.weights > 0)
    target, predicted, y = target[known], predicted[known], fit.data.y[known]
    weights = fit.data.weights[known] / fit.data.weights[known].sum()
    spread = weights @ (target - weights @ target) ** 2
    fidelity = explained_part((weights @ (target - predicted) ** 2).sum(), spread.sum())
    at_zero = isinstance(fit, BoostedFit) and fit.offset.given
    if target.shape[1] == 1:
        error = float(weights @ (y - predicted[:, 0]) ** 2)
        return Imitation(tree, fidelity, None, None if at_zero else error, validation.by)
    classes = predicted_classes(predicted, tree.ordered)
    agreement = float(weights @ (classes == predicted_classes(target, fit.ordered)))
    error = float(weights @ (classes != y))
    return Imitation(tree, fidelity, agreement, None if at_zero else error, validation.by)


# The nearest values of one or two variables that change a prediction.
MOST_VALUES, VALUES_OF_PAIRS, VARIABLES_OF_PAIRS = 50, 9, 6
# Values are rounded to this many decimal places after the first digit of the standard deviation.
DIGITS_OF_SD = 3


class Candidates(NamedTuple):
    """Values that a variable may be set to, and how far each is from the row's own."""

    name: str
    values: list[Any]
    distance: Floats

    def some(self, number: int) -> Candidates:
        """Return so many of them, from the nearest to the farthest."""
        at = evenly_spread(len(self.values), number)
        return Candidates(self.name, [self.values[i] for i in at], self.distance[at])


def candidates_of(fit: AnyFit, row: pd.DataFrame) -> list[Candidates]:
    """Return for each variable the values that are tried.

    Of numbers those of training rows, or 50 quantiles, rounded to a thousandth of a standard
    deviation, so that they can be shown; distances are in these, and 1 for levels.
    """
    training = with_levels(fit.design, training_frame(fit.design, fit.data))
    candidates = []
    for name in variables(fit.design):
        own, known = row[name].iloc[0], training[name].dropna()
        if not is_exact(known) or not is_exact(row[name]):
            continue
        sd = deviation_of(training[name], fit.data.weights) if holds_numbers(known) else 0.0
        values = _values_tried(known, sd)
        others = [value for value in values if pd.isna(own) or value != own]
        distance: Floats = np.ones(len(others))
        if sd > 0 and pd.notna(own):
            distance = np.abs(np.array(others, dtype=np.float64) - float(own)) / sd
        order = np.argsort(distance, kind="stable")
        candidates.append(Candidates(name, [others[i] for i in order], distance[order]))
    return candidates


def _values_tried(known: pd.Series, sd: float) -> list[Any]:
    """Return the values of a variable in training rows, of many numbers some quantiles."""
    if not sd > 0:
        return list(pd.unique(known.astype(object)))
    decimals = DIGITS_OF_SD - int(np.floor(np.log10(sd)))
    values = np.unique(np.round(known.to_numpy(dtype=np.float64), decimals))
    return list(values[evenly_spread(len(values), MOST_VALUES)])


def predicted_at(fit: AnyFit, row: RawRows, values: dict[str, list[Any]]) -> Floats:
    """Return the mean response or class probabilities (m, K) of m copies of a row with `values`."""
    m = len(next(iter(values.values())))
    same = np.zeros(m, dtype=int)
    copies = row.frame.iloc[same].reset_index(drop=True)
    rows = with_rows(row.X, same)
    new = {name: pd.Series(value, dtype=_type_of_labels(copies[name]))
           for name, value in values.items()}  # fmt: skip
    return expected_response(fit, with_values(fit.design, copies, rows, new), row.offset[same])


def nearest_changes(
    fit: AnyFit, row: RawRows, changes: Callable[[Floats], NDArray[np.bool_]]
) -> pd.DataFrame:
    """Return the nearest value of each variable, and of pairs, that changes the prediction.

    `changes` says which predictions (m, K) are changed ones. Columns: ``variables``, ``values`` in
    words, ``distance``. Pairs of the strongest six variables are kept if nearer than either alone.
    """
    now = expected_response(fit, row.X, row.offset)
    nearest: list[tuple[str, str, float]] = []
    alone: dict[str, float] = {}
    moves = []
    candidates = [each for each in candidates_of(fit, row.frame) if each.values]
    for each in candidates:
        predicted = predicted_at(fit, row, {each.name: each.values})
        moves.append(float(np.abs(predicted - now).max()))
        changed = np.flatnonzero(changes(predicted))
        alone[each.name] = float(each.distance[changed[0]]) if len(changed) else np.inf
        if len(changed):
            words = _in_words(each.values[changed[0]])
            nearest.append((each.name, words, alone[each.name]))
    strongest = [candidates[i] for i in np.argsort(moves)[::-1][:VARIABLES_OF_PAIRS]]
    for first, second in combinations([each.some(VALUES_OF_PAIRS) for each in strongest], 2):
        i, j = (part.ravel() for part in np.indices((len(first.values), len(second.values))))
        values = {
            first.name: [first.values[k] for k in i],
            second.name: [second.values[k] for k in j],
        }
        distance = np.hypot(first.distance[i], second.distance[j])
        changed = np.flatnonzero(changes(predicted_at(fit, row, values)))
        if not len(changed):
            continue
        best = int(changed[np.argmin(distance[changed])])
        if distance[best] < min(alone[first.name], alone[second.name]):
            words = f"{_in_words(first.values[i[best]])}, {_in_words(second.values[j[best]])}"
            nearest.append((f"{first.name}, {second.name}", words, float(distance[best])))
    table = pd.DataFrame(nearest, columns=["variables", "values", "distance"])
    return table.sort_values("distance", kind="stable", ignore_index=True)


def _type_of_labels(column: pd.Series) -> Any:
    """Return the type of a column of labels; None for numbers, and for categories."""
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    return None if categories or is_numeric_dtype(column.dtype) else column.dtype


def _in_words(value: Any) -> str:
    return repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value)


# Which splits decide on one row, in all trees.
def nodes_on_paths(fit: AnyFit, X: Matrix) -> tuple[Forest, Integers, Integers]:
    """Return the trees that read the row X (p, 1), the splits (s,) on its paths, their trees."""
    reading, X = reading_empty_cells(fit, X)
    forest = reading.forest
    node = leaf_nodes(forest, X, 1)[0]
    tree, parents = np.arange(len(node)), forest.parents()
    levels = []
    while len(node):
        above = parents[node]
        inside = above >= 0
        node, tree = above[inside], tree[inside]
        levels.append((node, tree))
    nodes, trees = (np.concatenate(each) for each in zip(*levels, strict=True))
    order = np.lexsort((nodes, trees))
    return forest, nodes[order], trees[order]


def predictors_on_paths(
    fit: AnyFit, forest: Forest, nodes: Integers, trees: Integers
) -> pd.DataFrame:
    """Return how often each predictor takes part in splits on the paths."""
    names = fit.design.predictors
    of_split = [_predictors(fit, forest, node) for node in nodes.tolist()]
    used = np.zeros((len(names), forest.n_trees), dtype=np.int64)
    for tree, predictors in zip(trees.tolist(), of_split, strict=True):
        used[predictors, tree] += 1
    table = pd.DataFrame(
        {"trees": (used > 0).mean(axis=1), "splits": used.mean(axis=1)},
        index=pd.Index(names, name="predictor"),
    )
    return table.sort_values("trees", ascending=False, kind="stable")


def directions_of(fit: AnyFit, forest: Forest, nodes: Integers) -> pd.DataFrame:
    """Return which predictors the splits on the paths combine, the most frequent first."""
    names = fit.design.predictors
    words = [
        " + ".join(names[j] for j in _predictors(fit, forest, node)) for node in nodes.tolist()
    ]
    counts = pd.Series(words, dtype=object).value_counts(normalize=True)
    return counts.rename_axis("predictors").rename("share").reset_index()


def rules_of(fit: AnyFit, forest: Forest, nodes: Integers, X: Matrix) -> list[str]:
    """Return the splits of the fit's tree on the path of a row in words, from root to leaf."""
    if not len(nodes):
        return []
    writer = SplitWriter(fit.forest, fit.design, digits=4)
    leaf = int(leaf_nodes(forest, reading_empty_cells(fit, X)[1], 1)[0, 0])
    below = [*nodes.tolist()[1:], leaf]
    return [
        split.to_left if child == forest.left[node] else split.to_right
        for node, child in zip(nodes.tolist(), below, strict=True)
        for split in (writer.split(node),)
    ]


def _predictors(fit: AnyFit, forest: Forest, node: int) -> list[int]:
    columns = forest.index[forest.start[node] : forest.start[node + 1]]
    own = columns[columns < len(fit.design.columns)]
    return np.unique(np.searchsorted(fit.design.first, own, side="right") - 1).tolist()
