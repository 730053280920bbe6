"""Exported trees and forests against `predict`, on every row of real tables.

    python -m benchmarks.reliability.exports --data DIR --out exports.csv [--tables a,b]
                                             [--trees 20] [--postgres SERVER]

For each table a tree as grown and a forest are fitted, all other options being the defaults, to
all rows.  The csv has one line for each fit and target: the number of rows, how many of them are
predicted otherwise than by `predict` — another class, or a number that differs in any bit — and
the seconds that the target took for all rows, with compilation.  SQL is for trees only, and Python,
which is slow, runs trees only.  PostgreSQL is asked if a server is named, as psql reads it, such as
"host=/tmp dbname=postgres".
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import odrf
from benchmarks.reliability.export_targets import (
    in_c,
    in_duckdb,
    in_onnx,
    in_postgres,
    in_python,
    in_sqlite,
    predicted,
)
from benchmarks.shared.tables import read_with_holes

__all__ = ["TABLES", "compared", "main"]

TABLES = ("abalone", "adult", "california_housing", "magic", "soybean")
COLUMNS = ("table", "fit", "target", "rows", "different", "seconds")


def targets(fit: Any, data: pd.DataFrame, server: str | None) -> dict[str, Callable[[], list[Any]]]:
    """Return by the name of a target what runs the fit there."""
    found: dict[str, Callable[[], list[Any]]] = {
        "C": lambda: in_c(fit, data),
        "ONNX": lambda: in_onnx(fit, data)[0],
    }
    if not hasattr(fit, "to_sql"):
        return found
    found["Python"] = lambda: in_python(fit.to_python(), data)
    found["DuckDB"] = lambda: in_duckdb(fit.to_sql("duckdb"), data)
    found["SQLite"] = lambda: in_sqlite(fit.to_sql("sqlite"), data)
    if server is not None:
        found["PostgreSQL"] = lambda: in_postgres(fit.to_sql("postgres"), data, server)
    return found


def compared(
    name: str, data: pd.DataFrame, n_trees: int, server: str | None
) -> Iterator[tuple[str, str, str, int, int, float]]:
    """Yield the lines of a table."""
    fits = {
        "odt": odrf.odt("y ~ .", data, alpha=None, seed=1),
        "odrf": odrf.odrf("y ~ .", data, n_trees=n_trees, seed=1),
    }
    for words, fit in fits.items():
        expected = predicted(fit, data)
        for target, run in targets(fit, data, server).items():
            begin = time.perf_counter()
            answers = run()
            seconds = time.perf_counter() - begin
            different = sum(a != b for a, b in zip(answers, expected, strict=True))
            yield name, words, target, len(data), different, round(seconds, 2)


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Compare as the command line asks; return the lines."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data", type=Path, required=True, help="folder of tables")
    reader.add_argument("--out", type=Path, default=Path("exports.csv"), help="csv to be written")
    reader.add_argument("--tables", default=",".join(TABLES), help="names of tables")
    reader.add_argument("--trees", type=int, default=20, help="trees of each forest")
    reader.add_argument("--postgres", help="server, as psql reads it")
    asked = reader.parse_args(arguments)
    lines: list[tuple[str, str, str, int, int, float]] = []
    for name in asked.tables.split(","):
        data = read_with_holes(asked.data, name).data
        for line in compared(name, data, asked.trees, asked.postgres):
            lines.append(line)
            print(*line, flush=True)
            pd.DataFrame(lines, columns=list(COLUMNS)).to_csv(asked.out, index=False)
    return pd.DataFrame(lines, columns=list(COLUMNS))


if __name__ == "__main__":
    main()
