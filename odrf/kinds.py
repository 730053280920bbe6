"""The kinds of trees that a blended forest chooses among."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from odrf.errors import InputError

__all__ = ["BEST", "kinds_of_trees", "require_enough"]

BEST = "best"
# Rows that each tree of a blend draws, without replacement: more than a bootstrap's, for the
# randomised kinds do best on all, while a fifth is left to judge them by.
SEEN_SHARE = 0.8
FEWEST_TREES = 20


def kinds_of_trees(
    options: Mapping[str, Any], given: Collection[str], P: int, classification: bool
) -> dict[str, dict[str, Any]]:
    """Return the options of each kind of tree by its name; what was `given` holds for all.

    ``"best"`` makes the best cut along each direction.  ``"random"`` makes the best of three
    random ones, in leaves down to one row.  ``"extra"`` tries one random cut along each of few
    directions, mostly single predictors, as extremely randomised trees do.  ``"smooth"`` has
    leaves of ten rows, for noisy responses.
    """
    common = dict(options)
    if common["resample"] == "auto":
        common["resample"] = "subsample"
        if common["sample_fraction"] == "auto":
            common["sample_fraction"] = SEEN_SHARE
    few = math.ceil(math.sqrt(P)) if classification else "auto"
    special: dict[str, dict[str, Any]] = {
        BEST: {},
        "random": {"n_thresholds": 3, "min_leaf": 1},
        "extra": {"n_thresholds": 1, "min_leaf": 1, "n_projections": 1, "n_singles": few},
        "smooth": {"min_leaf": 10},
    }
    kinds: dict[str, dict[str, Any]] = {}
    for name, changes in special.items():
        kind = common | {key: value for key, value in changes.items() if key not in given}
        if kind not in kinds.values():
            kinds[name] = kind
    return kinds


def require_enough(n_trees: int, resample: str) -> None:
    """Raise unless there are trees, and rows that they have not seen, to judge the kinds by.

    Raises
    ------
    InputError
        Naming the argument.
    """
    if n_trees < FEWEST_TREES:
        raise InputError(
            f"n_trees={n_trees} with blend=True: use at least {FEWEST_TREES}, "
            "so that there are some of each kind to judge it by"
        )
    if resample == "none":
        raise InputError(
            'resample="none" with blend=True leaves no rows to judge the kinds of trees by: '
            'use "subsample" or "bootstrap"'
        )
