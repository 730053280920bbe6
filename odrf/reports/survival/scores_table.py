"""The table of the scores of predicted survival."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.statistics.survival.pseudo_values import RowwiseEstimate

__all__ = ["estimates_table"]


def estimates_table(
    estimates: Mapping[str, RowwiseEstimate],
    level: float,
    groups: NDArray[np.int64] | None,
    source: str,
) -> pd.DataFrame:
    """Return estimates with their intervals, one row each.

    Errors of 0 are blank, with the intervals: no row has an influence, as with a single event,
    which does not make the estimate certain.

    Parameters
    ----------
    estimates : mapping of str to RowwiseEstimate
    level : float
        Nominal coverage of the intervals.
    groups : (n,) int64 or None
        Groups of rows that are independent; None: the rows are.
    source : str
        Which rows they are of: the name of the index.
    """
    lines = {
        name: (
            found.estimate,
            found.std_error if groups is None else found.std_error_of_groups(groups),
            *found.interval(level, groups),
        )
        for name, found in estimates.items()
    }
    columns = ["estimate", "std_error", "conf_low", "conf_high"]
    table = pd.DataFrame.from_dict(lines, orient="index", columns=columns)
    table.loc[~(table["std_error"] > 0), columns[1:]] = np.nan
    return table.rename_axis(index=source)
