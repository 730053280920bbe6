"""The checks of options that need no data: one row for each option and the functions it is for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from odrf.checks import (
    AUTO,
    LARGEST,
    MOST,
    checked_amount,
    checked_choice,
    checked_jobs,
    checked_seed,
    checked_share,
    checked_switch,
    checked_truth,
    checked_whole,
    is_number,
    is_word,
)
from odrf.engine.kernel_params import AIC, BIC, NO_PENALTY
from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, SUBSAMPLE
from odrf.errors import InputError
from odrf.options.devices import CPU, CUDA
from odrf.options.kinds import FEWEST_TREES, OBJECTIVES
from odrf.options.scale_names import SPLIT_SCALES
from odrf.pruning.complexity import RULES

__all__ = [
    "CHECKS",
    "DATA",
    "EXACT",
    "NEWTON",
    "PENALTIES",
    "REFIT",
    "REGION",
    "RESAMPLES",
    "Option",
    "checked_options",
]

Check = Callable[[str, Any], Any]

PENALTIES = {None: NO_PENALTY, "aic": AIC, "bic": BIC}
RESAMPLES = {"none": ALL_ROWS, "bootstrap": BOOTSTRAP, "subsample": SUBSAMPLE}
DEFAULT = "default"
EXACT = "exact"
NEWTON, REFIT = "newton", "refit"
DATA, REGION = "data", "region"


@dataclass(frozen=True)
class Option:
    """An option that can be checked without data.

    Attributes
    ----------
    name : str
    functions : tuple of str
        Which of `odrf.odt`, `odrf.odrf`, `odrf.odbt`, `odrf.graf` and `odrf.auto` it is for.
    check : callable
        Takes name and value, and returns the value that is used; raises `InputError`.
    """

    name: str
    functions: tuple[str, ...]
    check: Check


def _whole(least: int, most: int = LARGEST) -> Check:
    return lambda name, value: checked_whole(name, value, least, most)


def _or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _or_auto(check: Check) -> Check:
    return lambda name, value: value if is_word(value, AUTO) else check(name, value)


def _one_of(*choices: Any) -> Check:
    return lambda name, value: checked_choice(name, value, choices)


def _seconds(name: str, value: Any) -> float | None:
    """Return the seconds, or None for ``"default"``."""
    if is_word(value, DEFAULT):
        return None
    if not is_number(value) or not 0 < float(value) < math.inf:
        raise InputError(f'{name}={value!r}: use a number of seconds above 0, or "{DEFAULT}"')
    return float(value)


TREES, BOOSTED, GUIDED, STACKED = ("odt", "odrf"), ("odbt",), ("graf",), ("auto",)

CHECKS = (
    Option("n_trees", ("odrf", "odbt", "graf"), _whole(1, MOST)),
    Option("n_trees", STACKED, _whole(FEWEST_TREES, MOST)),
    Option("blend", ("odrf",), checked_switch),
    Option("objective", ("odrf",), _one_of(*OBJECTIVES)),
    Option("split_scale", TREES, _one_of(AUTO, *SPLIT_SCALES)),
    Option("pruning", TREES, _one_of(*RULES)),
    Option("min_leaf", TREES + BOOSTED, _whole(1)),
    Option("max_depth", TREES, _or_none(_whole(0))),
    Option("max_depth", BOOSTED, _whole(1)),
    Option("max_leaves", BOOSTED, _or_none(_whole(2))),
    Option("min_hessian", BOOSTED, checked_amount),
    Option("penalty", TREES, _one_of(*PENALTIES)),
    Option("split_search", TREES + BOOSTED, _one_of(AUTO, EXACT)),
    Option("resample", ("odrf",), _one_of(AUTO, *RESAMPLES)),
    Option("honest", TREES, checked_truth),
    Option("inference", ("odrf",), checked_truth),
    Option("learning_rate", BOOSTED, _or_auto(checked_share)),
    Option("leaf_values", BOOSTED, _one_of(NEWTON, REFIT)),
    Option("l2", BOOSTED, checked_amount),
    Option("sample_fraction", BOOSTED, checked_share),
    Option("predictor_fraction", BOOSTED, checked_share),
    Option("n_runs", BOOSTED, _or_auto(_whole(1, MOST))),
    Option("run_predictors", BOOSTED, checked_share),
    Option("patience", BOOSTED, _or_auto(_whole(1))),
    Option("trials", GUIDED, _or_none(_whole(1, MOST))),
    Option("min_split", GUIDED, _whole(2)),
    Option("origin", GUIDED, _one_of(DATA, REGION)),
    Option("batched", GUIDED, checked_switch),
    Option("device", GUIDED, _one_of(CPU, CUDA)),
    Option("budget", STACKED, _seconds),
    Option("seed", TREES + BOOSTED + GUIDED + STACKED, lambda _, value: checked_seed(value)),
    Option("n_jobs", TREES + BOOSTED + GUIDED + STACKED, lambda _, value: checked_jobs(value)),
)
"""The table of checks.  Options that depend on the data are checked where they are resolved."""


def checked_options(function: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call of `function` after the checks that need no data.

    Raises
    ------
    InputError
        If an option is invalid.  The message names it and says what to use.
    """
    rows = {row.name: row.check for row in CHECKS if function in row.functions}
    return {
        name: rows[name](name, value) if name in rows else value for name, value in options.items()
    }
