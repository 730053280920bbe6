"""The groups of rows that judge a fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.fits.fit import AnyFit

__all__ = ["groups_of_rows"]


def groups_of_rows(
    fit: AnyFit, newdata: pd.DataFrame | None, used: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    """Return codes of the groups of the `used` rows: training rows, or rows of `newdata`.

    None if the fit has no groups, or `newdata` lacks their column: then rows are independent.
    """
    structure = fit.data.structure if fit.data.has_rows else None
    if structure is None or structure.groups is None:
        return None
    if newdata is None:
        return structure.groups[used]
    column = structure.columns.get("groups")
    if column is None or column not in newdata.columns:
        return None
    return pd.factorize(newdata[column][used], use_na_sentinel=False)[0].astype(np.int64)
