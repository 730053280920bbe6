"""The lines of a tree's leaves in the data's units, and as text: ``12.3 + 0.42*bmi - 1.3*age``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.trees.forest import Forest
from odrf.text.layouts import quantity
from odrf.text.names import names_in_sums
from odrf.text.splits import number

# Terms of a line that change less than this share of what its largest changes are not written.
SMALL = 0.01


def user_line(
    tree: Forest, design: Design, node: int
) -> tuple[float, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the intercept, columns, coefficients and fills of a node's line, in the data's units.

    A fill is what the line has in place of a column's term where its cell is missing; NaN if no
    training row has such a cell, and then the columns have no missing indicator.
    """
    assert tree.lines is not None
    columns, theta = tree.lines.line(node)
    low, span = design.scaling.low[columns], design.scaling.range[columns]
    coef = np.divide(theta, span, out=np.zeros(len(span)), where=span > 0)
    of_columns = dict(zip(columns.tolist(), zip(coef, low, strict=True), strict=True))
    indicator = _indicators(design)
    owner = {of: column for column, of in indicator.items()}
    shown = [column for column in columns.tolist() if column not in owner]
    shown += [owner[column] for column in columns.tolist() if column in owner]
    shown = sorted(set(shown))
    intercept = float(tree.lines.intercept[node])
    coefs, fills = [], []
    for column in shown:
        slope, least = of_columns.get(column, (0.0, 0.0))
        intercept -= slope * least
        extra = of_columns.get(indicator.get(column, -1), (0.0, 0.0))[0]
        coefs.append(slope)
        fills.append(slope * least + extra if column in indicator else np.nan)
    return intercept, np.array(shown, dtype=np.int64), np.array(coefs), np.array(fills)


def _indicators(design: Design) -> dict[int, int]:
    """Return the missing indicator of each column of numbers that has one."""
    groups = design.feature_groups
    if groups.holes is None:
        return {}
    first = groups.first[:-1][groups.holes & (np.diff(groups.first) == 2)]
    return {int(column): int(column) + 1 for column in first}


def line_text(
    tree: Forest, design: Design, node: int, digits: int = 4, max_terms: int | None = None,
    max_characters: int | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Return the terms of a node's line: ``("12.3", "+ 0.42*bmi", "(+ 11 if bmi is missing)")``.

    Terms that change less than 1 % of what the largest changes, from end to end of the data, are
    only counted; so are those beyond `max_terms`.
    """
    assert tree.lines is not None
    intercept, columns, coef, fill = user_line(tree, design, node)
    names = names_in_sums(design, max_characters)[1]
    size = np.abs(coef) * design.scaling.range[columns]
    order = np.argsort(-size, kind="stable")
    words, empty = [number(intercept, digits)], []
    large = order[size[order] >= SMALL * size.max(initial=0.0)]
    shown = large[:max_terms]
    for i in shown:
        words.append(f"{_sign(coef[i])} {number(abs(coef[i]), digits)}*{names[columns[i]]}")
    if len(large) > len(shown):
        words.append(f"+ {len(large) - len(shown)} more")
    if len(order) > len(large):
        words.append(f"+ {quantity(len(order) - len(large), 'small term')}")
    for i in np.flatnonzero(np.isfinite(fill)):
        amount = number(abs(fill[i]), digits)
        empty.append(f"({_sign(fill[i])} {amount} if {names[columns[i]]} is missing)")
    return (*words, *empty)


def _sign(value: float) -> str:
    return "-" if value < 0 else "+"
