"""Formulas from outside: their functions are those of the package, none of anybody else."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from patsy import EvalEnvironment

from odrf.api.calling import DESIGN_ARGUMENTS
from odrf.design import Design, build_design
from odrf.design.columns import check_frame
from odrf.design.formula import read_formula
from odrf.design.functions import looked_up_in
from odrf.design.trusted import require_trusted
from odrf.design.weights import offset_of

__all__ = ["checked_design", "require_harmless", "without_names"]

# Functions in a formula are looked up here: none beside those of the package.
NO_NAMES = EvalEnvironment([{}])


def without_names(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function whose formulas find no names but those of the package."""
    with looked_up_in(NO_NAMES):
        return call(*args, **options)


def require_harmless(formula: Any, data: pd.DataFrame) -> None:
    """Raise `InputError` if the formula is none, or would run other code than the package's."""
    check_frame(data)
    require_trusted(read_formula(formula, list(data.columns), NO_NAMES))


def checked_design(formula: str, data: pd.DataFrame, options: Mapping[str, Any]) -> Design:
    """Return the design of a harmless formula; raise `InputError` before a long fit would."""
    require_harmless(formula, data)
    given = {name: options[name] for name in DESIGN_ARGUMENTS if name in options}
    aside = offset_of(options.get("offset"), data).column
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit will say it
        return build_design(formula, data, with_times=True, env=NO_NAMES, aside=aside, **given)[0]
