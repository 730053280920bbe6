"""What is estimated: averages of predictions, contrasts and slopes of variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

from odrf.checks import is_list, is_number, is_word
from odrf.design.columns import DATES, DURATIONS, PERIODS, contents, listed
from odrf.design.encoding import unseen_levels_expected
from odrf.design.new_rows import touched, training_frame, variables, with_levels
from odrf.engine.running import one_thread
from odrf.errors import InputError, allowed, warn_user
from odrf.fits.effects import Estimand, shown_name, values_at
from odrf.fits.fit import AnyFit, raw_rows

Floats = NDArray[np.float64]

CONTRASTS = ("sd", "unit", "iqr", "reference", "pairwise")
OF_NUMBERS, OF_FACTORS = ("sd", "unit", "iqr"), ("reference", "pairwise")

# A slope's two ends are this share of a standard deviation apart.
BANDWIDTH = 0.5
# Relative tolerance of sums of shares, which are rounded.
SLACK = 1e-12
# Floats do not distinguish all whole numbers beyond.
LARGEST_EXACT = 2**53


class Contrast(NamedTuple):
    """Two values that a variable is set to, alike or for each row (n,), `width` apart."""

    label: str
    low: Any
    high: Any
    width: Floats | None = None


def contrasts_of(
    name: str, column: pd.Series, training: pd.Series, weights: Floats, contrast: Any
) -> list[Contrast]:
    """Return the contrasts of a variable: `contrast` is one of `CONTRASTS`, or two values."""
    if not isinstance(contrast, str):
        if not isinstance(contrast, tuple | list) or len(contrast) != 2:
            raise InputError(
                f"contrast={contrast!r} is no contrast of {name!r}: use one of "
                f"{listed(CONTRASTS)}, or two values such as (1, 2)"
            )
        low, high = contrast
        return [Contrast(f"{_in_words(high)} - {_in_words(low)}", low, high)]
    if contrast not in CONTRASTS:
        raise allowed("contrast", contrast, CONTRASTS)
    if not is_numeric_dtype(training.dtype):
        return _of_levels(name, training, contrast)
    if is_bool_dtype(training.dtype):
        return [Contrast("True - False", False, True)]
    if contrast in OF_FACTORS:
        raise InputError(
            f"contrast={contrast!r} is for factors, and {name!r} holds numbers: use one of "
            f"{listed(OF_NUMBERS)}, or two values such as (1, 2)"
        )
    require_exact(name, column, training)
    return [_of_numbers(_floats(column), training.astype(float), weights, contrast)]


def usual_contrast(training: pd.Series, weights: Floats) -> Any:
    """Return the contrast of a variable by default; of a number with two values, these."""
    if not is_numeric_dtype(training.dtype):
        return "reference"
    require_exact(str(training.name), training)
    values = np.unique(_known(training, weights)[0])
    return tuple(values) if len(values) == 2 and not is_bool_dtype(training.dtype) else "sd"


def slope_of(
    name: str, column: pd.Series, training: pd.Series, weights: Floats, bandwidth: float | None
) -> Contrast:
    """Return the contrast whose quotient by its width is a slope.

    The ends are half a bandwidth off the value of each row, within the range of the training rows.
    By default they are the next values of training rows a quarter of a standard deviation away or
    more: steps of a forest lie between these, which other ends would miss or count twice.
    """
    if not holds_numbers(training):
        raise InputError(
            f"{name!r} is no number in the fit, so that it has no slope: use comparisons()"
        )
    require_exact(name, column, training)
    numbers = training.astype(float)
    known, _ = _known(numbers, weights)
    if len(np.unique(known)) < 2:
        raise InputError(f"{name!r} has the same value in all training rows: it has no slope")
    low, high = float(known.min()), float(known.max())
    if bandwidth is None:
        half = BANDWIDTH / 2 * deviation_of(numbers, weights)
        return _slope_between(np.unique(known), _floats(column).clip(low, high), half)
    width = min(bandwidth, high - low)
    middle = _floats(column).clip(low + width / 2, high - width / 2)
    ends = middle - width / 2, middle + width / 2
    return Contrast("slope", *ends, np.full(len(middle), width))


def _slope_between(known: Floats, at: Floats, half: float) -> Contrast:
    """Return a slope whose ends are known values, `half` or more off where that is possible."""
    last = len(known) - 1
    below = np.clip(np.searchsorted(known, at - half, side="right") - 1, 0, last - 1)
    above = np.clip(np.searchsorted(known, at + half), below + 1, last)
    empty = np.isnan(at)
    low, high = np.where(empty, np.nan, known[below]), np.where(empty, np.nan, known[above])
    return Contrast("slope", low, high, np.where(empty, 1.0, high - low))


def is_timed(column: pd.Series) -> bool:
    """Return whether a column holds dates, durations or periods, which have no usual contrast."""
    return contents(column) in (DATES, DURATIONS, PERIODS)


def require_exact(name: str, *columns: pd.Series) -> None:
    """Raise `InputError` if steps from whole numbers would be lost, as floats do not hold them."""
    if not all(map(is_exact, columns)):
        raise InputError(
            f"{name!r} has whole numbers beyond 2**53, of which floats lose the last digits: "
            "fit to the numbers less the smallest one, as in "
            f"data[{name!r}] - data[{name!r}].min()"
        )


def holds_numbers(column: pd.Series) -> bool:
    """Return whether a column holds numbers, which truth values are not."""
    return is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype)


def is_exact(column: pd.Series) -> bool:
    """Return whether floats hold all whole numbers of a column."""
    known = column.dropna() if is_integer_dtype(column.dtype) else column.iloc[:0]
    return not len(known) or max(-int(known.min()), int(known.max())) <= LARGEST_EXACT


def levels_of(column: pd.Series) -> list[Any]:
    """Return the levels of a factor, in their order."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return list(column.cat.remove_unused_categories().cat.categories)
    return sorted(column.dropna().unique(), key=lambda level: (str(type(level)), level))


def _floats(column: pd.Series) -> Floats:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _of_numbers(values: Floats, training: pd.Series, weights: Floats, contrast: str) -> Contrast:
    if contrast == "unit":
        return Contrast("+1", None, values + 1.0)
    if contrast == "sd":
        sd = deviation_of(training, weights)
        return Contrast(f"+1 sd ({sd:.4g})", values - sd / 2, values + sd / 2)
    low, high = _quartiles(training, weights)
    return Contrast(f"Q3 - Q1 ({low:.4g} to {high:.4g})", float(low), float(high))


def _of_levels(name: str, training: pd.Series, contrast: str) -> list[Contrast]:
    if is_timed(training):
        raise InputError(
            f"{name!r} holds {contents(training)}: give two of them as contrast=(first, second)"
        )
    levels = levels_of(training)
    pairs = [(levels[0], level) for level in levels[1:]]
    if is_word(contrast, "pairwise"):
        pairs = list(combinations(levels, 2))
    return [Contrast(f"{_in_words(high)} - {_in_words(low)}", low, high) for low, high in pairs]


@one_thread()
def deviation_of(training: pd.Series, weights: Floats) -> float:
    """Return the weighted standard deviation of numbers without missing cells; of none, 0."""
    values, share = _known(training, weights)
    if not len(values) or (values == values[0]).all():
        return 0.0
    largest = float(np.abs(values).max()) or 1.0
    # squares of very large and very small numbers are out of the range of floats
    off = values / largest - share @ (values / largest)
    return largest * float(np.sqrt(share @ off**2))


def _quartiles(training: pd.Series, weights: Floats) -> tuple[float, float]:
    """Return the smallest numbers up to which a quarter, or three, of the weight lies."""
    values, share = _known(training, weights)
    if not len(values):
        raise InputError(
            f"{training.name!r} is empty in all training rows of positive weight, and so has no "
            "quartiles: give two values as contrast=(first, second)"
        )
    order = np.argsort(values, kind="stable")
    reached = share[order].cumsum() * (1 + SLACK)
    low, high = values[order][np.searchsorted(reached, (0.25, 0.75))]
    return float(low), float(high)


def _known(training: pd.Series, weights: Floats) -> tuple[Floats, Floats]:
    """Return numbers without missing cells, and their shares of the weight."""
    known = training.notna().to_numpy() & (weights > 0)
    return training[known].to_numpy(np.float64), weights[known] / weights[known].sum()


def _in_words(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# Numbers that are read back from a fit are right to about seven digits of their range.
SLACK_OF_RANGE = 1e-6


def warn_of_values_beyond(fit: AnyFit, values: Mapping[str, Iterable[Any]]) -> None:
    """Warn of numbers beyond the range of the training rows, if the fit has these."""
    numbers = {
        name: [each for each in of if is_number(each) and not np.isnan(float(each))]
        for name, of in values.items()
    }
    numbers = {name: of for name, of in numbers.items() if of}
    training = _training_rows(fit) if numbers else None
    if training is None:
        return
    for name, of in numbers.items():
        column = training[name]
        if not holds_numbers(column):
            continue
        low, high = float(column.min()), float(column.max())
        slack = SLACK_OF_RANGE * max(high - low, abs(low), abs(high))
        beyond = [each for each in of if not low - slack <= float(each) <= high + slack]
        if beyond:
            warn_user(
                f"{name!r} is set to {float(beyond[0]):.6g}, but the training rows have "
                f"{low:.6g} to {high:.6g}: predictions beyond are nearly those at the end of the "
                "range, and intervals do not show it; use values within the range"
            )


def _training_rows(fit: AnyFit) -> pd.DataFrame | None:
    """Return the training rows that count, numbers taken as levels as such; None without rows."""
    if fit.rows is None:
        return None
    try:
        frame = training_frame(fit.design, fit.data)
    except InputError:  # an earlier version has saved it without all columns
        return None
    return with_levels(fit.design, frame[fit.data.weights > 0])


# What is estimated: averages of predictions, contrasts and slopes of variables.
def prediction_estimands(fit: AnyFit, at: Any) -> list[Estimand]:
    """Return the estimand of an average for each combination of the values of `at`."""
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
    """Return the estimand of each contrast of each variable, for each combination of `at`."""
    if isinstance(names, Mapping) and names:
        name, values = next(iter(names.items()))
        raise InputError(
            f"variables={names!r}: values are given apart: write variables={name!r}, "
            f"contrast={values!r}"
        )
    chosen, weights = _chosen(fit, names), fit.data.weights
    training = with_levels(fit.design, training_frame(fit.design, fit.data))
    frame = _frame_of(fit, newdata)
    if names is None and not is_list(contrast):
        # of a fit to dates alone, the error for the first one says what to give
        chosen = [name for name in chosen if _has_steps(training[name], frame[name])] or chosen
    several = names is None or len(chosen) > 1
    contrasts = {
        name: contrasts_of(
            name,
            frame[name],
            training[name],
            weights,
            _fitting(training[name], weights, contrast, several),
        )
        for name in chosen
    }
    if not any(contrasts.values()):
        raise InputError(
            f"{chosen[0]!r} has one level in the training rows, so there is nothing to compare: "
            "name another variable"
        )
    pair = {} if contrast is None or isinstance(contrast, str) else dict.fromkeys(chosen, contrast)
    return _estimands(fit, contrasts, at, pair)


def slope_estimands(
    fit: AnyFit, names: Any, bandwidth: float | None, at: Any, newdata: pd.DataFrame | None
) -> list[Estimand]:
    """Return the estimand of the slope of each variable, for each combination of `at`."""
    training = with_levels(fit.design, training_frame(fit.design, fit.data))
    chosen, weights = _chosen(fit, names), fit.data.weights
    frame = _frame_of(fit, newdata)
    if names is None:
        numbers = [name for name in chosen if holds_numbers(training[name])]
        # floats may be the same for large numbers that differ
        chosen = [
            name
            for name in numbers
            if not is_exact(training[name]) or deviation_of(training[name], weights) > 0
        ]
        chosen = [name for name in chosen if _has_steps(training[name], frame[name])] or chosen
        if not chosen:
            raise InputError(
                "no variable of the fit holds numbers that differ: use comparisons() for factors"
            )
    slopes = {
        name: [slope_of(name, frame[name], training[name], weights, bandwidth)] for name in chosen
    }
    return _estimands(fit, slopes, at, {})


def _estimands(
    fit: AnyFit, contrasts: dict[str, list[Contrast]], at: Any, pairs: Mapping[str, Sequence[Any]]
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
    """Return the columns of the rows; wrong levels raise when these are averaged."""
    with unseen_levels_expected():
        return raw_rows(fit, newdata).frame


def _shown(fit: AnyFit, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of variables by the names that these have in tables of estimates."""
    return {shown_name(fit, name): value for name, value in values.items()}


def _values_of(combinations: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each variable of the combinations."""
    return {name: [values[name] for values in combinations] for name in combinations[0]}


def _chosen(fit: AnyFit, names: Any) -> list[str]:
    """Return the chosen variables, by default all."""
    if names is None:
        return list(variables(fit.design))
    chosen = [names] if isinstance(names, str) else list(names) if is_list(names) else []
    if not chosen:
        raise InputError(f"variables={names!r} names no column: use a name, or a list of names")
    touched(fit.design, *chosen)
    return list(dict.fromkeys(chosen))


def _require_known(fit: AnyFit, combinations: Sequence[dict[str, Any]]) -> None:
    if combinations[0]:
        touched(fit.design, *combinations[0])


def _has_steps(training: pd.Series, column: pd.Series) -> bool:
    """Return whether a variable, among all, is compared: dates are not, nor too large numbers."""
    return not is_timed(training) and is_exact(training) and is_exact(column)


def _fitting(column: pd.Series, weights: Floats, contrast: Any, several: bool) -> Any:
    """Return the contrast for a variable: its default if the chosen one is of another type."""
    number = is_numeric_dtype(column.dtype)
    others = OF_FACTORS if number else OF_NUMBERS
    ignored = isinstance(contrast, str) and contrast in others and (several or not number)
    return usual_contrast(column, weights) if contrast is None or ignored else contrast
