"""Losses beside those of another method, over several tables: geometric means of their ratios.

The losses of tables have different sizes, so what is averaged is the logarithm of the ratio of two
losses.  To both of them a small number is added first.  Without it a few tables with tiny losses
would decide the mean: 0.01 wrong labels in a hundred are ten times as many as 0.001.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["beside_default", "error_of_excess", "excess"]


def excess(logs: pd.DataFrame) -> pd.Series:
    """By how many per cent is the geometric mean of each column's ratios above 1?

    `logs` has the logarithms of the ratios, a row for each table.
    """
    return 100 * np.expm1(logs.mean())


def error_of_excess(logs: pd.DataFrame) -> pd.Series:
    """Return standard errors of `excess`: of the mean logarithm, times the geometric mean."""
    return 100 * np.exp(logs.mean()) * logs.sem()


def beside_default(
    means: pd.DataFrame, default: str, small: float, odd: NDArray[np.bool_]
) -> pd.DataFrame:
    """Return how much larger losses are than the default's, in per cent, a row for each column.

    `means` has a row for each table; `odd` says which tables are in odd places.  To both losses
    `small` is added before their ratio is taken.
    """
    logs = (means + small).div(means[default] + small, axis=0).apply(np.log)
    differs = means.sub(means[default], axis=0)
    figures = pd.DataFrame(
        {
            "odd tables": excess(logs[odd]),
            "even tables": excess(logs[~odd]),
            "all": excess(logs),
            "standard error": error_of_excess(logs),
        }
    ).map(lambda percent: "–" if np.isnan(percent) else f"{percent:+.1f}")
    figures["better, worse"] = [
        f"{(differs[name] < 0).sum()}, {(differs[name] > 0).sum()}" for name in differs
    ]
    return figures
