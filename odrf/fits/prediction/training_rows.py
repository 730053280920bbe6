"""Training rows: predicted out of bag where the fit leaves rows out, else by all trees.

A tree that drew a row has seen its response.  So the mean over all trees is too close to the
responses of the training rows, and residuals from it are too small.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.design.encoding import unseen_levels_expected
from odrf.engine.resamples import BOOTSTRAP, n_drawn
from odrf.errors import InputError, warn_user
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.prediction.predicting import RowsToPredict
from odrf.fits.stacked.stacked_fit import StackedFit

__all__ = [
    "IN_BAG",
    "asked_out_of_bag",
    "leaves_rows_out",
    "predicting_rows_apart",
    "residuals",
    "residuals_of",
    "training_rows",
    "warn_of_rows_always_drawn",
    "with_rows_apart",
]

OUT_OF_BAG, IN_BAG = "out-of-bag", "in-bag"

Predict = TypeVar("Predict", bound=Callable[..., Any])
Rows = TypeVar("Rows", pd.Series, pd.DataFrame)


def leaves_rows_out(fit: AnyFit) -> bool:
    """Return whether the options of a forest, or of boosting, leave rows out of some bags."""
    if isinstance(fit, StackedFit):
        return True
    if isinstance(fit, BoostedFit):
        return fit.control.n_runs > 1
    if not isinstance(fit, Fit) or fit.control.resample == "none":
        return False
    n = int((fit.data.weights > 0).sum())
    return any(each.resample == BOOTSTRAP or n_drawn(each, n) < n for each in fit.samplings)


def asked_out_of_bag(training: Any, newdata: pd.DataFrame | None, leaves_out: bool) -> bool:
    """Return whether rows are to be predicted out of bag.

    Parameters
    ----------
    training : {"out-of-bag", "in-bag"}, optional
        The argument of `predict`.
    newdata : DataFrame, optional
        The argument of `predict`: None for training rows.
    leaves_out : bool
        Whether the fit leaves rows out of some bags.

    Raises
    ------
    InputError
        If `training` is unknown, is given with `newdata`, or asks for what the fit does not have.
    """
    if training is None:
        return leaves_out and newdata is None
    checked_choice("training", training, (OUT_OF_BAG, IN_BAG))
    if newdata is not None:
        raise InputError(
            f"training={training!r} says how training rows are predicted, and all trees predict "
            "newdata=: leave one of them out"
        )
    if training == OUT_OF_BAG and not leaves_out:
        raise InputError(
            'training="out-of-bag" is for forests of odrf() whose trees leave rows out, and for '
            'boosted trees of several runs; this fit is neither: use training="in-bag", or fit '
            'with resample="bootstrap", or n_runs=10 in odbt()'
        )
    return bool(training == OUT_OF_BAG)


def training_rows(fit: AnyFit, oob: NDArray[np.float64] | None) -> RowsToPredict:
    """Return the training rows, to be predicted by all trees or, with values `oob`, out of bag."""
    index = fit.data.index
    return RowsToPredict(fit, fit.data.X, np.ones(len(index), dtype=bool), index, oob)


def warn_of_rows_always_drawn(oob: NDArray[np.float64], drawn_by: str) -> None:
    """Warn if rows have no out-of-bag value in `oob` (n, K); `drawn_by` is "tree" or "run"."""
    always = int(np.isnan(oob[:, 0]).sum())
    if always:
        warn_user(
            f"every {drawn_by} drew {always} of {len(oob)} rows, whose out-of-bag predictions are "
            f'missing: fit more {drawn_by}s, or use predict(training="in-bag")'
        )


def residuals(fit: AnyFit, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the residuals (n,) of means or class probabilities `value` (n, K) of training rows.

    For a regression, response minus mean.  For classes, 1 minus the probability of the class
    observed.
    """
    return residuals_of(fit.data.y, value, fit.design.response.classes is not None)


def residuals_of(
    y: NDArray[np.float64], value: NDArray[np.float64], classes: bool
) -> NDArray[np.float64]:
    """Return the residuals (n,) of responses or codes of `classes` y (n,), NaN where y is."""
    if not classes:
        return y - value[:, 0]
    known = ~np.isnan(y)
    resid = np.full(len(y), np.nan)
    resid[known] = 1.0 - value[known, y[known].astype(np.int64)]
    return resid


def with_rows_apart(
    fit: AnyFit, own: Rows, predict: Callable[[pd.DataFrame], Rows], out_of_bag: bool
) -> Rows:
    """Return results of the training rows, `own`, with those of the rows of weight 0 among them.

    `predict` gives the results of new rows.  No tree has drawn rows of weight 0; but trees may have
    drawn others of their groups, or later ones, so that `out_of_bag` results are then missing.
    """
    apart, of_rows = fit.data.apart, fit.data.structure
    if apart is None:
        return own
    with unseen_levels_expected():
        others = predict(apart.frame)
    together = of_rows is not None and (of_rows.groups is not None or of_rows.order is not None)
    if out_of_bag and together:
        others = others.mask(np.ones(others.shape, dtype=bool))
    return apart.among(own, others)


def predicting_rows_apart(predict: Predict) -> Predict:
    """Let a method ``predict(newdata=None, …)`` predict rows of weight 0 with the training rows."""

    @wraps(predict)
    def predicted(self: Any, newdata: Any = None, *args: Any, **options: Any) -> Any:
        own = predict(self, newdata, *args, **options)
        if newdata is not None:
            return own
        as_new = {**options, "training": None}
        leaves = "leaf" in (options.get("type"), *args)
        judged = options.get("training") != IN_BAG and not leaves and leaves_rows_out(self.fit)
        return with_rows_apart(
            self.fit, own, lambda rows: predict(self, rows, *args, **as_new), judged
        )

    return predicted  # type: ignore[return-value]
