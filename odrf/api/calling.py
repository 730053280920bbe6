"""What the functions that a user calls have in common: the design, and the call as written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pandas as pd
from patsy import EvalEnvironment

from odrf.design import Design, TrainingData, build_design
from odrf.projections.family import Family

__all__ = ["DESIGN_ARGUMENTS", "design_of", "is_default", "spelled_call"]

DESIGN_ARGUMENTS = ("weights", "class_weights", "missing", "kind")
SPELLED = (str, int, float, Family, dict)


def design_of(
    formula: str,
    data: pd.DataFrame,
    options: Mapping[str, Any],
    env: EvalEnvironment,
    aside: str | None = None,
) -> tuple[Design, TrainingData]:
    """Return design and training rows of a call with these options; `aside` is no predictor."""
    own = {name: options[name] for name in DESIGN_ARGUMENTS}
    return build_design(formula, data, env=env, aside=aside, **own)


def spelled_call(function: Callable[..., Any], formula: str, options: Mapping[str, Any]) -> str:
    """Write the call as the user would, arguments at their defaults left out."""
    words = [repr(formula) if isinstance(formula, str) else "…", "data"]
    for name, value in options.items():
        if is_default(function, name, value):
            continue
        if isinstance(value, SPELLED):
            words.append(f"{name}={value!r}")
        else:
            words.append(f"{name}={getattr(value, '__name__', '…')}")
    return f"{function.__name__}({', '.join(words)})"


def is_default(function: Callable[..., Any], name: str, value: Any) -> bool:
    """Return whether an argument is as it would be if it were left out."""
    default = _defaults(function)[name]
    return value is default or (isinstance(value, SPELLED) and bool(value == default))


@cache
def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the default of each argument, a mark where it has none."""
    return {name: own.default for name, own in inspect.signature(function).parameters.items()}
