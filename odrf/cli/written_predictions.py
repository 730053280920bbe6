"""Predictions of a fit for the rows of a table, and where they are written."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from odrf.cli.messages import report
from odrf.cli.table_files import COMPRESSIONS
from odrf.cli.targets import write_target
from odrf.errors import InputError

__all__ = ["check_type", "predicted", "write_predictions"]

OF_CLASSES = ("class", "prob")


def predicted(
    fit: Any, new: pd.DataFrame, type: str | None, options: Mapping[str, Any], progress: bool
) -> pd.DataFrame:
    """Return the predictions, a row for each row of the table."""
    options = {**options, "progress": progress}
    if type is None and fit.kind == "classification":
        labels = pd.DataFrame({"prediction": fit.predict(new, type="class", **options)})
        return labels.join(fit.predict(new, type="prob", **options).add_prefix("prob_"))
    values = fit.predict(new, type=type or "response", **options)
    return values.to_frame("prediction") if isinstance(values, pd.Series) else values


def check_type(type: str | None, classes: Any) -> None:
    """Raise `InputError` if `type` is one of classes, and there are none."""
    if type in OF_CLASSES and classes is None:
        raise InputError(f"--type {type} needs classes, and the response is a number")


def write_predictions(predictions: pd.DataFrame, path: Path) -> None:
    """Write predictions as csv, each with the number of its row."""
    content = BytesIO()
    compression = COMPRESSIONS.get(path.suffix)
    predictions.to_csv(content, index_label="row", compression=compression)
    write_target(path, content.getvalue())
    report(f"wrote predictions of {len(predictions)} rows to {path}")
