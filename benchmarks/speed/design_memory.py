"""Peak memory and time of building the matrix of predictors from data frames of several kinds.

    python -m benchmarks.speed.design_memory [--rows 20000] [--columns 500]

Prints for each kind of data frame the largest number of bytes that `build_design` has at a time, as
Python's tracemalloc counts them, divided by those of the matrix in 32 bits, and the seconds of a
call without counting.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.design import build_design

__all__ = ["TABLES", "peak_share"]


def _one_array(values: NDArray[np.float64]) -> pd.DataFrame:
    data = pd.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])])
    return data.assign(y=np.arange(len(values)) % 7)


def _columns_apart(values: NDArray[np.float64]) -> pd.DataFrame:
    columns = {f"x{j}": column.copy() for j, column in enumerate(values.T)}
    return pd.DataFrame(columns, copy=False).assign(y=np.arange(len(values)) % 7)


def _single_precision(values: NDArray[np.float64]) -> pd.DataFrame:
    return _one_array(values).astype("float32")


def _with_holes(values: NDArray[np.float64]) -> pd.DataFrame:
    data = _one_array(values)
    data.iloc[::7, ::10] = np.nan
    return data.assign(y=np.arange(len(values)) % 7)


TABLES: dict[str, Callable[[NDArray[np.float64]], pd.DataFrame]] = {
    "one array": _one_array,
    "columns apart": _columns_apart,
    "single precision": _single_precision,
    "holes in every tenth column": _with_holes,
}


def peak_share(data: pd.DataFrame) -> tuple[float, float]:
    """Return peak memory divided by the size of the matrix, and seconds."""
    env = EvalEnvironment.capture()
    start = time.perf_counter()
    build_design("y ~ .", data, env=env, missing="split")
    seconds = time.perf_counter() - start
    tracemalloc.start()
    _, training = build_design("y ~ .", data, env=env, missing="split")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    p, n = training.X.shape
    return peak / (4 * p * n), seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=500)
    options = parser.parse_args()
    values = np.random.default_rng(0).normal(size=(options.rows, options.columns))
    print(f"{options.rows} rows, {options.columns} columns: peak / size in 32 bits, seconds")
    for name, table in TABLES.items():
        share, seconds = peak_share(table(values))
        print(f"{name:28} {share:5.2f} {seconds:7.3f}")


if __name__ == "__main__":
    main()
