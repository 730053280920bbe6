"""A tree as indented text, in the style of rpart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from odrf.design import Design, Response
from odrf.design.encoding import Encoding, Ranks
from odrf.engine.trees.forest import Forest, predicted_classes
from odrf.text.splits import SplitWriter, counted_as, number

__all__ = ["rules_telling", "rules_text"]

# Levels of an ordered factor whose ranks are listed.
MOST_LEVELS = 12


def rules_text(tree: Forest, design: Design, digits: int, max_terms: int | None = None) -> str:
    """Return a line for each node, children under their parent; `tree` is a forest of one tree."""

    def told(node: int) -> str:
        return _prediction(tree, node, design.response, digits)

    return rules_telling(tree, design, digits, max_terms, _legend(design.response), told)


def rules_telling(
    tree: Forest,
    design: Design,
    digits: int,
    max_terms: int | None,
    legend: str,
    told: Callable[[int], str],
) -> str:
    """Return `rules_text` with what is `told` of each node, which the `legend` explains."""
    writer = SplitWriter(tree, design, digits=digits, max_terms=max_terms)
    lines = [f"n = {tree.count[0]}, {design.formula}", legend]
    lines += [*_notes(writer, tree), ""]
    waiting = [(0, 0, "root")]
    while waiting:
        node, depth, rule = waiting.pop()
        line = f"{'  ' * depth}{node}) {rule}  n = {tree.count[node]}  "
        line += told(node)
        left = int(tree.left[node])
        if left < 0:
            lines.append(f"{line} *")
            continue
        lines.append(line)
        split = writer.split(node)
        waiting.append((left + 1, depth + 1, split.to_right))
        waiting.append((left, depth + 1, split.to_left))
    return "\n".join(lines)


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
    shares = " ".join(f"{share:.{digits - 1}f}" for share in value)
    code = int(predicted_classes(value[np.newaxis], bool(tree.ordered))[0])
    return f"{response.classes[code]} ({shares})"
