"""The warning that a forest has few trees for standard errors."""

from __future__ import annotations

from odrf.errors import warn_user

__all__ = ["warn_of_few_trees"]


def warn_of_few_trees(n_trees: int, advised: int) -> None:
    """Warn that standard errors need as many trees as `advised`, if this is not 0."""
    if advised:
        warn_user(
            f"{n_trees} trees are few for standard errors: their Monte Carlo error is large, and "
            f"too few trees make them too large on average; use n_trees={advised}, or the "
            f"forest's grow({advised - n_trees})"
        )
