"""Arguments of a drawn tree, which other plots do not have."""

from __future__ import annotations

from odrf.checks import checked_whole, require_default

__all__ = ["DIGITS", "MOST_TERMS", "check_drawn_tree"]

TREE = "tree"
# What is written in its boxes by default.
MOST_TERMS, DIGITS = 3, 3


def check_drawn_tree(kind: str, max_depth: int | None, max_terms: int, digits: int) -> None:
    """Raise `InputError` if a plot of `kind` is no tree, and ignores an argument that is given.

    Also if a number is below 1.
    """
    if kind != TREE:
        used = f'kind="{TREE}"'
        require_default("max_depth", max_depth, None, used)
        require_default("max_terms", max_terms, MOST_TERMS, used)
        require_default("digits", digits, DIGITS, used)
    checked_whole("max_depth", 1 if max_depth is None else max_depth, 1)
    checked_whole("max_terms", max_terms, 1)
    checked_whole("digits", digits, 1)
