"""Which encoding the values of an atom get, by what they are on the training rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from odrf.design.columns.encoding import (
    Encoding,
    Indicators,
    Numbers,
    Ranks,
    observed_levels,
)
from odrf.design.columns.listing import listed
from odrf.design.columns.measurement import DATES, DURATIONS, PERIODS, contents, measurement
from odrf.design.columns.moments import learn_durations, learn_moments
from odrf.design.columns.text_as_read import meant_as, warn_of_spellings, warn_of_text
from odrf.design.columns.values import Values
from odrf.design.formulas.spelling import quoted
from odrf.errors import InputError

__all__ = ["learn_encoding", "require_shared"]

# Text with a level of its own in nearly every row, such as names, says nothing about other rows.
FEWEST_OWN, SHARE_OWN = 30, 0.9


def learn_encoding(values: Values) -> Encoding:
    """Return the encoding of an atom, chosen by its values on the training rows.

    Raises
    ------
    InputError
        The values are neither numbers, dates nor labels, or not among the levels of
        ``C(…, levels=…)``, or text that is different in nearly every row.
    """
    data = values.data
    if values.censored:
        raise InputError(f"{values.name!r} is a response: write it on the left of ~")
    if isinstance(data, pd.DataFrame):
        return _several(values, data)
    if values.levels is not None:
        return _given_levels(values.name, data, pd.Index(values.levels, dtype=object))
    if data.dtype.kind in "biuf" and not values.nominal and isinstance(data.dtype, np.dtype):
        return Numbers()  # as below, but quickly: there may be thousands of such columns
    held = contents(data)
    if held in (DATES, PERIODS) and not values.nominal and not _is_categorical(data):
        return learn_moments(values)
    if held == DURATIONS and not values.nominal and not _is_categorical(data):
        return learn_durations(values)
    scale = measurement(data, values.name)
    if values.nominal or scale == "nominal":
        levels = observed_levels(data).astype(object)
        if not values.nominal and not _is_categorical(data):
            require_shared(values.name, levels, len(data))
            warn_of_text(values.name, levels, "a factor")
        if not values.nominal:
            warn_of_spellings(values.name, levels)
        return Indicators(levels, _declared_levels(data).difference(levels, sort=False))
    if scale == "ordinal":
        return Ranks(data.cat.categories.astype(object))
    return Numbers()


def _several(values: Values, data: pd.DataFrame) -> Numbers:
    for name in data.columns:
        if measurement(data[name], f"{values.name}[{name}]") not in ("numeric", "logical"):
            raise InputError(
                f"{values.name!r} gives several columns, of which {name!r} is not numeric: "
                "write one term for each column"
            )
    return Numbers(tuple(f"[{name}]" for name in data.columns) if data.shape[1] > 1 else ("",))


def _given_levels(name: str, data: pd.Series, levels: pd.Index) -> Indicators:
    if not levels.is_unique:
        raise InputError(f"{name!r} names a level twice: {listed(levels)}")
    observed = pd.Index(data, dtype=object).unique()
    outside = observed.difference(levels, sort=False)
    if len(outside):
        raise InputError(
            f"{name!r} has values that are not among its levels: {listed(outside)}; "
            "add them to levels="
        )
    return Indicators(levels, levels.difference(observed, sort=False))


def require_shared(name: str, levels: pd.Index, n: int) -> None:
    """Raise `InputError` if nearly every one of n rows has one of these levels of its own."""
    if len(levels) < FEWEST_OWN or len(levels) <= SHARE_OWN * n:
        return
    advice = meant_as(name, levels) or (
        "leave it out, encode what matters in it as columns of their own, or write "
        f"C({quoted(name)}) if it is a factor nevertheless"
    )
    raise InputError(
        f"{name!r} is text with {len(levels)} different values in {n} rows, such as "
        f"{listed(levels, 2)}, from which nothing can be learned for other rows: {advice}"
    )


def _is_categorical(data: pd.Series) -> bool:
    return isinstance(data.dtype, pd.CategoricalDtype)


def _declared_levels(data: pd.Series) -> pd.Index:
    """Return the categories of `data`, if it has any."""
    return pd.Index(data.cat.categories if _is_categorical(data) else [], dtype=object)
