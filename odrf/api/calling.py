"""What the fitting functions share: the design, the options of growth, the call as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from patsy import EvalEnvironment

from odrf.design import Design, TrainingData, build_design
from odrf.engine.growth.backends import Backend, DaskTrees, JoblibTrees, grown_by_backend
from odrf.errors import InputError
from odrf.options import words
from odrf.options.options import DataOptions, Options
from odrf.options.tree import for_inference
from odrf.projections.base import Family
from odrf.projections.mixture import without_share
from odrf.public.arguments import DASK, JOBLIB
from odrf.public.frames import required_client

DESIGN_ARGUMENTS = tuple(argument.name for argument in fields(DataOptions))
# Values of these types are shown in the call; of others only the name, if they have one.
SHOWN_TYPES = (str, int, float, Family, dict, type(None))


def design_of(
    formula: str,
    data: pd.DataFrame,
    rows: DataOptions,
    env: EvalEnvironment,
    aside: str | None = None,
    with_times: bool = False,
) -> tuple[Design, TrainingData]:
    """Return design and training rows of a call.

    The column `aside` is not used as a predictor.  The response may be a survival time if
    `with_times`.
    """
    return build_design(
        formula,
        data,
        kind=rows.kind,
        missing=rows.missing,
        unseen=rows.unseen,
        weights=rows.weights,
        groups=rows.groups,
        order=rows.order,
        strata=rows.strata,
        aside=aside,
        class_weights=rows.class_weights,
        with_times=with_times,
        env=env,
    )


def given_options(function: Callable[..., Any], *options: Any) -> dict[str, Any]:
    """Return the options of a call that are not at their defaults, from their dataclasses."""
    given: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for part in options:
        values |= vars(part)
    for name, default in default_options(function).items():
        value = values.get(name, default)
        if value is not default and not (isinstance(value, SHOWN_TYPES) and value == default):
            given[name] = value
    return given


def spelled_call(function: Callable[..., Any], formula: str, *options: Any) -> str:
    """Return the call as text, from its dataclasses of options, without arguments at defaults."""
    words = [repr(formula) if isinstance(formula, str) else "…", "data"]
    for name, value in given_options(function, *options).items():
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, SHOWN_TYPES):
            words.append(f"{name}={value!r}")
        else:
            words.append(f"{name}={getattr(value, '__name__', '…')}")
    return f"{function.__name__}({', '.join(words)})"


@cache
def default_options(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the default of each argument; `inspect.Parameter.empty` where it has none."""
    parameters = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def checked_options(function: Callable[..., Any], options: Options) -> Options:
    """Return the options of growth of a call, checked, with the names of those not at defaults."""
    options = replace(options, projection=without_share(options.projection))
    given = frozenset(given_options(function, options))
    return for_inference(replace(options.checked(), given=given))


def grown_by(backend: words.BackendName, n_jobs: int | None) -> AbstractContextManager[None]:
    """Return a context in which trees of rows in memory are grown as `backend` says.

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
