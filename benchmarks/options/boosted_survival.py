"""Do boosted trees for times to an event gain from early stopping, and from how many runs?

    python -m benchmarks.options.boosted_survival --data DIR --out boosted_survival.csv
    python -m benchmarks.options.boosted_survival --report boosted_survival.csv

The folder has an ``index.csv`` with a column ``name``, and for each name a ``NAME.csv.gz`` with
``time``, ``status`` (1 for an event) and ``fold``.  At most `ROWS` rows of a table are drawn.  Fits
without a fold are evaluated on its rows, for the first folds, by the integrated Brier score and by
Harrell's C.  The score of the Kaplan-Meier curve of the validation rows is beside them.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.on_tables import ALL
from benchmarks.shared.runs import go_on, parser, run_or_report
from odrf import odbt

ROWS = 600
KAPLAN_MEIER = "Kaplan-Meier"
WAYS: dict[str, dict[str, Any]] = {
    "one run, all rounds": {"n_runs": 1, "validation": None},
    "one run, a fifth held out": {"n_runs": 1, "validation": 0.2},
    "5 runs, out of bag": {"n_runs": 5, "validation": "oob"},
    "10 runs, out of bag": {"n_runs": 10, "validation": "oob"},
    "5 runs, all rounds": {"n_runs": 5, "validation": None},
}
COLUMNS = ["table", "fold", "way", "brier", "harrell", "seconds"]


@lru_cache(maxsize=1)  # tasks come table by table
def rows_of(folder: Path, name: str) -> pd.DataFrame:
    """Return at most `ROWS` rows of a table, whose text is categorical."""
    data = pd.read_csv(folder / f"{name}.csv.gz")
    data = data[data["time"] > 0]
    draw = np.random.default_rng(crc32(name.encode())).permutation(len(data))[:ROWS]
    data = data.iloc[draw].reset_index(drop=True)
    text = data.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in data.dtypes]]
    return data.astype(dict.fromkeys(text, "category"))


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, fold and way, continuing the csv."""

    def lines(name: str, fold: int) -> Iterator[tuple]:
        data = rows_of(options.data, name)
        held = data["fold"] == fold
        train, test = (data[which].drop(columns="fold") for which in (~held, held))
        for way, how in WAYS.items():
            begin = time.process_time()
            fit: Any = odbt("Surv(time, status) ~ .", train, seed=options.seed, n_jobs=1, **how)
            seconds = time.process_time() - begin
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # rows that leave after the last training row
                scores = fit.score(test)["estimate"]
            yield way, scores["integrated_brier"], scores["harrell_c"], seconds
        yield KAPLAN_MEIER, scores["integrated_brier"] / (1 - scores["explained"]), 0.5, 0.0

    names = pd.read_csv(options.data / "index.csv")["name"].tolist()
    asked = names if options.tables == ALL else options.tables.split(",")
    tasks = [
        (name, fold)
        for name in asked
        for fold in sorted(rows_of(options.data, name)["fold"].unique())[: options.repeats]
    ]
    return go_on(options.out, COLUMNS, tasks, lines)


def report(lines: pd.DataFrame) -> str:
    """Show scores of tables, their means, and how many are worse than the Kaplan-Meier curve."""
    brier, harrell, seconds = (
        lines.pivot_table(index="table", columns="way", values=measure)[lines["way"].unique()]
        for measure in ("brier", "harrell", "seconds")
    )
    figures = pd.DataFrame(
        {
            "integrated Brier score": brier.mean().map("{:.4f}".format),
            "worse than Kaplan-Meier": brier.gt(brier[KAPLAN_MEIER], axis=0).sum().astype(str),
            "Harrell's C": harrell.mean().map("{:.4f}".format),
            "seconds": seconds.mean().map("{:.2f}".format),
        }
    )
    tables = markdown_table(brier.map("{:.4f}".format), "table")
    return f"Means of {len(brier)} tables:\n\n{markdown_table(figures, 'way')}\n\n{tables}"


def main() -> int:
    """Try the ways, or report an existing csv."""
    asked = parser(__doc__ or "", "boosted_survival.csv", repeats=3, trees=0)
    asked.add_argument("--data", type=Path, default=Path("tables"), help="folder of tables")
    asked.add_argument("--tables", default=ALL, help="names with commas between them")
    options = asked.parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
