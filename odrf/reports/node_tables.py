"""Data frames of a tree's nodes and splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design
from odrf.design.ranks import OwnRanks
from odrf.engine.trees.forest import Forest, predicted_classes
from odrf.fits.predicting import class_labels
from odrf.text.splits import node_of_terms, user_splits

__all__ = ["node_columns", "nodes_table", "splits_of_trees", "splits_table"]


def nodes_table(tree: Forest, design: Design, weight_unit: float) -> pd.DataFrame:
    """Return one row for each node that rows can reach; `tree` is a forest of one tree.

    `weight_unit` is what case weights were divided by.
    """
    node = np.flatnonzero(tree.depth() >= 0)
    table = node_columns(tree, node, weight_unit)
    value = tree.value[node]
    classes = design.response.classes
    if classes is None:
        table["value"] = value[:, 0]
    else:
        codes = predicted_classes(value, bool(tree.ordered))
        table["prediction"] = class_labels(codes, design.response)
        table |= {f"P({label})": value[:, k] for k, label in enumerate(classes)}
    return pd.DataFrame(table, index=pd.Index(node, name="node"))


def node_columns(tree: Forest, node: NDArray[np.int64], weight_unit: float) -> dict[str, Any]:
    """Return the columns that the nodes of all trees have, by their names."""
    depth, leaf = tree.depth(), tree.left[node] < 0
    return {
        "parent": _numbers(tree.parents()[node], missing=node == 0),
        "depth": depth[node],
        "leaf": leaf,
        "left": _numbers(tree.left[node], missing=leaf),
        "right": _numbers(tree.left[node] + 1, missing=leaf),
        "count": tree.count[node],
        "weight": tree.weight[node] * weight_unit,
        "impurity": tree.impurity[node],
        "gain": np.where(leaf, np.nan, tree.gain[node]),
        "order": _numbers(tree.order[node], missing=leaf),
    }


def splits_table(tree: Forest, design: Design) -> pd.DataFrame:
    """Return one row for each coefficient of the splits; `tree` is a forest of one tree.

    If predictors have empty cells, the column `fill` says what those count as.
    """
    user = user_splits(tree, design)
    node = node_of_terms(tree)
    at = np.flatnonzero(tree.is_split()[node] & (user.coef != 0) & ~user.told)
    at = at[np.lexsort((-np.abs(tree.coef[at]), node[at]))]
    node, column = node[at], tree.index[at]
    predictor = np.searchsorted(design.first, column, side="right") - 1
    alone = np.bincount(node, minlength=tree.n_nodes)[node] == 1
    threshold = _in_own_values(user.threshold[node], user.coef[at], predictor, alone, design)
    table = pd.DataFrame(
        {
            "node": node,
            "predictor": np.array(design.predictors, dtype=object)[predictor],
            "column": np.array(design.columns, dtype=object)[column],
            "coefficient": user.coef[at],
            "threshold": threshold,
            "scaled_coefficient": tree.coef[at],
        }
    )
    return table.assign(fill=user.fill[at]) if design.has_fills else table


def _in_own_values(
    threshold: NDArray[np.float64],
    coef: NDArray[np.float64],
    predictor: NDArray[np.int64],
    alone: NDArray[np.bool_],
    design: Design,
) -> NDArray[np.float64]:
    """Return the thresholds (m,) with those of ranked columns that are split `alone` as numbers."""
    result, recipe = threshold.copy(), design.recipe
    for i in np.flatnonzero(alone):
        term = recipe.terms[predictor[i]]
        encoding = recipe.variables[term[0]].encoding
        if len(term) == 1 and isinstance(encoding, OwnRanks):
            result[i] = coef[i] * encoding.number(coef[i] * threshold[i])
    return result


def splits_of_trees(forest: Forest, design: Design) -> pd.DataFrame:
    """Return the rows of `splits_table` for every tree, with the number of the ``tree`` first."""
    table = splits_table(forest, design)
    tree = np.searchsorted(forest.root, table["node"], side="right") - 1
    table["node"] -= forest.root[tree]
    table.insert(0, "tree", tree)
    return table


def _numbers(values: NDArray[np.integer], missing: NDArray[np.bool_]) -> pd.arrays.IntegerArray:
    return pd.arrays.IntegerArray(values.astype(np.int64), missing)
