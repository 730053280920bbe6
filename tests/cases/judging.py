"""Whether predictions, sizes and tables of a result are what they can be."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import odrf
from cases.attempts import Attempts
from cases.case import Case
from cases.judging_curves import judge_curves
from odrf.design import TrainingData

__all__ = ["judge_fit", "judge_summary"]

NO_NUMBER = re.compile(r"(?<![\w.='\"])(nan|NaN|None|(?<!= )-?inf|NaT|<NA>)(?![\w.'\"])")


def listed(data: TrainingData) -> pd.Index:
    """Return the labels of training rows as results list them: with those of weight 0."""
    if data.apart is None:
        return data.index
    labels = [pd.Series(0, index=index) for index in (data.index, data.apart.frame.index)]
    return data.apart.among(*labels).index


def judge_fit(case: Case, fit: Any, tried: Attempts) -> None:
    """Predict, look at the values, and compare with those of the fit saved and loaded."""
    rows = tried.answer("predict new", lambda: fit.predict(case.new))
    in_bag = tried.answer("predict", lambda: fit.predict(training="in-bag"))
    predicted = [("new", rows, case.new.index)]
    if fit.rows is not None:
        predicted.append(("training", in_bag, listed(fit.fit.data)))
    for words, values, index in predicted:
        if values is not None and not (len(values) == len(index) and (values.index == index).all()):
            tried.add(f"predictions of {words} rows: another index")
    if in_bag is not None and in_bag.isna().any():
        tried.add("predictions of training rows: some are missing")
    if fit.kind == "regression" and in_bag is not None and not np.isfinite(in_bag).all():
        tried.add("predictions of training rows: some are not finite")
    if fit.kind == "classification":
        prob = tried.answer("prob", lambda: fit.predict(type="prob", training="in-bag"))
        if prob is not None:
            _judge_probabilities(prob, tried)
    if fit.kind == "survival":
        judge_curves(fit, case.new, tried)
    limit = getattr(fit.control, "max_leaves", None)
    if limit is not None and np.max(fit.n_leaves) > limit:
        tried.add(f"{np.max(fit.n_leaves)} leaves, max_leaves={limit}")
    if rows is not None:
        _judge_repeated(case, fit, rows, tried)


def judge_summary(name: str, text: str, case: Case, tried: Attempts) -> None:
    """Look for what should be a number, or a reason why there is none."""
    odd = next((line for line in text.splitlines() if NO_NUMBER.search(line)), None)
    if odd is None or "inf where" in text:
        return
    texts = case.data.select_dtypes(exclude=["number", "datetime", "timedelta"]).stack().dropna()
    if not NO_NUMBER.search(" ".join(map(str, [case.formula, *case.data.columns, *texts]))):
        tried.add(f"{name}: no number in the summary: {odd.strip()[:150]}")


def _judge_probabilities(prob: pd.DataFrame, tried: Attempts) -> None:
    values = prob.to_numpy()
    if not ((values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-6)):
        tried.add("probabilities that are negative or do not add up to 1")


def _judge_repeated(case: Case, fit: Any, rows: pd.Series, tried: Attempts) -> None:
    """Compare with predictions of the fit saved and loaded, and of a row alone."""
    again = tried.answer("saved and loaded", lambda: _reloaded(fit).predict(case.new))
    if again is not None and not again.equals(rows):
        tried.add("saved and loaded: other predictions")
    alone = tried.answer("predict one", lambda: fit.predict(case.new[:1]))
    if alone is not None and not alone.astype(object).equals(rows[:1].astype(object)):
        tried.add(f"a row alone: {alone.iloc[0]!r}, among others: {rows.iloc[0]!r}")


def _reloaded(fit: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        fit.save(Path(folder) / "fit")
        return odrf.load(Path(folder) / "fit")
