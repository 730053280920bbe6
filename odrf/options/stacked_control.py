"""The options of a stack of models, resolved and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from odrf.errors import InputError
from odrf.options.kinds import ERROR
from odrf.options.table import checked_options

__all__ = ["StackedControl", "resolve_stacked"]

# Boosting runs of at most FEW scores; with more classes fewer runs, which take as long.
MOST_RUNS, FEWEST_RUNS, FEW = 10, 3, 3


@dataclass(frozen=True)
class StackedControl:
    """The options of a stack of models, with the values that were used.

    Attributes
    ----------
    n_trees : int
        Trees of each forest.
    n_runs : int
        Boosting runs.
    objective : str
        For classes, what the weights make small: ``"error"`` or ``"brier"``.
    seed : int
        The seed; the same call with it gives the same fit.
    n_jobs : int
        Threads.
    """

    n_trees: int
    n_runs: int
    objective: str
    seed: int
    n_jobs: int


def resolve_stacked(options: Mapping[str, Any], n_classes: int) -> StackedControl:
    """Check the options of a call of `odrf.auto`; `n_classes` is 1 for a regression.

    Raises
    ------
    InputError
        If an option is invalid.  The message names it and says what to use.
    """
    options = checked_options("auto", options)
    if options["objective"] != ERROR and n_classes == 1:
        raise InputError(
            f'objective="{options["objective"]}" is for classes, and the response is a number: '
            "leave it out"
        )
    n_runs = max(FEWEST_RUNS, MOST_RUNS * FEW // max(n_classes, FEW))
    return StackedControl(
        options["n_trees"], n_runs, options["objective"], options["seed"], options["n_jobs"]
    )
