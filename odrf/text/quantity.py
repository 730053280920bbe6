"""Numbers of things in words."""

from __future__ import annotations

__all__ = ["quantity"]


def quantity(number: int | str, one: str, several: str = "") -> str:
    """Return a number of things, with the noun for one of them or for several.

    Examples
    --------
    >>> quantity(1, "tree"), quantity(3, "tree"), quantity("2.5", "leaf", "leaves")
    ('1 tree', '3 trees', '2.5 leaves')
    """
    return f"{number} {one if str(number) == '1' else several or f'{one}s'}"
