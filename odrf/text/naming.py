"""Names of predictors and columns as they stand in a sum: `a-b` quoted, expressions in brackets."""

from __future__ import annotations

import re
from itertools import product

from odrf.design import Design
from odrf.design.variable import Variable

__all__ = ["names_in_sums"]

OPERATOR = re.compile(r"[-+*/<>=!&|^%~:]")
IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
PLAIN = re.compile(r"[\w.]*")


def names_in_sums(design: Design) -> tuple[list[str], list[str]]:
    """Return the names of the P predictors and of the p columns, for use in sums.

    A name with an operator in it, such as the column ``a-b``, is put between backticks, as in a
    formula.  An expression is put in parentheses, unless it is a call: ``(bmi > 30)``,
    ``log(bmi)``.
    """
    parts = [_quoted(variable) for variable in design.recipe.variables]
    predictors, columns = [], []
    for term in design.recipe.terms:
        predictors.append(":".join(parts[v] for v in term))
        suffixes = product(*(design.recipe.variables[v].encoding.suffixes for v in term))
        columns += [
            ":".join(parts[v] + suffix for v, suffix in zip(term, combination, strict=True))
            for combination in suffixes
        ]
    return predictors, columns


def _quoted(variable: Variable) -> str:
    name = variable.name
    if variable.evaluation is None:
        return f"`{name}`" if OPERATOR.search(name) else name
    return name if PLAIN.fullmatch(_without_brackets(name)) else f"({name})"


def _without_brackets(expression: str) -> str:
    """Return an expression without what stands in brackets."""
    shorter = IN_BRACKETS.sub("", expression)
    return shorter if shorter == expression else _without_brackets(shorter)
