"""Seconds to fit survival models to ever more rows.

    python -m benchmarks.survival.survival_times --out survival_times.csv --python peers=INTERPRETER
    python -m benchmarks.survival.survival_times --report survival_times.csv

Rows are of ``simulate.proportional_hazards(p=20)``: 1,000, 10,000 and 100,000 of them, with the
times as drawn, nearly all of which differ, and with times cut into 100 intervals.  Systems are at
their defaults, on one thread, in the processes of ``survival.py``; all predict the same 1,000 rows
at 100 times.  The seconds are those of the processor, the median of ``--repeats`` fits.  A system
that takes more than ``--limit`` seconds is not tried on more rows.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.survival.survival import OF_R, grid_of, workers_of
from benchmarks.survival.survival_systems import LIBRARY_OF
from benchmarks.survival.survival_workers import SurvivalWorker
from odrf import simulate

SIZES = (1000, 10_000, 100_000)
KINDS = ("all differ", "100 intervals")
INTERVALS = 100
TEST_ROWS = 1000
COLUMNS = ["times", "n", "system", "status", "fit_s", "predict_s", "version"]
BY_DEFAULT = ["odrf", "ranger", "sksurv_rsf", "sksurv_et", "cox", "xgb_cox"]


def main() -> int:
    """Run what the csv lacks, or report."""
    options = _options()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    workers = workers_of(options.python, options.systems)
    lines = pd.read_csv(options.out).to_numpy().tolist() if options.out.exists() else []
    try:
        for kind in KINDS:
            for n in options.sizes:
                with TemporaryDirectory() as folder:
                    _write_rows(Path(folder), kind, n, options.seed)
                    for system in options.systems:
                        if [kind, n, system] in [line[:3] for line in lines]:
                            continue
                        slow = _slow(lines, kind, system)
                        found = slow or _timed(system, Path(folder), options, workers[system])
                        lines.append([kind, n, system, *found])
                        pd.DataFrame(lines, columns=COLUMNS).to_csv(options.out, index=False)
                        print(*lines[-1], sep="  ", flush=True)
    finally:
        for worker in set(workers.values()):
            worker.stop()
    return 0


def rows_of_times(kind: str, n: int, seed: int) -> pd.DataFrame:
    """Draw rows, as the workers read them."""
    data = simulate.proportional_hazards(p=20).sample(n, seed=seed)
    if kind == "100 intervals":
        width = data["time"].quantile(0.99) / INTERVALS
        data["time"] = np.minimum(np.ceil(data["time"] / width), INTERVALS) * width
    return data.astype({"event": int})


def report(lines: pd.DataFrame) -> str:
    """Return a table of seconds for each kind of times."""
    parts = []
    for kind, own in lines.groupby("times", sort=False):
        ended = own["status"] == "ok"
        text = own["fit_s"].map("{:.3g}".format).where(ended, own["status"])
        wide = own.assign(text=text).pivot(index="system", columns="n", values="text")
        wide = wide.fillna("–").rename(columns="{:,} rows".format)
        parts.append(f"## Seconds of a fit, times: {kind}\n\n{markdown_table(wide, 'system')}")
    return "\n\n".join(parts)


def _write_rows(folder: Path, kind: str, n: int, seed: int) -> None:
    train = rows_of_times(kind, n, seed)
    train.to_csv(folder / "train.csv", index=False)
    rows_of_times(kind, TEST_ROWS, seed + 1).to_csv(folder / "test.csv", index=False)
    np.savetxt(folder / "times.csv", grid_of(train))


def _timed(
    system: str, folder: Path, options: argparse.Namespace, worker: SurvivalWorker
) -> list[object]:
    """Return status, median seconds of training and prediction, and version."""
    answers = []
    for number in range(options.repeats):
        status, *found = worker.ask(system, folder, options.seed + number, options.limit)
        if status != "ok":
            return [status, "", "", found[0]]
        answers.append(found)
    fit_s, predict_s = np.median([[float(x) for x in found[:2]] for found in answers], axis=0)
    return ["ok", round(fit_s, 4), round(predict_s, 4), answers[0][2]]


def _slow(lines: list[list], kind: str, system: str) -> list[object]:
    late = [line for line in lines if line[0] == kind and line[2:4] == [system, "timed out"]]
    return ["timed out", "", "", "with fewer rows"] if late else []


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    known = [*LIBRARY_OF, *OF_R]
    add = parser.add_argument
    add("--out", type=Path, default=Path("survival_times.csv"), help="written, or continued")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--sizes", nargs="*", type=int, default=SIZES, help="numbers of training rows")
    add("--systems", nargs="*", default=BY_DEFAULT, choices=known, metavar="SYSTEM", help="names")
    add("--repeats", type=int, default=3, help="fits of each")
    add("--seed", type=int, default=0, help="of the rows and the systems")
    add("--limit", type=float, default=600.0, help="seconds that one fit may take")
    add("--python", action="append", default=[], metavar="NAME=INTERPRETER", help="as survival.py")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
