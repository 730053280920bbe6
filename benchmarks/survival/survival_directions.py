"""Directions of survival forests: Newton steps of Cox's partial likelihood beside least squares.

    python -m benchmarks.survival.survival_tables TABLES
    python -m benchmarks.survival.survival_directions --data TABLES --out survival_directions.csv
    python -m benchmarks.survival.survival_directions --report survival_directions.csv

Random partitions of each table, two thirds for training, the same for all.  Forests of 500 trees on
one thread: the default blend, and trees of one kind that try all thresholds (``blend=False``).
Their directions are those of ``projection=``: ``logistic``, the default, and ``least_squares`` are
fitted to the log-rank scores of a node; ``cox`` is one penalised Newton step of Cox's partial
likelihood from 0 (``cox_steps.py``).  Evaluated by Uno's C and the integrated Brier score on test
rows, with the censoring of the training rows, at 100 times between the 10 % and the 90 % quantile
of the times of training events.  Seconds are those of the processor.  A run with an existing csv
adds the missing lines.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, run_or_report
from benchmarks.survival.cox_steps import CoxStep
from benchmarks.survival.survival import grid_of
from benchmarks.survival.survival_tables import (
    SurvivalTable,
    partitions_of,
    read_survival_table,
    survival_table_names,
)
from odrf import odrf
from odrf.engine.survival.event_ranks import event_ranks
from odrf.statistics.survival.discrimination import unos_c
from odrf.statistics.survival.observation import censoring_curve
from odrf.statistics.survival.scores import brier_scores

FORESTS: dict[str, dict[str, Any]] = {"blend": {}, "one kind": {"blend": False}}
COX = "cox"
DIRECTIONS = ("logistic", "least_squares", COX)
BASE = "logistic"
COLUMNS = ["table", "partition", "forest", "directions", "uno", "brier", "fit_s"]
MEASURES = {"uno": "Uno's C", "brier": "integrated Brier score"}


def main() -> int:
    """Compare the directions, or report an existing csv."""
    return run_or_report(_options(), run, report)


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    names = options.tables or survival_table_names(options.data)
    tables = {name: read_survival_table(options.data, name) for name in names}
    tasks = [(name, number) for number in range(options.partitions) for name in names]

    def lines(name: str, number: int) -> list[list[Any]]:
        return compared(tables[name], number)

    return go_on(options.out, COLUMNS, tasks, lines, digits=None)


def compared(table: SurvivalTable, number: int, n_trees: int = 500) -> list[list[Any]]:
    """Return forest, directions, the measures and seconds of each forest on a partition."""
    *_, (train, test) = partitions_of(table, number + 1, 0)
    rows = pd.concat([train, test], ignore_index=True)
    factors = [name for name in rows.columns[2:] if name[0] == "f"]
    rows = rows.astype(dict.fromkeys(factors, "category"))
    train, test = rows[: len(train)], rows[len(train) :].reset_index(drop=True)
    lines = []
    for directions in DIRECTIONS:
        _fitted(train, 20, directions, 0, {"blend": True})  # compiles what the fits need
        for forest, options in FORESTS.items():
            began = time.process_time()
            fit = _fitted(train, n_trees, directions, number, options)
            seconds = time.process_time() - began
            lines.append([forest, directions, *evaluated(fit, train, test), round(seconds, 3)])
    return lines


def _fitted(
    train: pd.DataFrame, n_trees: int, directions: str, seed: int, options: dict[str, Any]
) -> Any:
    projection = CoxStep(event_codes(train)) if directions == COX else directions
    return odrf(
        "Surv(time, event) ~ .", train, n_trees=n_trees, projection=projection,
        seed=seed, n_jobs=1, **options,
    )  # fmt: skip


def event_codes(train: pd.DataFrame) -> NDArray[Any]:
    """Return exits and events of the rows (n,), as `EventRanks.code` holds them."""
    time, event = train["time"].to_numpy(np.float64), train["event"].to_numpy(np.int64)
    return event_ranks(time, event, None, np.unique(time[event > 0])).code


def evaluated(fit: Any, train: pd.DataFrame, test: pd.DataFrame) -> list[float]:
    """Return Uno's C and the integrated Brier score of the test rows."""
    times = grid_of(train)
    G = censoring_curve(train["time"].to_numpy(), train["event"].to_numpy())
    ended, event = test["time"].to_numpy(), test["event"].to_numpy()
    risk = np.asarray(fit.predict(test, type="risk"))
    dead = 1 - np.asarray(fit.predict(test, type="survival", times=times))
    C = unos_c(ended, event, risk, times[-1], observed=G).estimate
    brier = brier_scores(ended, event, dead, times, observed=G).integrated.estimate
    return [round(C, 6), round(brier, 6)]


def report(lines: pd.DataFrame) -> str:
    """Return a table of what directions exceed those of the default by."""
    return markdown_table(differences(lines).astype(str), "forest, directions")


def differences(lines: pd.DataFrame) -> pd.DataFrame:
    """Return mean differences to the default over tables, their standard errors, and seconds."""
    keys = ["forest", "table", "partition"]
    rows = {}
    for (forest, directions), own in lines.groupby(["forest", "directions"], sort=False):
        base = lines[(lines["forest"] == forest) & (lines["directions"] == BASE)].set_index(keys)
        more = own.set_index(keys)[[*MEASURES]].sub(base[[*MEASURES]]).groupby("table").mean()
        row = {"tables": len(more), "seconds": f"{own['fit_s'].mean():.2f}"}
        for measure, words in MEASURES.items():
            found = more[measure].to_numpy(float)
            mean, error = found.mean(), found.std(ddof=1) / np.sqrt(len(found))
            row[f"{words}, more than {BASE}"] = f"{mean:+.5f} ({error:.5f})"
            row[f"{words}, larger on"] = int((found > 0).sum())
        rows[", ".join([str(forest), str(directions)])] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--out", type=Path, default=Path("survival_directions.csv"), help="written, or continued")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--data", type=Path, default=Path("survival_tables"), help="folder with the tables")
    add("--tables", nargs="*", help="names; by default all in the folder")
    add("--partitions", type=int, default=10, help="random partitions of each table")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
