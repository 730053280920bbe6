"""From arrays of numbers and class codes to pandas; rows with missing values keep their place."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Response

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


def class_labels(codes: NDArray[np.int64], response: Response) -> pd.Categorical:
    """Return the label of each class code (n,), missing where it is -1.

    They have the categories of the response, in its order, so that they can be compared with it.
    """
    return pd.Categorical.from_codes(response.places[codes], dtype=response.dtype)
