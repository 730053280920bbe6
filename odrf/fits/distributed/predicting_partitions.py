"""Predictions of a data frame in partitions, each of which is predicted where it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from odrf.fits.fit import AnyFit
from odrf.fits.prediction.predicting import predict_rows, rows_of

__all__ = ["partitions_predicted"]


def partitions_predicted(fit: AnyFit, frame: Any, type: str, priors: Any) -> Any:
    """Return the predictions of a data frame of Dask, as a series or frame of Dask.

    They are computed when they are asked for.  The fit is sent to the workers once.

    Raises
    ------
    InputError
        The type is unknown or needs classes, the frame lacks a column, or the priors are invalid.
    """
    from dask.delayed import delayed  # noqa: PLC0415  # optional: there is no such frame without it

    # a worker has several threads, and each of them predicts a partition
    any_fit: Any = fit
    one_thread = replace(any_fit, control=replace(any_fit.control, n_jobs=1))
    predictor = _PartitionPredictor(one_thread, type, priors)
    nothing = pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in frame.dtypes.items()})
    meta = _predicted(nothing, predictor)
    used = frame[list(fit.design.schema.columns)]
    sent = delayed(predictor, traverse=False, pure=False)
    return used.map_partitions(_predicted, sent, meta=meta)


class _PartitionPredictor:
    """A fit and what it is to predict: Dask does not look for tasks in it."""

    def __init__(self, fit: AnyFit, type: str, priors: Any) -> None:
        self.fit, self.type, self.priors = fit, type, priors


def _predicted(frame: pd.DataFrame, predictor: _PartitionPredictor) -> pd.Series | pd.DataFrame:
    return predict_rows(rows_of(predictor.fit, frame), predictor.type, predictor.priors)
