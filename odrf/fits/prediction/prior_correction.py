"""What a fit says where classes come in other shares than in training."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_amount, checked_whole, is_number
from odrf.design import Response
from odrf.design.columns.listing import listed
from odrf.errors import InputError, nearest
from odrf.fits.fit import AnyFit
from odrf.statistics.prior_estimation import estimated_priors, shifted

__all__ = ["PRIOR_PREDICTIONS", "checked_priors", "priors_of_rows", "require_priors", "with_priors"]

PRIOR_PREDICTIONS = ("response", "class", "prob", "cumulative")
# Shares that were rounded to a few digits add up to 1 but for so much.
ROUNDING = 1e-6


def checked_priors(priors: Any, response: Response, type: str) -> NDArray[np.float64] | None:
    """Return the shares of the classes (K,) that `priors` gives; None for None.

    Raises
    ------
    InputError
        The response has no classes, the prediction `type` no probabilities, or `priors` are not
        one positive number for each class that add up to 1.
    """
    if priors is None:
        return None
    require_priors(response, "priors=")
    if type not in PRIOR_PREDICTIONS:
        raise InputError(
            f"priors= goes with probabilities and classes, and type={type!r} is neither: leave it "
            'out, or use type="prob"'
        )
    given = priors.to_dict() if isinstance(priors, pd.Series) else priors
    if not isinstance(given, Mapping):
        raise InputError(
            f"priors={priors!r}: use a mapping of every class to its share, or what "
            "estimate_priors() returns"
        )
    return _shares(given, response)


def _shares(given: Mapping[Any, Any], response: Response) -> NDArray[np.float64]:
    labels = [] if response.classes is None else response.classes.tolist()
    for label in given:
        if label not in labels:
            raise InputError(
                f"priors names {label!r}, which is no class of {response.name!r}; classes are "
                f"{listed(labels, 10)}{nearest(label, labels)}"
            )
    absent = [label for label in labels if label not in given]
    if absent:
        raise InputError(f"priors lacks {listed(absent)}: give every class its share")
    for label in labels:
        if not is_number(given[label]) or not 0 < float(given[label]) < np.inf:
            raise InputError(f"priors[{label!r}]={given[label]!r}: use a positive number")
    found = np.array([float(given[label]) for label in labels])
    total = found.sum()
    if abs(total - 1) > ROUNDING:
        raise InputError(f"priors add up to {total:g}, not to 1: divide each by {total:g}")
    return found / total


def require_priors(response: Response, what: str) -> None:
    """Raise `InputError` where classes, and so shares of them, are needed and there are none."""
    if response.classes is None:
        raise InputError(
            f"{what} needs classes, but {response.name!r} was fitted as a number: leave it out, or "
            'fit with kind="classification"'
        )


def with_priors(
    fit: AnyFit, value: NDArray[np.float64], priors: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the probabilities `value` (n, K) for these shares of the classes; None for its own."""
    return value if priors is None else shifted(value, _trained(fit), priors)


def priors_of_rows(
    fit: AnyFit, shares: NDArray[np.float64], max_steps: Any, tolerance: Any
) -> pd.Series:
    """Estimate the shares of the classes among rows of probabilities `shares` (m, K).

    Raises
    ------
    InputError
        There are no rows, or an option is out of range.
    """
    most = checked_whole("max_steps", max_steps, 1)
    least = checked_amount("tolerance", tolerance)
    if len(shares) == 0:
        raise InputError("newdata has no complete rows to estimate shares of the classes from")
    found = estimated_priors(shares, _trained(fit), most, least)
    if not found.settled:
        warnings.warn(
            f"the shares still move by more than {least:g} after {most} steps: use more max_steps=",
            UserWarning,
            stacklevel=3,
        )
    return pd.Series(found.priors, index=fit.design.response.classes, name="prior")


def _trained(fit: AnyFit) -> NDArray[np.float64]:
    """Return the shares of the classes (K,) of which the probabilities speak."""
    K = len(fit.design.response.classes)  # type: ignore[arg-type]
    if fit.votes:
        return np.full(K, 1.0 / K)  # votes are of classes that all count alike
    totals = np.bincount(fit.data.y.astype(np.int64), fit.data.weights, minlength=K)
    return totals / totals.sum()
