"""What the fitting functions share: the design, the options of growth, the call as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from patsy import EvalEnvironment

from odrf.design import Design, TrainingData, build_design
from odrf.design.structure import STRUCTURE_ARGUMENTS
from odrf.engine.growth.backends import Backend, DaskTrees, JoblibTrees, grown_by_backend
from odrf.errors import InputError
from odrf.options.boosting import ResolvedBoostingOptions, resolve_boosting
from odrf.options.options import Options, given_options
from odrf.options.tree import for_inference
from odrf.projections.base import Family
from odrf.projections.mixture import without_share
from odrf.public.arguments import DASK, JOBLIB
from odrf.public.frames import required_client

# ------------------------------------------------------------------------------------------------
# What the fitting functions share: building the design, and writing the call as text.
# ------------------------------------------------------------------------------------------------

DESIGN_ARGUMENTS = ("weights", "class_weights", *STRUCTURE_ARGUMENTS, "missing", "unseen", "kind")
NO_OPTIONS = ("formula", "data", "backend", "progress")
# Values of these types are shown in the call; of others only the name, if they have one.
SHOWN_TYPES = (str, int, float, Family, dict, type(None))


def design_of(
    formula: str,
    data: pd.DataFrame,
    options: Mapping[str, Any],
    env: EvalEnvironment,
    aside: str | None = None,
    with_times: bool = False,
) -> tuple[Design, TrainingData]:
    """Return design and training rows of a call.

    The column `aside` is not used as a predictor.  The response may be a time to an event if
    `with_times`.
    """
    arguments = {name: options[name] for name in DESIGN_ARGUMENTS}
    return build_design(formula, data, env=env, aside=aside, with_times=with_times, **arguments)


def options_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the arguments of a call that are options."""
    return {name: value for name, value in arguments.items() if name not in NO_OPTIONS}


def boosting_of(
    options: Mapping[str, Any], design: Design, training: TrainingData
) -> ResolvedBoostingOptions:
    """Return the options of boosted trees, resolved for the rows of a call."""
    return resolve_boosting(
        options,
        y=training.y,
        kind=design.response.kind,
        P=len(design.predictors),
        p=len(design.columns),
        n_classes=design.response.n_classes,
        ordered=design.response.ordered,
        ranges=design.scaling.range,
        grid=design.grid,
        terms=design.n_terms,
        empty=design.of_empty_cells,
    )


def spelled_call(function: Callable[..., Any], formula: str, options: Mapping[str, Any]) -> str:
    """Return the call as text, without arguments at their defaults."""
    words = [repr(formula) if isinstance(formula, str) else "…", "data"]
    for name, value in options.items():
        if is_default(function, name, value):
            continue
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, SHOWN_TYPES):
            words.append(f"{name}={value!r}")
        else:
            words.append(f"{name}={getattr(value, '__name__', '…')}")
    return f"{function.__name__}({', '.join(words)})"


def is_default(function: Callable[..., Any], name: str, value: Any) -> bool:
    """Return whether the `value` of an argument of `function` is its default."""
    default = default_options(function)[name]
    return value is default or (isinstance(value, SHOWN_TYPES) and bool(value == default))


@cache
def default_options(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the default of each argument; `inspect.Parameter.empty` where it has none."""
    parameters = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


# ------------------------------------------------------------------------------------------------
# Types of arguments that trees and forests share.
# ------------------------------------------------------------------------------------------------

LeafRule = int | str | Callable[[int], float] | None
ShareRule = float | str | Callable[[int], float]
AlphaRule = float | str | Callable[[int], float] | None
ClassWeights = str | Mapping[Any, float] | None
Projection = str | Family | Mapping[str | Family, float]


# ------------------------------------------------------------------------------------------------
# From the arguments of `odt` and `odrf` to the options of growth.
# ------------------------------------------------------------------------------------------------

TREE = {
    "n_trees": 1,
    "resample": "none",
    "sample_fraction": "auto",
    "blend": False,
}
"""The options of a forest that a tree does not have, where `Options` has no default for a tree."""


def requested(
    function: Callable[..., Any], options: Mapping[str, Any], fixed: Mapping[str, Any]
) -> Options:
    """Return the options of growth: the `options` of the call, and options that are `fixed`."""
    options = {**options, "projection": without_share(options["projection"])}
    given = {name for name, value in options.items() if not is_default(function, name, value)}
    given_by_user = given_options(
        {**options, **fixed}, frozenset(given.difference(DESIGN_ARGUMENTS))
    )
    return for_inference(given_by_user)


# ------------------------------------------------------------------------------------------------
# Where the trees of a forest on rows in memory are grown: the argument `backend`.
# ------------------------------------------------------------------------------------------------


def grown_by(backend: str, n_jobs: int | None) -> AbstractContextManager[None]:
    """Return a context in which trees are grown as `backend` says.

    Raises `InputError` if what the backend needs is not installed, or Dask has no client.
    """
    place: Backend | None = None
    if backend == DASK:
        place = DaskTrees(required_client(f'backend="{DASK}"'))
    elif backend == JOBLIB:
        place = _by_joblib(n_jobs)
    return grown_by_backend(place)


def _by_joblib(n_jobs: int | None) -> JoblibTrees:
    try:
        import joblib  # noqa: PLC0415  # optional
    except ImportError:
        raise InputError(
            f'backend="{JOBLIB}" needs joblib: install it with pip install joblib'
        ) from None
    return JoblibTrees(joblib, n_jobs)
