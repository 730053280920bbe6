"""Class weights: from the argument `class_weights` to one number per class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import is_number
from odrf.design.columns.listing import listed
from odrf.design.response import Response
from odrf.errors import InputError, nearest

__all__ = ["class_factors"]

BALANCED = "balanced"
# Limits of a factor, so that squares of weights stay in the range of floats.
SMALLEST, LARGEST = 1e-60, 1e60


def class_factors(
    class_weights: Any, response: Response, y: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return the factors (K,) by which the case weights of each class are multiplied, or None.

    Parameters
    ----------
    class_weights : None, "balanced" or mapping of class to number
        ``"balanced"`` gives all classes the same total weight and keeps the sum over all rows;
        classes with hardly any weight, less than 1e-60 of it, keep theirs.
        Classes that a mapping does not name have factor 1.
    response : Response
    y, weights : (n,) float64
        Class codes and case weights of the training rows.

    Raises
    ------
    InputError
        `class_weights` is of another type or names an unknown class, a factor is not a positive
        number, or the response is numeric.
    """
    if class_weights is None:
        return None
    if response.causes:
        raise InputError(
            f"class_weights= needs classes, and {response.name!r} is a time to an event: leave it "
            "out, or weight single rows with weights="
        )
    if response.classes is None:
        raise InputError(
            f"class_weights= needs classes, but {response.name!r} is numeric: leave it out, use "
            'kind="classification", or weight single rows with weights='
        )
    if isinstance(class_weights, str) and class_weights == BALANCED:
        totals = np.bincount(y.astype(np.int64), weights, minlength=len(response.classes))
        present = totals > SMALLEST * totals.sum()
        share = totals.sum() / present.sum()
        return np.divide(share, totals, out=np.ones(len(totals)), where=present)
    if not isinstance(class_weights, Mapping):
        raise InputError(
            f"class_weights={class_weights!r}: use None, {BALANCED!r} or a mapping of classes to "
            "positive numbers"
        )
    return _from_mapping(class_weights, response.classes)


def _from_mapping(class_weights: Mapping[Any, Any], classes: pd.Index) -> NDArray[np.float64]:
    factors: NDArray[np.float64] = np.ones(len(classes))
    codes = {label: code for code, label in enumerate(classes.tolist())}
    for label, value in class_weights.items():
        if label not in codes:
            raise InputError(
                f"class_weights names {label!r}, which is not a class of the response; classes "
                f"are {listed(classes, 10)}{nearest(label, classes)}"
            )
        if not is_number(value) or not SMALLEST <= float(value) <= LARGEST:
            raise InputError(
                f"class_weights[{label!r}]={value!r}: use a positive number, from {SMALLEST:g} "
                f"to {LARGEST:g}"
            )
        factors[codes[label]] = float(value)
    return factors
