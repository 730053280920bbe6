"""A tree as tables of nodes, splits and surrogates, and as indented text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design, Response
from odrf.design.encoding import Encoding, Ranks
from odrf.design.ranks import OwnRanks
from odrf.engine.splits.surrogates import SurrogateSplits
from odrf.engine.trees.forest import Forest, node_of_terms, predicted_classes
from odrf.errors import InputError
from odrf.fits.predicting import class_labels
from odrf.text.layouts import quantity
from odrf.text.lines import line_text, user_line
from odrf.text.splits import SplitWriter, counted_as, number, shares_in_words, user_splits

# Data frames of a tree's nodes, splits and lines.

INTERCEPT = "(intercept)"


def nodes_table(tree: Forest, design: Design, weight_unit: float) -> pd.DataFrame:
    """Return one row for each node of a tree; `weight_unit`: what case weights were divided by."""
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
    """Return one row for each coefficient; of missing values, `fill` says what those count as."""
    user = user_splits(tree, design)
    node = node_of_terms(tree)
    at = np.flatnonzero(tree.is_split()[node] & (user.coef != 0) & ~user.described)
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
    threshold: NDArray[np.float64], coef: NDArray[np.float64], predictor: NDArray[np.int64],
    alone: NDArray[np.bool_], design: Design,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the thresholds (m,) with those of ranked columns that are split `alone` as numbers."""
    result, recipe = threshold.copy(), design.recipe
    for i in np.flatnonzero(alone):
        term = recipe.terms[predictor[i]]
        encoding = recipe.variables[term[0]].encoding
        if len(term) == 1 and isinstance(encoding, OwnRanks):
            result[i] = coef[i] * encoding.number(coef[i] * threshold[i])
    return result


def lines_table(tree: Forest, design: Design) -> pd.DataFrame:
    """Return one row for each coefficient of each leaf's line, its intercept first."""
    rows: list[tuple[Any, ...]] = []
    for node in np.flatnonzero(tree.is_leaf()).tolist():
        intercept, columns, coef, fill = user_line(tree, design, node)
        rows.append((node, INTERCEPT, INTERCEPT, intercept, np.nan))
        predictor = np.searchsorted(design.first, columns, side="right") - 1
        for at in range(len(columns)):
            name = design.predictors[predictor[at]]
            rows.append((node, name, design.columns[columns[at]], coef[at], fill[at]))
    names = ["node", "predictor", "column", "coefficient", "fill"]
    table = pd.DataFrame(rows, columns=names)
    return table if design.has_fills else table.drop(columns="fill")


def splits_of_trees(forest: Forest, design: Design) -> pd.DataFrame:
    """Return the rows of `splits_table` for every tree, with the number of the ``tree`` first."""
    table = splits_table(forest, design)
    tree = np.searchsorted(forest.root, table["node"], side="right") - 1
    table["node"] -= forest.root[tree]
    table.insert(0, "tree", tree)
    return table


def _numbers(values: NDArray[np.integer], missing: NDArray[np.bool_]) -> pd.arrays.IntegerArray:
    return pd.arrays.IntegerArray(values.astype(np.int64), missing)


# A tree as indented text, in the style of rpart.

# Levels of an ordered factor whose ranks are listed.
MOST_LEVELS = 12


def rules_text(tree: Forest, design: Design, digits: int, max_terms: int | None = None) -> str:
    """Return a line for each node, children under their parent; `tree` is a forest of one tree."""

    def figures(node: int) -> str:
        mean = _prediction(tree, node, design.response, digits)
        if tree.lines is None or tree.left[node] >= 0:
            return mean
        return f"{mean}  line: {' '.join(line_text(tree, design, node, digits, max_terms))}"

    legend = _legend(design.response)
    if tree.lines is not None:
        legend += " and its line"
    return rules_with(tree, design, digits, max_terms, legend, figures)


def rules_with(
    tree: Forest, design: Design, digits: int, max_terms: int | None, legend: str,
    figures: Callable[[int], str],
) -> str:  # fmt: skip
    """Return `rules_text` with `figures` of each node, which the `legend` explains."""
    writer = SplitWriter(tree, design, digits=digits, max_terms=max_terms)
    lines = [f"n = {tree.count[0]}, {design.formula}", legend]
    lines += [*_notes(writer, tree), ""]
    waiting = [(0, 0, "root")]
    while waiting:
        node, depth, rule = waiting.pop()
        line = f"{'  ' * depth}{node}) {rule}  n = {tree.count[node]}  "
        line += figures(node)
        left = int(tree.left[node])
        if left < 0:
            lines.append(f"{line} *")
            continue
        lines.append(line)
        split = writer.split(node)
        waiting.append((left + 1, depth + 1, split.to_right))
        waiting.append((left, depth + 1, split.to_left))
    return "\n".join(lines)


MOST_PRINTED = 40
"""Lines of nodes of a printed tree."""


def printed(rules: str) -> str:
    """Return the rules of a tree on about one screen: without the deepest levels of a large one."""
    heading, _, body = rules.partition("\n\n")
    lines = body.split("\n")
    if len(lines) <= MOST_PRINTED:
        return rules
    depth = np.array([(len(line) - len(line.lstrip())) // 2 for line in lines])
    most = int(np.sort(depth)[MOST_PRINTED]) - 1
    shown = [line for line, at in zip(lines, depth, strict=True) if at <= most]
    more = quantity(len(lines) - len(shown), "node")
    levels = f"down to depth {most}; {more} below: see rules(), or prune(leaves=)"
    return "\n".join([heading, "", *shown, f"… {levels}"])


def _legend(response: Response) -> str:
    if response.classes is None:
        return f"node) split  n  mean of {response.name};  * marks a leaf"
    classes = " ".join(str(label) for label in response.classes)
    return f"node) split  n  {response.name} (shares of {classes});  * marks a leaf"


def _notes(writer: SplitWriter, tree: Forest) -> list[str]:
    """Return a line on what each ordered factor and each date counts as, if it is in a sum."""
    reached = np.flatnonzero(tree.is_split() & (tree.depth() >= 0))
    summed: dict[str, Encoding] = {}
    for node in reached.tolist():
        summed |= writer.summed(node)
    lines = []
    for name, encoding in summed.items():
        words = _rank_of_levels(encoding.levels) if isinstance(encoding, Ranks) else None
        words = words or counted_as(encoding)
        if words is not None:
            lines.append(f"in sums, {name} counts as {words}")
    return lines


def _rank_of_levels(levels: pd.Index) -> str:
    ranks = [f"{level} = {rank}" for rank, level in enumerate(levels, start=1)]
    if len(ranks) > MOST_LEVELS:
        ranks = [*ranks[: MOST_LEVELS - 2], "…", ranks[-1]]
    return f"its rank: {', '.join(ranks)}"


def _prediction(tree: Forest, node: int, response: Response, digits: int) -> str:
    value = tree.value[node]
    if response.classes is None:
        return number(float(value[0]), digits)
    shares = " ".join(shares_in_words(value, digits - 1))
    code = int(predicted_classes(value[np.newaxis], bool(tree.ordered))[0])
    return f"{response.classes[code]} ({shares})"


# Rows of the table in a summary, and terms of a sum there.
MOST_ROWS, MOST_TERMS = 30, 3


def surrogates_table(tree: Forest, design: Design, max_terms: int | None = None) -> pd.DataFrame:
    """Return one row for each surrogate of reached splits, best first at each node."""
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
            "surrogate": [
                split.to_right if surrogates.flipped[s] else split.to_left
                for s, split in ((s, of_surrogates.split(s)) for s in reached.tolist())
            ],
            "agree": surrogates.agree[reached],
            "adj": surrogates.adj[reached],
            "n_split": surrogates.n_split[reached],
        }
    )


def surrogates_section(tree: Forest, design: Design) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return the table for a summary under its heading, and a note if it is not the whole table."""
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
        tree, left=np.zeros(len(splits.threshold), dtype=np.int64), threshold=splits.threshold,
        start=splits.start, index=splits.column, coef=splits.coef,
    )  # fmt: skip
