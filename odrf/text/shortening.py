"""Long names, shortened in the middle, where names differ least."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

__all__ = ["shortened", "shortened_names"]

# Characters of what all names of a group begin with that stay, before the part that differs.
BEGINNING = 3


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

    Names that would look alike are shown from the first character that differs; if this is not
    enough, they are numbered.

    Examples
    --------
    >>> shortened_names([f"answer_to_question_{k}_of_the_poll" for k in (1, 2)], 12)
    ['ans…1_of_th…', 'ans…2_of_th…']
    """
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(shortened(name, most), []).append(name)
    short: dict[str, str] = {}
    for text, group in groups.items():
        texts = (
            [text] if len(group) == 1 else [_from_difference(name, group, most) for name in group]
        )
        if len(set(texts)) < len(texts):
            texts = [f"{shortened(text, most - 5)}#{k}" for k in range(1, len(group) + 1)]
        short |= zip(group, texts, strict=True)
    return [short[name] for name in names]


def _from_difference(name: str, group: list[str], most: int) -> str:
    letters = takewhile(lambda column: len(set(column)) == 1, zip(*group, strict=False))
    beginning = f"{name[:BEGINNING]}…"
    room = most - len(beginning)
    rest = name[len(list(letters)) :]
    return beginning + (rest if len(rest) <= room else f"{rest[: room - 1]}…")
