"""The options of a stack of models, resolved and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from odrf.options.table import checked_options

# Boosting runs of at most FEW scores; with more classes fewer runs, which take as long.
MOST_RUNS, FEWEST_RUNS, FEW = 6, 3, 3


@dataclass(frozen=True)
class ResolvedStackOptions:
    """The options of a stack of models, with the values that were used.

    `n_trees` are the trees of each forest, `n_runs` the boosting runs.  After `budget` seconds no
    further model is begun; None: the usual models and no others are fitted.
    """

    n_trees: int
    n_runs: int
    seed: int
    n_jobs: int
    budget: float | None = None


def resolve_stacked(options: Mapping[str, Any], n_classes: int) -> ResolvedStackOptions:
    """Check the options of a call of `odrf.auto`; `n_classes` is 1 for a regression.

    Raises `InputError`, which names the option and says what to use, if one is invalid.
    """
    options = checked_options("auto", options)
    n_runs = max(FEWEST_RUNS, MOST_RUNS * FEW // max(n_classes, FEW))
    return ResolvedStackOptions(
        options["n_trees"], n_runs, options["seed"], options["n_jobs"], options["budget"]
    )
