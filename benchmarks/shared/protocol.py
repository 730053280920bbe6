"""The protocols of three papers: training rows, test rows and measures.

* Z: Zhan, Liu and Xia, Tables 1 and 2.  A partition takes n_train = min(⌊2N/3⌋, 2000) random rows
  for training and the others for testing.  Measures are the relative prediction error of a
  regression and the misclassification rate of a classification.
* A: the same with n_train = ⌊2N/3⌋, for what changes with many rows.
* T: Tomita et al. (2020), Table 1.  Stratified five-fold cross-validation, Cohen's κ;
  classification only.
* G: Gupta et al., Table D.1.  The same with four folds.

In all of them rows with missing values are left out (T imputes them) and numeric predictors are
scaled to [0, 1] on the training rows.  Every method gets the same partitions.  The predictors are
renamed x1 … xp, because some libraries do not allow all characters in names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from benchmarks.shared.tables import Table

__all__ = ["LARGEST_TRAINING_SET", "PROTOCOLS", "Partition", "Protocol", "partitions"]

LARGEST_TRAINING_SET = 2000


@dataclass(frozen=True)
class Protocol:
    """A protocol.

    Attributes
    ----------
    name : str
    folds : int, optional
        The number of folds; None for random partitions.
    tasks : tuple of str
        The tasks that it applies to.
    most : int, optional
        The most training rows of a random partition; None for no bound.
    """

    name: str
    folds: int | None
    tasks: tuple[str, ...]
    most: int | None = None


PROTOCOLS = {
    "Z": Protocol("Z", None, ("regression", "classification"), LARGEST_TRAINING_SET),
    "A": Protocol("A", None, ("regression", "classification")),
    "T": Protocol("T", 5, ("classification",)),
    "G": Protocol("G", 4, ("classification",)),
}


@dataclass(frozen=True)
class Partition:
    """Training and test rows: predictors x1 … xp, then the response ``y``."""

    train: pd.DataFrame
    test: pd.DataFrame


def partitions(table: Table, protocol: Protocol, number: int, seed: int) -> Iterator[Partition]:
    """Split a table `number` times; the splits depend on the table's name and on `seed` alone."""
    data = table.data.set_axis([*(f"x{j}" for j in range(1, table.data.shape[1])), "y"], axis=1)
    stream = [seed, crc32(table.name.encode())]
    if protocol.folds is None:
        rows = _random(len(data), protocol.most, stream)
    else:
        rows = _folds(data, protocol, stream)
    for (train, test), _ in zip(rows, range(number), strict=False):
        yield _scaled(data.iloc[train], data.iloc[test])


def _random(n: int, most: int | None, stream: list[int]) -> Iterator[tuple[NDArray, NDArray]]:
    n_train = 2 * n // 3 if most is None else min(2 * n // 3, most)
    rng = np.random.default_rng(stream)
    while True:
        order = rng.permutation(n)
        yield order[:n_train], order[n_train:]


def _folds(
    data: pd.DataFrame, protocol: Protocol, stream: list[int]
) -> Iterator[tuple[NDArray, NDArray]]:
    state = int(np.random.SeedSequence(stream).generate_state(1)[0])
    folds = StratifiedKFold(protocol.folds, shuffle=True, random_state=state)
    return folds.split(np.zeros(len(data)), data["y"])


def _scaled(train: pd.DataFrame, test: pd.DataFrame) -> Partition:
    numbers = train.drop(columns="y").select_dtypes("number").columns
    if numbers.empty:
        return Partition(train, test)
    scaler = MinMaxScaler().fit(train[numbers].to_numpy(float))
    return Partition(*(_with_numbers(rows, numbers, scaler) for rows in (train, test)))


def _with_numbers(rows: pd.DataFrame, numbers: pd.Index, scaler: MinMaxScaler) -> pd.DataFrame:
    values = scaler.transform(rows[numbers].to_numpy(float))
    scaled = pd.DataFrame(values, rows.index, numbers)
    return pd.concat([scaled, rows.drop(columns=numbers)], axis=1)[rows.columns]
