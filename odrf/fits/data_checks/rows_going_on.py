"""Whether rows that enter late go on with subjects that other rows are of, too."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.survival_times import SurvivalTimes
from odrf.fits.fit import AnyFit

__all__ = ["column_of_subjects"]

# Fewer rows that go on are no pattern; nor are few of the pairs of rows of one subject.
FEWEST, SHARE = 5, 0.5
# A column is discarded if these rows of one subject overlap.
FIRST_ROWS = 2000


def column_of_subjects(fit: AnyFit, data: pd.DataFrame) -> str | None:
    """Return the column by whose values rows go on in time: one begins when another one ends.

    Rows of one value never overlap there.  None if there is no such column, or no row enters late.
    """
    times = fit.data.times
    if times is None or times.start is None:
        return None
    response = set(fit.design.response.columns)
    for name in data.columns:
        if isinstance(name, str) and name not in response and _go_on(data[name], fit, times):
            return name
    return None


def _go_on(column: pd.Series, fit: AnyFit, times: SurvivalTimes) -> bool:
    try:
        codes = pd.factorize(column[fit.data.complete])[0].astype(np.int64)
    except TypeError:  # values that are no labels
        return False
    first = slice(FIRST_ROWS)
    if _adjoining(codes[first], times.keeping(np.arange(len(times))[first])) is None:
        return False
    found = _adjoining(codes, times)
    return found is not None and found[0] >= max(FEWEST, SHARE * found[1])


def _adjoining(codes: NDArray[np.int64], times: SurvivalTimes) -> tuple[int, int] | None:
    """Return of how many pairs of successive rows of one code (n,) the second begins at once.

    And how many pairs there are.  None if rows of one code overlap.  A code of -1 is none.
    """
    assert times.start is not None
    order = np.lexsort((times.start, codes))
    order = order[codes[order] >= 0]
    code, start, stop = codes[order], times.start[order], times.time[order]
    pair = code[1:] == code[:-1]
    begins, ended = start[1:][pair], stop[:-1][pair]
    if (begins < ended).any():
        return None
    return int(np.sum(begins == ended)), len(begins)
