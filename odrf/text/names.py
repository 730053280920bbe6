"""Names of predictors and columns: in sums, in tables, and shortened."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import takewhile

from odrf.design import Design
from odrf.design.encoding import EMPTY
from odrf.design.variables import Variable

# Names for tables and plots: in one line, and shortened in the middle, where they differ least.

# Long names are of one group if they share as many first characters; these always stay.
BEGINNING = 3


def in_one_line(words: str) -> str:
    """Return words with a space for each end of a line and each tab."""
    return re.sub(r"[\t-\r]", " ", words)


def shortened(name: str, most: int) -> str:
    """Return `name` with at most `most` characters, with "…" for what is left out of its middle.

    Examples
    --------
    >>> shortened("petal_length_in_millimetres", 13)
    'petal_…metres'
    """
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}…{name[len(name) - end :]}"


def shortened_names(names: Sequence[str], most: int) -> list[str]:
    """Return the names with at most `most` characters each; different names stay different.

    From long names that begin alike, the end of what they share is left out.

    Examples
    --------
    >>> shortened_names([f"answer_to_question_{k}" for k in (112, 169)], 12)
    ['answer_t…112', 'answer_t…169']
    """
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(name if len(name) <= most else name[:BEGINNING], []).append(name)
    short = {name: text for group in groups.values() for name, text in _told_apart(group, most)}
    if len(set(short.values())) < len(short):
        number = f"#{len(short)}"
        short = {
            name: f"{shortened(name, most - len(number))}#{k}" if len(name) > most else name
            for k, name in enumerate(short, start=1)
        }
    return [short[name] for name in names]


def _told_apart(group: list[str], most: int) -> list[tuple[str, str]]:
    """Return each name of a group with its short form, without what all of them begin with."""
    same = _shared(group) if len(group) > 1 else 0
    if not same:
        return [(name, shortened(name, most)) for name in group]
    rest = min(max(len(name) - same for name in group), most - BEGINNING - 1)
    beginning = f"{group[0][: min(same, most - rest - 1)]}…"
    room = most - len(beginning)
    ends = [shortened(name[same:], room) for name in group]
    if len(set(ends)) < len(ends):
        ends = [_cut(name[same:], room) for name in group]
    return [(name, beginning + end) for name, end in zip(group, ends, strict=True)]


def _shared(group: list[str]) -> int:
    """Return how many characters all names begin with, up to the end of a word or number."""
    letters = takewhile(lambda column: len(set(column)) == 1, zip(*group, strict=False))
    same = len(list(letters))
    while same and group[0][same - 1].isalnum():
        same -= 1
    return same


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


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
    ``log(bmi)``.  A name has `most` characters, which a factor shares with its level; by default
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
