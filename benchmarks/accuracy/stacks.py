"""What the models of `odrf.auto` and their weighted mean lose on open tables, and their time.

    python -m benchmarks.accuracy.stacks --out stacks.csv [--data DIR] [--tables a,b] [--repeats 1]
                                         [--trees 500]
    python -m benchmarks.accuracy.stacks --report stacks.csv [--partition 1]

The models are fitted on the training rows of a partition (``protocol.py``, Z) and evaluated on its
test rows, each alone and all together; for classes also the forest with calibrated probabilities.
The seconds are those of the forest, and of the whole stack.  The report compares losses with those
of the forest, for the tables in odd and in even places of the index: what one half suggests, the
other can confirm.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

import pandas as pd
from numpy.typing import NDArray

import odrf
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.on_tables import in_odd_places, partition_of, tables_parser, tasks_on
from benchmarks.shared.protocol import Partition
from benchmarks.shared.ratios import beside_default
from benchmarks.shared.runs import go_on, run_or_report
from odrf.fits.stack.smoothers import KernelSmoother
from odrf.fits.stack.weights import put_together
from odrf.statistics.calibration import METHODS

TASKS = {
    "regression": {"rpe": 0.005},
    "classification": {"error_percent": 0.5, "log_loss": 0.01, "brier": 0.005},
}
"""The measures of each task, and what is added to both losses of a ratio (``ratios.py``)."""
MEASURED = [*(name for measured in TASKS.values() for name in measured), "auc"]
FOREST, TOGETHER = "forest", "together"


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, partition and model, continuing the csv."""

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        task, rows = partition_of(options, name, number)
        for model, predicted, seconds in predictions(task, rows, options, number):
            scores = measures(task, predicted, rows.train["y"], rows.test["y"])
            yield model, seconds, *(scores.get(measure) for measure in MEASURED)

    columns = ["table", "place", "partition", "model", "seconds", *MEASURED]
    return go_on(options.out, columns, tasks_on(options), lines)


def predictions(
    task: str, rows: Partition, options: argparse.Namespace, number: int
) -> Iterator[tuple[str, NDArray, float | None]]:
    """Yield the name, the predictions of the test rows and the seconds of each model."""
    kind: Any = "response" if task == "regression" else "prob"
    call = "y ~ .", rows.train
    how = {"kind": task, "n_trees": options.trees, "seed": options.seed + number, "n_jobs": 1}
    begin = time.perf_counter()
    forest = odrf.odrf(*call, blend=True, **how)
    yield FOREST, forest.predict(rows.test, kind).to_numpy(), time.perf_counter() - begin
    begin = time.perf_counter()
    stack = odrf.auto(*call, **how)
    yield TOGETHER, stack.predict(rows.test, kind).to_numpy(), time.perf_counter() - begin
    X = stack.design.matrix(rows.test)[0]
    for part in stack.fit.parts[1:]:
        predicted = (
            part.fit.values(X).squeeze()
            if isinstance(part.fit, KernelSmoother)
            else stack.part(part.name).predict(rows.test, kind).to_numpy()
        )
        if part.base is not None:
            predicted = predicted + part.base.values(X)
        if task == "classification":  # scores as the stack takes them
            predicted = put_together([predicted], [1.0], 1.0)
        yield part.name, predicted, None
    if task == "classification":
        for method in METHODS:
            calibrated = forest.calibrate(method)
            yield f"{FOREST}, {method}", calibrated.predict(rows.test, kind).to_numpy(), None


def report(lines: pd.DataFrame) -> str:
    """Compare the models with the forest, in per cent of each loss and in time, as markdown."""
    parts = []
    for task, measured in TASKS.items():
        for measure, small in measured.items():
            known = lines[lines[measure].notna()]
            if known.empty:
                continue
            means = known.pivot_table(index=["place", "table"], columns="model", values=measure)
            figures = beside_default(means, FOREST, small, in_odd_places(means))
            title = f"{task}, {measure}, {len(means)} tables:"
            parts.append(f"{title}\n\n{markdown_table(figures, 'model')}")
    seconds = lines.pivot_table(index=["table", "partition"], columns="model", values="seconds")
    ratio = seconds[TOGETHER] / seconds[FOREST]
    parts.append(
        f"Time of the stack, divided by that of the forest: median {ratio.median():.1f}, "
        f"from {ratio.min():.1f} to {ratio.max():.1f}; of all tables together "
        f"{seconds[TOGETHER].sum() / seconds[FOREST].sum():.1f}."
    )
    return "\n\n".join(parts)


def main() -> int:
    """Fit the models, or report an existing csv."""
    asked = tables_parser(__doc__ or "", "stacks.csv", repeats=1, trees=500)
    asked.add_argument("--partition", type=int, help="the only one that a report is about")
    options = asked.parse_args()

    def report_asked(lines: pd.DataFrame) -> str:
        only = options.partition
        return report(lines if only is None else lines[lines["partition"] == only])

    return run_or_report(options, run, report_asked, options.data)


if __name__ == "__main__":
    sys.exit(main())
