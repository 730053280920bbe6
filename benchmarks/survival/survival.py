"""Survival models on real tables: concordance, integrated Brier score and seconds.

    python -m benchmarks.survival.survival_tables DATA
    python -m benchmarks.survival.survival --data DATA --out survival.csv --python peers=INTERPRETER
    python -m benchmarks.survival.survival --report survival.csv

20 random partitions of each table, two thirds for training, stratified by event, the same for all
systems; these are at their defaults, on one thread.  Systems of R need Rscript; those of
scikit-survival and XGBoost, and the measures, which are scikit-survival's, the interpreter of an
environment with ``scikit-survival xgboost``; those of odrf run in this one.  A fit that takes more
than ``--limit`` seconds is written down as such, and its system is not tried on other partitions
of the table.

Measures on test rows (``survival_worker.py``): Uno's C and Harrell's C (of risks), and the Brier
score of survival probabilities, integrated over 100 times between the 10 % and the 90 % quantile
of the times of training events.  Seconds are those of the processor, the limit is one of elapsed
time.  A run with an existing csv adds the missing lines.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from benchmarks.survival.survival_report import report
from benchmarks.survival.survival_systems import LIBRARY_OF
from benchmarks.survival.survival_tables import (
    SurvivalTable,
    partitions_of,
    read_survival_table,
    survival_table_names,
)
from benchmarks.survival.survival_workers import SurvivalWorker

COLUMNS = [
    "table", "partition", "system", "status", "message", "uno", "harrell", "brier",
    "fit_s", "predict_s", "n", "n_train", "p", "events", "version",
]  # fmt: skip
OF_R = ["cox", "cox_ridge", "rpart", "ranger", "cforest"]
SYSTEMS = [*LIBRARY_OF, *OF_R]
TIMES = 100
SCORE_LIMIT = 600.0
Done = dict[tuple[str, int, str], str]


def main() -> int:
    """Run, or report."""
    options = _options()
    if options.report is not None:
        print(report(pd.read_csv(options.report), options.base))
        return 0
    names = options.tables or survival_table_names(options.data)
    tables = [read_survival_table(options.data, name) for name in names]
    done = _opened(options.out, options.retry)
    workers = workers_of(options.python, options.systems)
    try:
        for number in range(options.partitions):
            for table in tables:
                _partition(table, number, options, workers, done)
    finally:
        for worker in set(workers.values()):
            worker.stop()
    return 0


def _partition(
    table: SurvivalTable,
    number: int,
    options: argparse.Namespace,
    workers: dict[str, SurvivalWorker],
    done: Done,
) -> None:
    """Run the systems that the csv lacks on one partition."""
    lacking = [name for name in options.systems if (table.name, number, name) not in done]
    if not lacking:
        return
    *_, (train, test) = partitions_of(table, number + 1, options.seed)
    about = [len(table.data), len(train), table.data.shape[1] - 2, int(table.data["event"].sum())]
    with TemporaryDirectory() as place:
        folder = Path(place)
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        np.savetxt(folder / "times.csv", grid_of(train))
        for system in lacking:
            if any(_too_slow(done, table.name, earlier, system) for earlier in range(number)):
                found = _without("timed out", "on an earlier partition")
            else:
                found = _measured(system, folder, options.seed + number, options.limit, workers)
            line = [table.name, number, system, *found[:-1], *about, found[-1]]
            _append(options.out, line)
            done[table.name, number, system] = found[0]
            print(*line[:10], sep="  ", flush=True)


def _measured(
    system: str, folder: Path, seed: int, limit: float, workers: dict[str, SurvivalWorker]
) -> list[str]:
    """Return status, message, the three measures, the seconds and the version."""
    status, *found = workers[system].ask(system, folder, seed, limit)
    if status != "ok":
        return _without(status, *found)
    fit_s, predict_s, version = found
    status, *found = workers["score"].ask("score", folder, seed, SCORE_LIMIT)
    if status != "ok":
        return _without(status, *found)
    measures = [f"{float(value):.6g}" for value in found]
    return ["ok", "", *measures, f"{float(fit_s):.4g}", f"{float(predict_s):.4g}", version]


def _without(status: str, message: str) -> list[str]:
    return [status, message, *[""] * 6]


def grid_of(train: pd.DataFrame) -> np.ndarray:
    """Return the times at which curves are evaluated."""
    events = train.loc[train["event"] == 1, "time"]
    first, last = np.quantile(events, [0.1, 0.9])
    return np.linspace(first, last, TIMES)


def workers_of(pythons: list[str], systems: list[str]) -> dict[str, SurvivalWorker]:
    """Return the process of each system and of the scores."""
    named = dict(text.split("=", 1) for text in pythons)
    of = {name: SurvivalWorker(path) for name, path in named.items()}
    own, r = of.get("odrf", SurvivalWorker(sys.executable)), SurvivalWorker("Rscript")
    peers = of.get("peers", own)
    workers = {name: r if name in OF_R else peers for name in systems}
    workers |= {name: own for name in systems if LIBRARY_OF.get(name) == "odrf"}
    return workers | {"score": peers}


def _too_slow(done: Done, table: str, number: int, system: str) -> bool:
    return done.get((table, number, system)) == "timed out"


def _opened(path: Path, retry: bool) -> Done:
    """Return what the csv has; it is begun if it is not there, and loses what is tried again."""
    if not path.exists():
        _append(path, COLUMNS)
    lines = pd.read_csv(path, dtype=str, keep_default_na=False)
    if retry:
        lines = lines[lines["status"] == "ok"]
        lines.to_csv(path, index=False)
    keys = zip(lines["table"], lines["partition"].astype(int), lines["system"], strict=True)
    return dict(zip(keys, lines["status"], strict=True))


def _append(path: Path, line: list) -> None:
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerow(line)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--out", type=Path, default=Path("survival.csv"), help="csv that is written, or continued")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--base", default="odrf", help="system that the report compares with all others")
    add("--data", type=Path, default=Path("survival_tables"), help="folder with the tables")
    add("--tables", nargs="*", help="names; by default all in the folder")
    add("--systems", nargs="*", default=SYSTEMS, choices=SYSTEMS, metavar="SYSTEM", help="names")
    add("--partitions", type=int, default=20, help="random partitions of each table")
    add("--seed", type=int, default=0, help="of the partitions and the systems")
    add(
        "--limit",
        type=float,
        default=120.0,
        help="elapsed seconds that a fit and its predictions may take",
    )
    add("--retry", action="store_true", help="run again what failed or timed out")
    add(
        "--python",
        action="append",
        default=[],
        metavar="NAME=INTERPRETER",
        help="interpreter of the peers or of odrf; by default this one",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
