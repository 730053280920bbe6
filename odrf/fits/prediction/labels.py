"""From arrays of numbers and class codes to pandas; rows with missing values keep their place."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["class_labels", "spread_codes", "spread_numbers"]


def spread_numbers(values: NDArray[np.float64], complete: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return an array (n, …) with the rows of `values` (m, …) where `complete`, NaN elsewhere."""
    if complete.all():
        return values
    out = np.full((len(complete), *values.shape[1:]), np.nan)
    out[complete] = values
    return out


def spread_codes(codes: NDArray[np.int64], complete: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return an array (n, …) with the rows of `codes` (m, …) where `complete`, -1 elsewhere."""
    if complete.all():
        return codes
    out = np.full((len(complete), *codes.shape[1:]), -1)
    out[complete] = codes
    return out


def class_labels(
    codes: NDArray[np.int64], classes: pd.Index
) -> pd.api.extensions.ExtensionArray | NDArray:
    """Return the original label of each class code (n,); missing where the code is -1."""
    if (codes >= 0).all():
        return classes.take(codes).array
    labels = classes.array
    if isinstance(classes.dtype, np.dtype):
        # numbers and booleans have no missing value
        labels = classes.to_numpy(object)
    return pd.api.extensions.take(labels, codes, allow_fill=True)
