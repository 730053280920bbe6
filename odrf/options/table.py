"""The checks of options that need no data: one row for each option."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from odrf.engine.guided.device import Device, running_sums
from odrf.engine.kernel_params import AIC, BIC, NO_PENALTY
from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, SUBSAMPLE
from odrf.errors import InputError, installing
from odrf.options.blend import FEWEST_TREES, OBJECTIVES
from odrf.options.criteria import SPLIT_SCALES
from odrf.pruning.complexity import RULES

# ------------------------------------------------------------------------------------------------
# Where guided forests evaluate their planes: on the processor, or on a graphics card by CUDA.
# ------------------------------------------------------------------------------------------------

CPU, CUDA = "cpu", "cuda"

# The libraries whose arrays can be on a device, the first that is there being used; and what each
# calls the device.
LIBRARIES = {"cupy": None, "torch": CUDA}
NAMES = {"cupy": "CuPy", "torch": "PyTorch"}
INSTEAD = f'or leave device="{CPU}"'


def device_for(name: str) -> Device | None:
    """Return the device of a name; None for the processor.

    Raises `InputError`, which says what to install, if there is no such device, or no library for
    it.
    """
    if name == CPU:
        return None
    try:
        import_module("array_api_compat")
    except ImportError as error:
        raise InputError(
            f'device="{CUDA}" needs array-api-compat: install it with {installing("cuda")}, '
            f"{INSTEAD}"
        ) from error
    return device_of(_library())


def device_of(library: str) -> Device:
    """Return the device with arrays of one of `LIBRARIES`, which is installed and finds one."""
    compat = import_module("array_api_compat")
    xp = import_module(f"array_api_compat.{library}")

    def fetched(array: Any) -> NDArray:
        return np.asarray(compat.to_device(array, CPU))

    return Device(xp, LIBRARIES[library], fetched, _summation())


def device_if_there(name: str) -> Device | None:
    """Return the device of a name; None for the processor, and where there is no such device.

    So a fit that was grown on a device can grow other trees on any machine, after it is loaded.
    """
    try:
        return device_for(name)
    except InputError:
        return None


def _library() -> str:
    """Return the name of a library that is installed and finds a device."""
    installed = []
    for name in LIBRARIES:
        try:
            library = import_module(name)
        except ImportError:
            continue
        if library.cuda.is_available():
            return name
        installed.append(NAMES[name])
    if installed:
        raise InputError(
            f'device="{CUDA}": {" and ".join(installed)} found no device for CUDA here.  '
            f'Use device="{CPU}"'
        )
    raise InputError(
        f'device="{CUDA}" needs CuPy or PyTorch: install CuPy with {installing("cuda")}, {INSTEAD}'
    )


def _summation() -> Any:
    """Return our kernel where Numba can compile it for the device; else running sums.

    Both give the same sums.
    """
    try:
        compiles = import_module("numba.cuda").is_available()
    except (AttributeError, ImportError):  # as of numba-cuda 0.30 beside NumPy 2.5
        return running_sums
    if not compiles:
        return running_sums
    return import_module("odrf.engine.guided.cuda").sums_by_blocks


# ------------------------------------------------------------------------------------------------
# The checks of options that need no data: one row for each option and the functions it is for.
# ------------------------------------------------------------------------------------------------

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

    `functions` are those of `odrf.odt`, `odrf.odrf`, `odrf.odbt`, `odrf.graf` and `odrf.auto` that
    have it.  `check` takes name and value, and returns the value that is used, or raises
    `InputError`.
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

    Raises `InputError`, which names the option and says what to use, if one is invalid.
    """
    rows = {row.name: row.check for row in CHECKS if function in row.functions}
    return {
        name: rows[name](name, value) if name in rows else value for name, value in options.items()
    }
