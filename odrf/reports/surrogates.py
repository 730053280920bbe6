"""The surrogates of a tree's splits, as a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.splits.surrogates import SurrogateSplits
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.text.layouts import quantity
from odrf.text.splits import SplitWriter

__all__ = ["surrogates_section", "surrogates_table"]

# Rows of the table in a summary, and terms of a sum there.
MOST_ROWS, MOST_TERMS = 30, 3


def surrogates_table(tree: Forest, design: Design, max_terms: int | None = None) -> pd.DataFrame:
    """Return one row for each surrogate of the splits that rows can reach, best first at each node.

    `tree` is a forest of one tree.  Splits are written as the condition to go left.

    Raises
    ------
    InputError
        The tree has no surrogates.
    """
    surrogates = tree.surrogates
    if surrogates is None:
        raise InputError(
            f"a tree fitted with missing={design.missing!r} has no surrogates: fit with "
            'missing="surrogate"'
        )
    node = np.repeat(np.arange(tree.n_nodes), np.diff(surrogates.first))
    reached = np.flatnonzero(tree.is_split()[node])
    of_nodes, of_surrogates = (
        SplitWriter(splits, design, max_terms=max_terms)
        for splits in (tree, _as_splits(tree, surrogates))
    )
    words = {i: of_nodes.split(i).to_left for i in np.unique(node[reached]).tolist()}
    return pd.DataFrame(
        {
            "node": node[reached],
            "split": [words[i] for i in node[reached].tolist()],
            "surrogate": [_to_left(of_surrogates, surrogates.flipped, s) for s in reached.tolist()],
            "agree": surrogates.agree[reached],
            "adj": surrogates.adj[reached],
            "n_split": surrogates.n_split[reached],
        }
    )


def surrogates_section(tree: Forest, design: Design) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return the table for a summary under its heading, and a note if it is not the whole table.

    Both are empty if the tree has no surrogates.  A split is written once, before its surrogates.
    """
    if tree.surrogates is None or not len(tree.surrogates.agree):
        return {}, []
    table = surrogates_table(tree, design, max_terms=MOST_TERMS)
    shown = table.head(MOST_ROWS).round({"agree": 3, "adj": 3})
    shown["split"] = shown["split"].mask(shown["node"].duplicated(), "")
    title = "Surrogates (rows go left if …; agree: share sent as by the split)"
    more = len(table) - len(shown)
    note = f"{quantity(more, 'further surrogate')}: see the table surrogates of the tree."
    return {title: shown.set_index("node")}, [note] if more else []


def _as_splits(tree: Forest, splits: SurrogateSplits) -> Forest:
    """Return the S surrogates as the splits of S nodes, as far as they are needed to write them."""
    return replace(
        tree,
        left=np.zeros(len(splits.threshold), dtype=np.int64),
        threshold=splits.threshold,
        start=splits.start,
        index=splits.column,
        coef=splits.coef,
    )


def _to_left(writer: SplitWriter, flipped: NDArray[np.bool_], s: int) -> str:
    split = writer.split(s)
    return split.to_right if flipped[s] else split.to_left
