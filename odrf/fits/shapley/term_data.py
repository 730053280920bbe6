"""The values that formula terms have in rows, one column for each term."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import INDICATORS, Design
from odrf.fits.raw_rows import RawRows

__all__ = ["term_data"]


def term_data(design: Design, rows: RawRows) -> pd.DataFrame:
    """Return the value of each term (n, P) in the rows.

    A column of the data is as it is there.  Of a term like ``log(x)`` or ``a:b`` it is the number
    that the term is; of a term of several columns, the values of its variables, joined by a colon.
    """
    columns = {name: _values(design, rows, j) for j, name in enumerate(design.predictors)}
    return pd.DataFrame(columns, index=rows.frame.index)


def _values(design: Design, rows: RawRows, j: int) -> Any:
    recipe, name = design.recipe, design.predictors[j]
    if name in rows.frame.columns:
        return rows.frame[name]
    width = design.first[j + 1] - design.first[j] - int(recipe.holes[j])
    if width == 1 and design.types[j] != INDICATORS:
        return _number(design, rows, j)
    used = list(dict.fromkeys(c for v in recipe.terms[j] for c in recipe.variables[v].columns))
    if len(used) == 1:
        return rows.frame[used[0]]
    joined = rows.frame[used[0]].astype(str)
    for other in used[1:]:
        joined = joined + ":" + rows.frame[other].astype(str)
    return joined


def _number(design: Design, rows: RawRows, j: int) -> NDArray[np.float64]:
    """Return the number that a term of one column is; NaN where it is empty."""
    at = int(design.first[j])
    scaled = rows.X[at].astype(np.float64)
    if design.recipe.holes[j]:
        scaled[rows.X[at + 1] > 0] = np.nan
    return np.asarray(design.scaling.low[at] + design.scaling.range[at] * scaled)
