"""The forest of today beside a method of `accuracy.csv`, on the same partitions.

    python -m benchmarks.accuracy.forest_beside stacks.csv accuracy.csv [--method rf]

The method is by default `odrf`, the forest of the version that `accuracy.csv` was made with.  The
report, in markdown, says for each task by how many per cent the losses of the forest are larger:
the geometric mean of ratios, as in ``ratios.py``.  Then come the tables on which one of both is
behind by more than five per cent, with the difference in standard errors of the mean over the
partitions.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.accuracy.anchored import FROM_STACKS, lines_of
from benchmarks.accuracy.stacks import FOREST, TASKS
from benchmarks.shared.markdown import table
from benchmarks.shared.ratios import error_of_excess, excess

__all__ = ["differences", "report"]

MARGIN = 5.0
OURS, THEIRS, DIFFERENCE, IN_ERRORS = "forest", "other", "difference, %", "in standard errors"
LOGS = "logarithm of the ratio"


def differences(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each table: task, partitions, both mean losses, and the differences."""
    found = []
    for task, measures in TASKS.items():
        measure, added = next(iter(measures.items()))
        columns = ["table", "partition", measure]
        both = (
            ours[columns].merge(theirs[columns], on=columns[:2], suffixes=(OURS, THEIRS)).dropna()
        )
        both["apart"] = both[measure + OURS] - both[measure + THEIRS]
        of_table = both.groupby("table")
        means = of_table[[measure + OURS, measure + THEIRS]].mean()
        means.columns = pd.Index([OURS, THEIRS])
        means.insert(0, "task", task)
        means.insert(1, "partitions", of_table.size())
        means[LOGS] = np.log((means[OURS] + added) / (means[THEIRS] + added))
        means[DIFFERENCE] = 100 * (means[OURS] / means[THEIRS] - 1)
        means[IN_ERRORS] = of_table["apart"].mean() / of_table["apart"].sem()
        found.append(means)
    return pd.concat(found)


def report(lines: pd.DataFrame, method: str) -> str:
    """Write means with standard errors by task, and the tables that differ most, as markdown."""
    of_task = lines.pivot(columns="task", values=LOGS)
    shown = pd.DataFrame(
        {
            "tables": of_task.count().astype(str),
            DIFFERENCE: excess(of_task).map("{:+.1f}".format),
            "standard error": error_of_excess(of_task).map("{:.1f}".format),
        }
    )
    far = lines[lines[DIFFERENCE].abs() > MARGIN].sort_values(DIFFERENCE, ascending=False)
    each = pd.DataFrame(
        {
            "partitions": far["partitions"].astype(str),
            OURS: far[OURS].map("{:.4g}".format),
            method: far[THEIRS].map("{:.4g}".format),
            **{name: far[name].map(_signed) for name in (DIFFERENCE, IN_ERRORS)},
        }
    )
    return f"{table(shown, 'task')}\n\n{table(each, 'table')}"


def _signed(number: float) -> str:
    return f"{number:+.1f}" if np.isfinite(number) else "–"


def main() -> int:
    """Print the report."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("ours", type=Path, help="csv of stacks.py")
    asked.add_argument("theirs", type=Path, help="csv of accuracy.py")
    asked.add_argument("--method", default=FROM_STACKS[FOREST], help="which of its methods")
    options = asked.parse_args()
    ours, theirs = lines_of(options.ours, "Z"), lines_of(options.theirs, "Z")
    forest = ours[ours["method"] == FROM_STACKS[FOREST]]
    other = theirs[theirs["method"] == options.method]
    print(report(differences(forest, other), options.method))
    return 0


if __name__ == "__main__":
    sys.exit(main())
