"""Predictions for populations whose class shares differ from those of the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_amount, checked_whole, is_number
from odrf.design import Response
from odrf.design.columns import listed
from odrf.errors import InputError, nearest, warn_user
from odrf.fits.fit import AnyFit
from odrf.statistics.calibration import estimated_priors, shifted

__all__ = ["PRIOR_PREDICTIONS", "checked_priors", "priors_of_rows", "require_priors", "with_priors"]

PRIOR_PREDICTIONS = ("response", "class", "prob", "cumulative")
# The sum of the shares may differ from 1 by this much.
ROUNDING = 1e-6


def checked_priors(priors: Any, response: Response, type: str) -> NDArray[np.float64] | None:
    """Return the class shares (K,) in `priors`; None for None.

    Raises
    ------
    InputError
        If the response has no classes, if the prediction `type` does not depend on probabilities,
        or if `priors` are not one positive number for each class, or do not add up to 1.
    """
    if priors is None:
        return None
    require_priors(response, "priors=")
    if type not in PRIOR_PREDICTIONS:
        raise InputError(
            f"priors= is for predictions of classes and probabilities, and type={type!r} is "
            'neither: leave priors= out, or use type="prob"'
        )
    mapping = priors.to_dict() if isinstance(priors, pd.Series) else priors
    if not isinstance(mapping, Mapping):
        raise InputError(
            f"priors={priors!r}: use a mapping of every class to its share, or the result of "
            "estimate_priors()"
        )
    return _shares(mapping, response)


def _shares(priors: Mapping[Any, Any], response: Response) -> NDArray[np.float64]:
    labels = [] if response.classes is None else response.classes.tolist()
    for label in priors:
        if label not in labels:
            raise InputError(
                f"priors names {label!r}, which is not a class of {response.name!r}; the classes "
                f"are {listed(labels, 10)}{nearest(label, labels)}"
            )
    absent = [label for label in labels if label not in priors]
    if absent:
        raise InputError(f"priors lacks {listed(absent)}: give a share for every class")
    for label in labels:
        if not is_number(priors[label]) or not 0 < float(priors[label]) < np.inf:
            raise InputError(
                f"priors[{label!r}]={priors[label]!r}: use a positive number, for a class that is "
                "hardly there a small one, such as 1e-9"
            )
    shares = np.array([float(priors[label]) for label in labels])
    total = shares.sum()
    if abs(total - 1) > ROUNDING:
        raise InputError(f"priors add up to {total:g}, not to 1: divide each by {total:g}")
    return shares / total


def require_priors(response: Response, what: str) -> None:
    """Raise `InputError` if the response has no classes; the message says `what` needs them."""
    if response.classes is None:
        raise InputError(
            f"{what} needs classes, but {response.name!r} was fitted as a number: fit with "
            'kind="classification" if its values are classes'
        )


def with_priors(
    fit: AnyFit, value: NDArray[np.float64], priors: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the probabilities `value` (n, K), corrected to class shares `priors` unless None."""
    return value if priors is None else shifted(value, _training_priors(fit), priors)


def priors_of_rows(
    fit: AnyFit, shares: NDArray[np.float64], max_steps: Any, tolerance: Any
) -> pd.Series:
    """Estimate the class shares in the population of rows with probabilities `shares` (m, K).

    Raises
    ------
    InputError
        If there are no rows, or an option is out of range.
    """
    max_steps = checked_whole("max_steps", max_steps, 1)
    tolerance = checked_amount("tolerance", tolerance)
    if len(shares) == 0:
        raise InputError(
            "newdata has no complete rows: class shares are estimated from rows without missing "
            "predictors"
        )
    estimate = estimated_priors(shares, _training_priors(fit), max_steps, tolerance)
    if not estimate.settled:
        warn_user(
            f"the class shares still change by more than {tolerance:g} after {max_steps} steps: "
            "use a larger max_steps="
        )
    return pd.Series(estimate.priors, index=fit.design.response.classes, name="prior")


def _training_priors(fit: AnyFit) -> NDArray[np.float64]:
    """Return the class shares (K,) that the fit's probabilities are based on."""
    K = len(fit.design.response.classes)  # type: ignore[arg-type]
    if fit.votes:
        return np.full(K, 1.0 / K)  # votes of guided forests count all classes alike
    totals = np.bincount(fit.data.y.astype(np.int64), fit.data.weights, minlength=K)
    return totals / totals.sum()
