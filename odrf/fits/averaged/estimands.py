"""What is estimated: averages of predictions, contrasts and slopes of variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from odrf.checks import is_list
from odrf.design.encoding import unseen_levels_expected
from odrf.design.new_rows import touched, training_frame, variables, with_levels
from odrf.errors import InputError
from odrf.fits.averaged.beyond_training import warn_of_values_beyond
from odrf.fits.averaged.contrasts import (
    OF_FACTORS,
    OF_NUMBERS,
    Contrast,
    contrasts_of,
    deviation_of,
    is_exact,
    is_timed,
    slope_of,
    usual_contrast,
)
from odrf.fits.averaged.estimating import Estimand
from odrf.fits.averaged.grid_of_rows import shown_name, values_at
from odrf.fits.fit import AnyFit
from odrf.fits.raw_rows import raw_rows

__all__ = ["comparison_estimands", "prediction_estimands", "slope_estimands"]


def prediction_estimands(fit: AnyFit, at: Any) -> list[Estimand]:
    """Return the estimand of an average for each combination of the values of `at`.

    Warns
    -----
    UserWarning
        A number in `at` is beyond the training rows.
    """
    combinations = values_at(at)
    _require_known(fit, combinations)
    warn_of_values_beyond(fit, _values_of(combinations))
    return [
        Estimand({"term": "prediction", "contrast": "mean", **_shown(fit, values)}, None, values)
        for values in combinations
    ]


def comparison_estimands(
    fit: AnyFit, names: Any, contrast: Any, at: Any, newdata: pd.DataFrame | None
) -> list[Estimand]:
    """Return the estimand of each contrast of each variable, for each combination of `at`.

    Raises
    ------
    InputError
        A variable is unknown or also in `at`, the contrast does not fit it, or all variables are
        factors of one level.

    Warns
    -----
    UserWarning
        A number in `at`, or in a contrast of two values, is beyond the training rows.
    """
    if isinstance(names, Mapping) and names:
        name, values = next(iter(names.items()))
        raise InputError(
            f"variables={names!r}: values are given apart: write variables={name!r}, "
            f"contrast={values!r}"
        )
    asked = _asked(fit, names)
    training = with_levels(fit.design, training_frame(fit.design, fit.data))
    frame = _frame_of(fit, newdata)
    if names is None and not is_list(contrast):
        # of a fit to dates alone, the first one says what to give
        asked = [name for name in asked if _has_steps(training[name], frame[name])] or asked
    several = names is None or len(asked) > 1
    found = {
        name: contrasts_of(
            name,
            frame[name],
            training[name],
            fit.data.weights,
            _fitting(training[name], fit.data.weights, contrast, several),
        )
        for name in asked
    }
    if not any(found.values()):
        raise InputError(
            f"{asked[0]!r} has one level in the training rows, so there is nothing to compare: "
            "name another variable"
        )
    pair = {} if contrast is None or isinstance(contrast, str) else dict.fromkeys(asked, contrast)
    return _estimands(fit, found, at, pair)


def slope_estimands(
    fit: AnyFit, names: Any, bandwidth: float | None, at: Any, newdata: pd.DataFrame | None
) -> list[Estimand]:
    """Return the estimand of the slope of each variable, for each combination of `at`.

    Raises
    ------
    InputError
        A variable is unknown, also in `at`, or holds no numbers.

    Warns
    -----
    UserWarning
        A number in `at` is beyond the training rows.
    """
    training = with_levels(fit.design, training_frame(fit.design, fit.data))
    asked, weights = _asked(fit, names), fit.data.weights
    frame = _frame_of(fit, newdata)
    if names is None:
        numbers = [name for name in asked if _is_number(training[name])]
        # floats may be the same for large numbers that differ
        asked = [
            name
            for name in numbers
            if not is_exact(training[name]) or deviation_of(training[name], weights) > 0
        ]
        asked = [name for name in asked if _has_steps(training[name], frame[name])] or asked
        if not asked:
            raise InputError(
                "no variable of the fit holds numbers that differ: use comparisons() for factors"
            )
    found = {
        name: [slope_of(name, frame[name], training[name], weights, bandwidth)] for name in asked
    }
    return _estimands(fit, found, at, {})


def _estimands(
    fit: AnyFit,
    contrasts: dict[str, list[Contrast]],
    at: Any,
    pairs: Mapping[str, Sequence[Any]],
) -> list[Estimand]:
    combinations = values_at(at)
    _require_known(fit, combinations)
    twice = [name for name in contrasts if name in combinations[0]]
    if twice:
        raise InputError(f"{twice[0]!r} is compared and set by at=: leave it out of one of them")
    warn_of_values_beyond(fit, {**_values_of(combinations), **pairs})
    return [
        Estimand(
            {"term": name, "contrast": contrast.label, **_shown(fit, values)},
            values if contrast.low is None else {**values, name: contrast.low},
            {**values, name: contrast.high},
            contrast.width,
        )
        for name, of_variable in contrasts.items()
        for contrast in of_variable
        for values in combinations
    ]


def _frame_of(fit: AnyFit, newdata: pd.DataFrame | None) -> pd.DataFrame:
    """Return the columns of the rows; who averages over these says what is wrong with levels."""
    with unseen_levels_expected():
        return raw_rows(fit, newdata).frame


def _shown(fit: AnyFit, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of variables by the names that these have in tables of estimates."""
    return {shown_name(fit, name): value for name, value in values.items()}


def _values_of(combinations: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each variable of the combinations."""
    return {name: [values[name] for values in combinations] for name in combinations[0]}


def _asked(fit: AnyFit, names: Any) -> list[str]:
    """Return the variables asked for, by default all."""
    if names is None:
        return list(variables(fit.design))
    asked = [names] if isinstance(names, str) else list(names) if is_list(names) else []
    if not asked:
        raise InputError(f"variables={names!r} names no column: use a name, or a list of names")
    touched(fit.design, *asked)
    return list(dict.fromkeys(asked))


def _require_known(fit: AnyFit, combinations: Sequence[dict[str, Any]]) -> None:
    if combinations[0]:
        touched(fit.design, *combinations[0])


def _has_steps(training: pd.Series, column: pd.Series) -> bool:
    """Return whether a variable, among all, is compared: dates are not, nor too large numbers."""
    return not is_timed(training) and is_exact(training) and is_exact(column)


def _fitting(column: pd.Series, weights: NDArray[np.float64], contrast: Any, several: bool) -> Any:
    """Return the contrast for a variable: its default if the one asked for is of another type."""
    number = is_numeric_dtype(column.dtype)
    others = OF_FACTORS if number else OF_NUMBERS
    ignored = isinstance(contrast, str) and contrast in others and (several or not number)
    return usual_contrast(column, weights) if contrast is None or ignored else contrast


def _is_number(column: pd.Series) -> bool:
    return is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype)
