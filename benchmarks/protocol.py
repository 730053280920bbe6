"""The protocol of Zhan, Liu and Xia: Consistency of the oblique decision tree and its forest.

Rows with missing values are left out.  A partition takes n_train = min(floor(2 N / 3), 2000) random
rows for training and the others for testing; every method meets the same partitions.  The error of
a regression is the relative prediction error (RPE), sum (prediction - y)^2 / sum (training mean -
y)^2 over the test rows; that of a classification is the misclassification rate in per cent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import pandas as pd

from methods import METHODS, Setting
from tables import Table

__all__ = ["METRICS", "Outcome", "partitions", "run", "summarise"]

LARGEST_TRAINING_SET = 2000
METRICS = {"regression": "RPE", "classification": "error %"}


@dataclass(frozen=True)
class Outcome:
    """What one method did on one partition of one table."""

    table: str
    method: str
    metric: str
    partition: int
    error: float
    fit_s: float
    predict_s: float


def partitions(table: Table, number: int, seed: int) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Draw training and test rows, which depend on the table and on `seed` alone."""
    n = len(table.data)
    n_train = min(2 * n // 3, LARGEST_TRAINING_SET)
    rng = np.random.default_rng([seed, crc32(table.name.encode())])
    for _ in range(number):
        order = rng.permutation(n)
        yield table.data.iloc[order[:n_train]], table.data.iloc[order[n_train:]]


def run(table: Table, methods: list[str], number: int, setting: Setting) -> Iterator[Outcome]:
    """Fit and test every method on every partition."""
    for partition, (train, test) in enumerate(partitions(table, number, setting.seed)):
        for method in methods:
            start = time.perf_counter()
            predict = METHODS[method](train, table.task, setting)
            fitted = time.perf_counter()
            prediction = predict(test.drop(columns="y"))
            predicted = time.perf_counter()
            yield Outcome(
                table.name,
                method,
                METRICS[table.task],
                partition,
                _error(table.task, np.asarray(prediction), train["y"], test["y"]),
                fitted - start,
                predicted - fitted,
            )


def _error(task: str, prediction: np.ndarray, train: pd.Series, test: pd.Series) -> float:
    y = test.to_numpy()
    if task == "classification":
        return 100.0 * float(np.mean(prediction.astype(str) != y.astype(str)))
    return float(np.sum((prediction - y) ** 2) / np.sum((train.mean() - y) ** 2))


def summarise(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Mean error with its standard error, and median seconds, of each method on each table."""
    groups = outcomes.groupby(["table", "metric", "method"], sort=False)
    return groups.agg(
        mean=("error", "mean"),
        se=("error", "sem"),
        partitions=("error", "size"),
        fit_s=("fit_s", "median"),
        predict_s=("predict_s", "median"),
    )
