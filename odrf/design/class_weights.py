"""Class weights: from the argument to one number per class."""

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


def class_factors(
    class_weights: Any, response: Response, y: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return what the case weights of each class (K,) are multiplied by; None for nothing.

    Parameters
    ----------
    class_weights : None, "balanced" or mapping of class to number
        ``"balanced"`` gives every class the same share of the weight, whose sum stays.  Classes
        that a mapping does not name count 1.
    response : Response
    y, weights : (n,) float64
        Class codes and case weights of the training rows.

    Raises
    ------
    InputError
        It is nothing of that, or names no class of the response, or the response has no classes.
    """
    if class_weights is None:
        return None
    if response.classes is None:
        raise InputError(
            f"class_weights= needs classes, but {response.name!r} is a number: leave it out, or "
            'use kind="classification"; weights= weighs rows'
        )
    if isinstance(class_weights, str) and class_weights == BALANCED:
        totals = np.bincount(y.astype(np.int64), weights, minlength=len(response.classes))
        present = totals > 0
        share = totals.sum() / present.sum()
        return np.divide(share, totals, out=np.ones(len(totals)), where=present)
    if not isinstance(class_weights, Mapping):
        raise InputError(
            f"class_weights={class_weights!r}: use None, {BALANCED!r} or a mapping of classes to "
            "positive numbers"
        )
    return _given(class_weights, response.classes)


def _given(class_weights: Mapping[Any, Any], classes: pd.Index) -> NDArray[np.float64]:
    factors: NDArray[np.float64] = np.ones(len(classes))
    codes = {label: code for code, label in enumerate(classes.tolist())}
    for label, value in class_weights.items():
        if label not in codes:
            raise InputError(
                f"class_weights names {label!r}, which is no class of the response; classes are "
                f"{listed(classes, 10)}{nearest(label, classes)}"
            )
        if not is_number(value) or not 0 < float(value) < np.inf:
            raise InputError(f"class_weights[{label!r}]={value!r}: use a positive number")
        factors[codes[label]] = float(value)
    return factors
