"""A fit with some of its splits switched off."""

from __future__ import annotations

from dataclasses import replace

from odrf.engine.forest import Forest
from odrf.errors import InputError
from odrf.pruning import prune_to_alpha
from odrf.results.fit import Fit

__all__ = ["pruned_at", "with_forest"]


def pruned_at(fit: Fit, alpha: float) -> Fit:
    """Return the fit with every tree pruned at complexity `alpha`."""
    if isinstance(alpha, str) or not alpha >= 0:
        raise InputError(f"alpha={alpha!r} must be a number that is not negative")
    # what a larger α took away before does not come back
    strictest = max(float(alpha), fit.control.alpha or 0.0)
    control = replace(fit.control, alpha=strictest)
    forest = prune_to_alpha(fit.forest, float(alpha))
    if fit.control.alpha == alpha:
        # the call asked for this itself
        return replace(fit, forest=forest)
    return with_forest(replace(fit, control=control), forest, f"alpha={float(alpha)!r}")


def with_forest(fit: Fit, forest: Forest, option: str) -> Fit:
    """Return the fit with `forest` for its own, the call saying which pruning option made it."""
    return replace(fit, forest=forest, call=f"{fit.call}.prune({option})")
