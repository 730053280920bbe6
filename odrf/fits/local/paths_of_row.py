"""Which splits decide on one row, in all trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.factors import Matrix
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.empty_cells import reading_empty_cells
from odrf.text.splits import SplitWriter

__all__ = ["directions_of", "nodes_on_paths", "predictors_on_paths", "rules_of"]


def nodes_on_paths(fit: AnyFit, X: Matrix) -> tuple[Forest, NDArray[np.int64], NDArray[np.int64]]:
    """Return the trees that read the one row of X (p, 1), and the splits on its paths.

    Returns
    -------
    Forest
        The trees; with further columns if cells are empty that have none in training.
    (s,) int64
        The split nodes on the paths, of each tree from its root down.
    (s,) int64
        The tree of each.
    """
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
    fit: AnyFit, forest: Forest, nodes: NDArray[np.int64], trees: NDArray[np.int64]
) -> pd.DataFrame:
    """Return how often each predictor takes part in splits on the paths.

    Columns: ``trees``, the share of trees with such a split; ``splits``, their mean number in a
    tree.
    """
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


def directions_of(fit: AnyFit, forest: Forest, nodes: NDArray[np.int64]) -> pd.DataFrame:
    """Return which predictors the splits on the paths combine, the most frequent first.

    Columns: ``predictors``, in the order of the formula; ``share`` of the splits.
    """
    names = fit.design.predictors
    words = [
        " + ".join(names[j] for j in _predictors(fit, forest, node)) for node in nodes.tolist()
    ]
    counts = pd.Series(words, dtype=object).value_counts(normalize=True)
    return counts.rename_axis("predictors").rename("share").reset_index()


def rules_of(fit: AnyFit, forest: Forest, nodes: NDArray[np.int64], X: Matrix) -> list[str]:
    """Return the splits on the path of a single tree in words, from the root down.

    They are those of the fit's tree: the terms that `forest` has for new empty cells have no words.
    """
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
