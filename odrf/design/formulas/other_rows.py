"""Expressions whose value in one row depends on the other rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from odrf.design.columns.frame import selected
from odrf.design.columns.listing import listed
from odrf.design.formulas.evaluated import Evaluation
from odrf.errors import InputError, warn_user, without_warnings

__all__ = ["alike", "warn_of_other_rows"]

# About so many of the training rows are evaluated again.
ROWS = 200
ROUNDING = 1e-12


def warn_of_other_rows(evaluations: Iterable[Evaluation], frame: pd.DataFrame) -> None:
    """Warn of the expressions that give a row of `frame` another value among fewer rows.

    Warns
    -----
    UserWarning
        There are such expressions.  There is one warning for all.
    """
    few = frame.iloc[:: max(1, len(frame) // ROWS)]
    found = [each.expression.name for each in evaluations if _depends_on_other_rows(each, few)]
    if found:
        warn_user(
            f"the formula computes {listed(found)} from all rows together, and predict() does so "
            "from the rows that it is given: a row alone gets another value. Use center(), "
            "scale(), standardize(), bs() or cr(), which remember the training rows, or compute "
            "the column before the fit"
        )


def alike(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Return whether two tables hold the same, but for rounding."""
    if one.shape != other.shape:
        return False
    try:
        a, b = one.to_numpy(dtype=np.float64), other.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        return bool((one.to_numpy() == other.to_numpy()).all())
    # functions of vectors may round the last rows of an array otherwise
    largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    return bool(np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING * largest, equal_nan=True))


def _depends_on_other_rows(evaluation: Evaluation, few: pd.DataFrame) -> bool:
    """Return whether some of the rows have other values in a half of these rows, or alone."""
    rows = selected(few, evaluation.expression.columns).dropna()
    whole = _values(evaluation, rows)
    if whole is None or whole.empty:
        return False
    # A value that is the same for every row alone is wrong for one of two that differ.
    different = int(pd.factorize(whole.iloc[:, 0])[0].argmax())
    for part in (slice(len(rows) // 2, None), slice(0, 1), slice(different, different + 1)):
        found = _values(evaluation, rows.iloc[part])
        if found is not None and not alike(whole.iloc[part], found):
            return True
    return False


def _values(evaluation: Evaluation, rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return the values of some rows; None if the expression fails on so few."""
    with without_warnings():
        try:
            data: Any = evaluation.values(rows).data
        except InputError:
            return None
    return pd.DataFrame(data)
