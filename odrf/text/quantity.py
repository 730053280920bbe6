"""Numbers of things in words."""

from __future__ import annotations

__all__ = ["percentage", "quantity"]


def quantity(number: int | str, one: str, several: str = "") -> str:
    """Return a number of things, with the noun for one of them or for several.

    Examples
    --------
    >>> quantity(1, "tree"), quantity(3, "tree"), quantity("2.5", "leaf", "leaves")
    ('1 tree', '3 trees', '2.5 leaves')
    """
    return f"{number} {one if str(number) == '1' else several or f'{one}s'}"


def percentage(share: float) -> str:
    """Return a share as a percentage with all its digits, up to six.

    Examples
    --------
    >>> percentage(0.95), percentage(0.975), percentage(0.999)
    ('95%', '97.5%', '99.9%')
    """
    return f"{100 * share:.6g}%"
