"""Reading the open tables that the benchmarks run on.

A data folder holds ``index.csv`` (columns ``name`` and ``task``, one row per table) and, for each
table, ``<name>.csv.gz`` with the response in the last column, called ``y``, or, for images,
``<name>.npz`` with arrays ``x_train``, ``y_train``, ``x_test`` and ``y_test``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from odrf.options import words

__all__ = ["Table", "names_there", "read_table", "read_with_holes", "table_names"]


@dataclass(frozen=True)
class Table:
    """A table, its text columns as categories; the response has no missing values.

    Attributes
    ----------
    name : str
    task : {"regression", "classification"}
    data : DataFrame
        Predictors, then the response ``y`` (numbers, or class labels as text).
    """

    name: str
    task: words.Kind
    data: pd.DataFrame


def table_names(folder: Path) -> list[str]:
    """Names of the tables that the folder holds, in the order of the index."""
    return names_there(folder, pd.read_csv(folder / "index.csv")["name"])


def names_there(folder: Path, names: Iterable[str]) -> list[str]:
    """Those of the `names` of tables that the folder holds."""
    return [name for name in names if any(path.exists() for path in _paths(folder, name))]


def read_table(folder: Path, name: str) -> Table:
    """Read a table, leaving out missing values.

    First columns are dropped, those with the most missing values first, as many as leave the most
    values in complete rows; then the rows that still have missing values.
    """
    return _table(folder, name, _complete(_read(folder, name)))


def read_with_holes(folder: Path, name: str) -> Table:
    """Read a table with the missing values of its predictors."""
    return _table(folder, name, _read(folder, name).dropna(subset="y", ignore_index=True))


def _read(folder: Path, name: str) -> pd.DataFrame:
    text, images = _paths(folder, name)
    return pd.read_csv(text) if text.exists() else _pixels(images)


def _table(folder: Path, name: str, data: pd.DataFrame) -> Table:
    task = pd.read_csv(folder / "index.csv", index_col="name")["task"][name]
    if task == "classification":
        data["y"] = data["y"].astype(str)
    predictors = data.drop(columns="y")
    factors = predictors.select_dtypes(exclude="number").columns
    return Table(name, task, data.astype(dict.fromkeys(factors, "category")))


def _complete(data: pd.DataFrame) -> pd.DataFrame:
    missing = data.drop(columns="y").isna()
    worst = missing.sum().sort_values(ascending=False, kind="stable").index
    kept = [(~missing[worst[k:]].any(axis=1)).sum() * (len(worst) - k) for k in range(len(worst))]
    return data.drop(columns=worst[: int(np.argmax(kept))]).dropna(ignore_index=True)


def _pixels(path: Path) -> pd.DataFrame:
    with np.load(path) as arrays:
        X = np.concatenate([arrays["x_train"], arrays["x_test"]])
        y = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return pd.DataFrame(X.reshape(len(X), -1)).add_prefix("pixel").assign(y=y)


def _paths(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}.csv.gz", folder / f"{name}.npz"
