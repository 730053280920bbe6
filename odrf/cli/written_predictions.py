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
from odrf.text.names import free_name

__all__ = ["OF_TIMES", "check_type", "predicted", "times_asked", "write_predictions"]

OF_CLASSES = ("class", "prob", "cumulative")
OF_TIMES = ("risk", "survival", "hazard", "incidence", "time", "rmst", "lost", "quantile", "link")
# Types of fits for times to an event that others have, too.
OF_OTHERS = ("quantile", "link")
WORDS = {"regression": "a number", "classification": "a class", "survival": "a time to an event"}
DEFAULTS = {"survival": "risk"}


def predicted(
    fit: Any, new: pd.DataFrame, type: str | None, options: Mapping[str, Any], progress: bool
) -> pd.DataFrame:
    """Return the predictions, a row for each row of the table.

    Its numbers are called ``row``, or ``row_`` if a column of predictions is called so.
    """
    values = _predicted(fit, new, type, {**options, "progress": progress})
    return values.rename_axis(free_name("row", [str(column) for column in values.columns]))


def _predicted(
    fit: Any, new: pd.DataFrame, type: str | None, options: Mapping[str, Any]
) -> pd.DataFrame:
    if type is None and fit.kind == "classification":
        labels = pd.DataFrame({"prediction": fit.predict(new, type="class", **options)})
        return labels.join(fit.predict(new, type="prob", **options).add_prefix("prob_"))
    type = type or DEFAULTS.get(fit.kind, "response")
    values = fit.predict(new, type=type, **options)
    if isinstance(values, pd.Series):
        return values.to_frame("prediction")
    if isinstance(values.columns, pd.MultiIndex):
        values.columns = pd.Index([f"{cause} {time}" for cause, time in values.columns])
    return values


def check_type(type: str | None, times: str | None, kind: str) -> None:
    """Raise `InputError` if `type` or `times` is not for a response of this kind."""
    if type in OF_CLASSES and kind != "classification":
        raise InputError(f"--type {type} needs classes, and the response is {WORDS[kind]}")
    of_times = {
        f"--type {type}": type in OF_TIMES and type not in OF_OTHERS,
        "--times": times is not None,
    }
    for words, given in of_times.items():
        if given and kind != "survival":
            raise InputError(
                f"{words} is for times to an event, and the response is {WORDS[kind]}: leave it out"
            )


def times_asked(text: str | None) -> dict[str, list[float]]:
    """Return the argument `times` of ``--times``, if it is given.

    Raises
    ------
    InputError
        It is no list of numbers.
    """
    if text is None:
        return {}
    try:
        return {"times": [float(part) for part in text.split(",")]}
    except ValueError:
        raise InputError(f"--times {text}: write numbers, as in --times 365,730") from None


def write_predictions(predictions: pd.DataFrame, path: Path) -> None:
    """Write predictions as csv, each with the number of its row."""
    content = BytesIO()
    compression = COMPRESSIONS.get(path.suffix.lower())
    predictions.to_csv(content, compression=compression)
    write_target(path, content.getvalue())
    report(f"wrote predictions of {len(predictions)} rows to {path}")
