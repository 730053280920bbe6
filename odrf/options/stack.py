"""The options of a stack of models: as the user gave them, and resolved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from odrf.checks import (
    MOST,
    Seed,
    checked_jobs,
    checked_seed,
    checked_whole,
    is_number,
    is_word,
)
from odrf.errors import InputError
from odrf.options import words
from odrf.options.blend import FEWEST_TREES

DEFAULT = "default"
# Boosting runs of at most FEW scores; with more classes fewer runs, which take as long.
MOST_RUNS, FEWEST_RUNS, FEW = 6, 3, 3


@dataclass(frozen=True)
class StackOptions:
    """The arguments of `odrf.auto` that concern its models, as the user gave them."""

    n_trees: int = 500
    budget: words.Budget = "default"
    seed: Seed = None
    n_jobs: int | None = None

    def checked(self) -> StackOptions:
        """Return the options after their checks; raise `InputError` if one is invalid."""
        budget = self.budget
        if not is_word(budget, DEFAULT):
            if not is_number(budget) or not 0 < float(budget) < math.inf:
                raise InputError(
                    f'budget={budget!r}: use a number of seconds above 0, or "{DEFAULT}"'
                )
            budget = float(budget)
        n_trees = checked_whole("n_trees", self.n_trees, FEWEST_TREES, MOST)
        return replace(self, n_trees=n_trees, budget=budget)


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


def resolve_stacked(options: StackOptions, n_classes: int) -> ResolvedStackOptions:
    """Resolve the options of a call of `odrf.auto`; `n_classes` is 1 for a regression."""
    return ResolvedStackOptions(
        n_trees=options.n_trees,
        n_runs=max(FEWEST_RUNS, MOST_RUNS * FEW // max(n_classes, FEW)),
        seed=checked_seed(options.seed),
        n_jobs=checked_jobs(options.n_jobs),
        budget=None if isinstance(options.budget, str) else options.budget,
    )
