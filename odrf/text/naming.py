"""Names of predictors and columns: in sums, and in tables that have columns of their own."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from odrf.design import Design
from odrf.design.encoding import EMPTY
from odrf.design.variables import Variable
from odrf.text.shortening import shortened_names

__all__ = ["free_name", "names_in_sums"]

OPERATOR = re.compile(r"[-+*/<>=!&|^%~:]")
IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
PLAIN = re.compile(r"[\w.]*")


def free_name(name: str, taken: Collection[object]) -> str:
    """Return a name that is not taken, such as that of a column in a table: with underscores.

    Examples
    --------
    >>> free_name("weight", ("weight", "rows")), free_name("height", ("weight", "rows"))
    ('weight_', 'height')
    """
    while name in taken:
        name = f"{name}_"
    return name


def names_in_sums(design: Design, most: int | None = None) -> tuple[list[str], list[str]]:
    """Return the names of the P predictors and of the p columns, for use in sums.

    A name with an operator in it, such as the column ``a-b``, is put between backticks, as in a
    formula.  An expression is put in parentheses, unless it is a call: ``(bmi > 30)``,
    ``log(bmi)``.

    Parameters
    ----------
    design : Design
    most : int, optional
        Most characters of a name; those of a factor with its level are shared by both.  By default
        names are not shortened.
    """
    variables = design.recipe.variables
    parts = _quoted(variables, most)
    suffixes = [_suffixes(variable, most) for variable in variables]
    short = _quoted(variables, most and most // 2)
    predictors, columns = [], []
    for j, (term, hole) in enumerate(zip(design.recipe.terms, design.recipe.holes, strict=True)):
        predictors.append(":".join(parts[v] for v in term))
        columns += [
            ":".join(
                short[v] + suffix if suffix else parts[v]
                for v, suffix in zip(term, combination, strict=True)
            )
            for combination in design.recipe.combinations(j, [suffixes[v] for v in term])
        ]
        columns += [predictors[-1] + EMPTY][: int(hole)]
    return predictors, columns


def _suffixes(variable: Variable, most: int | None) -> list[str]:
    """Return the suffixes of a variable, such as ``[male]``, in at most half of `most`."""
    suffixes = list(variable.encoding.suffixes)
    if most is None or suffixes == [""]:
        return suffixes
    inner = shortened_names([suffix[1:-1] for suffix in suffixes], max(5, most // 2 - 2))
    return [f"[{text}]" for text in inner]


def _quoted(variables: Sequence[Variable], most: int | None) -> list[str]:
    names = [variable.name for variable in variables]
    texts = names if most is None else shortened_names(names, max(5, most))
    return [_as_written(variable, text) for variable, text in zip(variables, texts, strict=True)]


def _as_written(variable: Variable, text: str) -> str:
    if variable.evaluation is None:
        return f"`{text}`" if OPERATOR.search(variable.name) else text
    is_call = PLAIN.fullmatch(_without_brackets(variable.name))
    return text if is_call else f"({text})"


def _without_brackets(expression: str) -> str:
    """Return an expression without what stands in brackets."""
    shorter = IN_BRACKETS.sub("", expression)
    return shorter if shorter == expression else _without_brackets(shorter)
