"""Timing methods in turns, so that a busy machine slows all of them alike.

In one process every method is run once per repetition; each repetition starts with another method
and has another seed.  Before that each method fits and predicts a few rows, so that compiling and
loading on first use is not counted.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import nan
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods.methods import Setting
from benchmarks.speed.speed_methods import SPEED_METHODS, Predict, SpeedMethod, version
from benchmarks.speed.speed_problems import Problem

__all__ = ["Timing", "compare", "warm_up"]

WARM_UP_ROWS = 1000


@dataclass(frozen=True)
class Timing:
    """Time and error of one method in one repetition.

    Attributes
    ----------
    table, n, p, classes
        The problem: training rows, columns, classes (1 for a regression).
    trees, threads : int
    method, version : str
    repetition : int
    fit_s, fit_cpu_s : float
        Seconds of training: elapsed, and of all threads together (nan if R trains).
    predict_s : float
        Elapsed seconds of predicting all `test_rows` at once.
    row_us : float
        Microseconds of predicting one row, the median over rows: by the row predictor for this
        package, by the function for many rows for the others.
    error : float
        Misclassification rate on the test rows; for a regression the squared error relative to
        that of the training mean.
    """

    table: str
    n: int
    p: int
    classes: int
    test_rows: int
    trees: int
    threads: int
    method: str
    version: str
    repetition: int
    fit_s: float
    fit_cpu_s: float
    predict_s: float
    row_us: float
    error: float


def compare(
    problem: Problem, methods: list[str], setting: Setting, repetitions: int, single_rows: int
) -> Iterator[Timing]:
    """Time the methods in turns; `single_rows` of the test rows are also predicted one by one."""
    for name in methods:
        warm_up(problem, SPEED_METHODS[name], setting)
    inputs = {
        (arrange, arrange_row): (
            arrange(problem.X, problem.y),
            arrange(problem.X_test, None),
            [arrange_row(problem.X_test.iloc[[i]]) for i in range(single_rows)],
        )
        for arrange, arrange_row in {_formats(SPEED_METHODS[name]) for name in methods}
    }
    for repetition in range(repetitions):
        start = repetition % len(methods)
        turn = replace(setting, seed=setting.seed + repetition)
        for name in methods[start:] + methods[:start]:
            method = SPEED_METHODS[name]
            measured = _measure(problem, method, turn, *inputs[_formats(method)])
            yield Timing(
                table=problem.name,
                n=len(problem.y),
                p=problem.X.shape[1],
                classes=problem.classes,
                test_rows=len(problem.y_test),
                trees=setting.trees,
                threads=setting.threads,
                method=name,
                version=version(name),
                repetition=repetition,
                **measured,
            )


def warm_up(problem: Problem, method: SpeedMethod, setting: Setting) -> None:
    """Fit a few rows, with all classes, and predict one row and many."""
    rows = np.arange(min(WARM_UP_ROWS, len(problem.y)))
    if problem.task == "classification":
        rows = np.union1d(rows, np.unique(problem.y, return_index=True)[1])
    X = problem.X.iloc[rows]
    model = method.fit(method.arrange(X, problem.y[rows]), problem.task, setting)
    model.predict(method.arrange(X, None))
    model.predict_row(method.arrange_row(X.iloc[[0]]))


def _formats(method: SpeedMethod) -> tuple[Any, Any]:
    return method.arrange, method.arrange_row


def _measure(
    problem: Problem,
    method: SpeedMethod,
    setting: Setting,
    train: Any,
    test: Any,
    singles: list[Any],
) -> dict[str, float]:
    gc.collect()
    cpu, start = time.process_time(), time.perf_counter()
    model = method.fit(train, problem.task, setting)
    fit_s, fit_cpu_s = time.perf_counter() - start, time.process_time() - cpu
    start = time.perf_counter()
    prediction = model.predict(test)
    predict_s = time.perf_counter() - start
    model.predict_row(singles[0])  # what is made at the first call is not timed
    return {
        "fit_s": fit_s,
        "fit_cpu_s": fit_cpu_s if method.pid() == os.getpid() else nan,
        "predict_s": predict_s,
        "row_us": 1e6 * median(_seconds(model.predict_row, row) for row in singles),
        "error": _error(problem, np.asarray(prediction)),
    }


def _seconds(predict: Predict, rows: Any) -> float:
    start = time.perf_counter()
    predict(rows)
    return time.perf_counter() - start


def _error(problem: Problem, prediction: NDArray) -> float:
    if problem.task == "classification":
        return float(np.mean(prediction != problem.y_test))
    baseline = np.sum((problem.y_test - problem.y.mean()) ** 2)
    return float(np.sum((problem.y_test - prediction) ** 2) / baseline)
