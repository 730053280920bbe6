"""Names for tables and plots: in one line, and shortened in the middle, where they differ least."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

__all__ = ["in_one_line", "shortened", "shortened_names"]

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
    return [(name, beginning + _cut(name[same:], most - len(beginning))) for name in group]


def _shared(group: list[str]) -> int:
    """Return how many characters all names begin with, up to the end of a word or number."""
    letters = takewhile(lambda column: len(set(column)) == 1, zip(*group, strict=False))
    same = len(list(letters))
    while same and group[0][same - 1].isalnum():
        same -= 1
    return same


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
