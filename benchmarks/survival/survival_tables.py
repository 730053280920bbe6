"""Tables of times to events, made of installed packages; and their random partitions.

    python -m benchmarks.survival.survival_tables FOLDER

writes a csv for each table: of packages of R (``survival_tables.R``), and of scikit-survival,
lifelines and SurvSet.  What needs a package that is not installed is left out.  None of the tables
is part of this repository.

A table is read so: predictors of which more than a fifth is missing are left out, then rows with
empty cells, and rows whose time is not above 0.  Numeric predictors are renamed x1, x2, …, factors
f1, f2, …: some packages do not allow all characters in names.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd

__all__ = ["SurvivalTable", "partitions_of", "read_survival_table", "survival_table_names"]

EXPORT = Path(__file__).with_name("survival_tables.R")
MOST_MISSING = 0.2
SKSURV = {"actg320": "aids", "breast_cancer": "breast_cancer", "whas500": "whas500"}
# of SurvSet: columns that tell the end, are predictions by others, or dates
SURVSET = {
    "framingham": ("Framingham", ["fac_month"]),
    "grace": ("grace", []),
    "leukemia": ("LeukSurv", ["fac_district"]),
    "nki70": ("nki70", []),
    "ovarian": ("dataOvarian1", []),
    "prostate": ("prostate", ["num_sdate"]),
    "support": ("support2", ["fac_sfdm2", "num_surv2m", "num_surv6m"]),
    "uis": ("uis", []),
}


@dataclass(frozen=True)
class SurvivalTable:
    """A name, and complete rows: ``time``, ``event`` (0 or 1), x1 …, f1 …; factors are text."""

    name: str
    data: pd.DataFrame


def survival_table_names(folder: Path) -> list[str]:
    """Return the names of the tables in the folder, small ones first."""
    files = sorted(folder.glob("*.csv"), key=lambda path: (path.stat().st_size, path.stem))
    return [path.stem for path in files]


def read_survival_table(folder: Path, name: str) -> SurvivalTable:
    """Read the complete rows of a table."""
    data = pd.read_csv(folder / f"{name}.csv")
    data = data.loc[:, data.isna().mean() <= MOST_MISSING].dropna()
    data = data[data["time"] > 0].reset_index(drop=True)
    told = [column for column in data.columns[2:] if data[column].nunique() > 1]
    numeric = [column for column in told if pd.api.types.is_numeric_dtype(data[column])]
    text = [column for column in told if column not in numeric]
    names = {column: f"x{j}" for j, column in enumerate(numeric, 1)}
    names |= {column: f"f{j}" for j, column in enumerate(text, 1)}
    data = data[["time", "event", *names]].rename(columns=names)
    data = data.astype(dict.fromkeys(["time", *(names[column] for column in numeric)], float))
    return SurvivalTable(name, data.astype({names[column]: str for column in text}))


def partitions_of(
    table: SurvivalTable, number: int, seed: int
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Split two thirds for training from the others, `number` times, stratified by event.

    The splits depend on the table's name and on `seed` alone.
    """
    rng = np.random.default_rng([seed, crc32(table.name.encode())])
    event = table.data["event"].to_numpy()
    for _ in range(number):
        train = np.zeros(len(event), bool)
        for kind in (0, 1):
            rows = rng.permutation(np.flatnonzero(event == kind))
            train[rows[: 2 * len(rows) // 3]] = True
        yield table.data[train], table.data[~train]


def make_tables(folder: Path) -> None:
    """Write the csv of every table whose package is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.which("Rscript") is None:
        print("tables of R left out: R is not installed", file=sys.stderr)
    else:
        subprocess.run(["Rscript", EXPORT, folder], check=True)
    for source in (_of_sksurv, _of_lifelines, _of_survset):
        try:
            for name, data in source():
                data.to_csv(folder / f"{name}.csv", index=False)
        except ImportError as error:
            print(f"{source.__name__[4:]} left out: {error}", file=sys.stderr)


def _of_sksurv() -> Iterator[tuple[str, pd.DataFrame]]:
    datasets = import_module("sksurv.datasets")
    for name, source in SKSURV.items():
        X, y = getattr(datasets, f"load_{source}")()
        event, time = y.dtype.names
        yield name, _table(y[time], y[event], X)


def _of_lifelines() -> Iterator[tuple[str, pd.DataFrame]]:
    data = import_module("lifelines.datasets").load_rossi()
    yield "rossi", _table(data["week"], data["arrest"], data.drop(columns=["week", "arrest"]))


def _of_survset() -> Iterator[tuple[str, pd.DataFrame]]:
    loader = import_module("SurvSet.data").SurvLoader()
    for name, (source, left_out) in SURVSET.items():
        data = loader.load_dataset(ds_name=source)["df"]
        X = data.drop(columns=["pid", "event", "time", *left_out])
        yield name, _table(data["time"], data["event"], X)


def _table(time: pd.Series, event: pd.Series, X: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose factors are text that cannot be taken for numbers."""
    X = X.reset_index(drop=True).copy()
    for column in X.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes]]:
        X[column] = X[column].map(lambda level: f"l{level}", na_action="ignore").astype(object)
    response = {"time": np.asarray(time, float), "event": np.asarray(event).astype(int)}
    return pd.concat([pd.DataFrame(response), X], axis=1)


if __name__ == "__main__":
    make_tables(Path(sys.argv[1]))
