"""The lines of a tree's leaves in the data's units, and as text: ``12.3 + 0.42*bmi - 1.3*age``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.trees.forest import Forest
from odrf.text.layouts import quantity
from odrf.text.names import names_in_sums
from odrf.text.splits import missing_indicators, number

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
    low, span, p = design.scaling.low, design.scaling.range, len(design.columns)
    theta = np.zeros(p + 1)  # the last one for columns without an indicator
    columns, of_columns = tree.lines.line(node)
    theta[columns] = of_columns
    slope = np.divide(theta[:-1], span, out=np.zeros(p), where=span > 0)
    indicator = missing_indicators(design)
    fill = np.where(indicator >= 0, slope * low + theta[indicator], np.nan)
    is_column = np.ones(p, dtype=np.bool_)
    is_column[indicator[indicator >= 0]] = False
    shown = np.flatnonzero(is_column & ((theta[:-1] != 0) | (theta[indicator] != 0)))
    intercept = float(tree.lines.intercept[node]) - float(slope[shown] @ low[shown])
    return intercept, shown, slope[shown], fill[shown]


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
