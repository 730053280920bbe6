"""Observed against predicted classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.text.names import free_name

__all__ = ["counts_of_classes"]


def counts_of_classes(classes: pd.Index, counts: NDArray, whole: bool) -> pd.DataFrame:
    """Return counts (K, K) by observed and predicted class as a table, with error rates.

    Error rates are in the last column, ``error``, or ``error_`` if a class is called so; that of a
    class without rows is NaN.  `whole` says whether counts are whole numbers.
    """
    total = counts.sum(axis=1)
    right = np.divide(np.diag(counts), total, out=np.full(len(total), np.nan), where=total > 0)
    labels = list(classes)
    table = pd.DataFrame(
        counts.astype(np.int64) if whole else counts,
        index=pd.Index(labels, name="observed"),
        columns=pd.Index(labels, name="predicted", dtype=object),
    )
    table[free_name("error", [str(label) for label in labels])] = 1.0 - right
    return table
