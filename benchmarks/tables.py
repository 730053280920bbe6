"""Reading the open tables that the benchmarks run on.

A data folder holds ``index.csv`` (columns ``name`` and ``task``, one row per table) and, for each
table, ``<name>.csv.gz`` with the response in the last column, called ``y``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

__all__ = ["Table", "read_table", "table_names"]


@dataclass(frozen=True)
class Table:
    """A table without missing values, its text columns as categories.

    Attributes
    ----------
    name : str
    task : {"regression", "classification"}
    data : DataFrame
        Predictors, then the response ``y`` (numbers, or class labels as text).
    """

    name: str
    task: str
    data: pd.DataFrame


def table_names(folder: Path) -> list[str]:
    """Names of the tables in csv format, in the order of the index."""
    names = pd.read_csv(folder / "index.csv")["name"]
    return [name for name in names if _path(folder, name).exists()]


def read_table(folder: Path, name: str) -> Table:
    """Read a table; leave out its rows with missing values."""
    tasks = pd.read_csv(folder / "index.csv", index_col="name")["task"]
    data = pd.read_csv(_path(folder, name)).dropna(ignore_index=True)
    if tasks[name] == "classification":
        data["y"] = data["y"].astype(str)
    predictors = data.drop(columns="y")
    factors = predictors.select_dtypes(exclude="number").columns
    return Table(name, tasks[name], data.astype(dict.fromkeys(factors, "category")))


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.csv.gz"
