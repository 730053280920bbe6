"""The forest of today beside that of `accuracy.csv`, which an earlier version grew.

    python benchmarks/earlier_forest.py stacks.csv accuracy.csv

Both have the same partitions.  The report, in markdown, has the mean difference of the logarithms
of the losses, in per cent, for each task, and the tables on which one of them is behind by more
than five per cent.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from anchored import FROM_STACKS, lines_of
from markdown import table
from stacks import FOREST, TASKS

__all__ = ["differences", "report"]

MARGIN = 5.0
NOW, THEN = "now", "then"


def differences(now: pd.DataFrame, then: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each table: task, partitions, both mean losses, and the difference in %."""
    found = []
    for task, measures in TASKS.items():
        measure, added = next(iter(measures.items()))
        columns = ["table", "partition", measure]
        both = now[columns].merge(then[columns], on=columns[:2], suffixes=(NOW, THEN)).dropna()
        means = both.groupby("table")[[measure + NOW, measure + THEN]].mean()
        means.columns = pd.Index([NOW, THEN])
        means.insert(0, "task", task)
        means.insert(1, "partitions", both.groupby("table").size())
        means["difference, %"] = 100 * np.log((means[NOW] + added) / (means[THEN] + added))
        found.append(means)
    return pd.concat(found)


def report(lines: pd.DataFrame) -> str:
    """Write means with standard errors by task, and the tables that differ most, as markdown."""
    column = "difference, %"
    of_task = lines.groupby("task")[column].agg(["mean", "sem", "size"])
    shown = pd.DataFrame(
        {
            "tables": of_task["size"].astype(str),
            "difference, %": of_task["mean"].map("{:+.1f}".format),
            "standard error": of_task["sem"].map("{:.1f}".format),
        }
    )
    far = lines[lines[column].abs() > MARGIN].sort_values(column, ascending=False)
    each = pd.DataFrame(
        {
            "partitions": far["partitions"].astype(str),
            NOW: far[NOW].map("{:.4g}".format),
            THEN: far[THEN].map("{:.4g}".format),
            column: far[column].map("{:+.1f}".format),
        }
    )
    return f"{table(shown, 'task')}\n\n{table(each, 'table')}"


def main() -> int:
    """Print the report."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("now", type=Path, help="csv of stacks.py")
    asked.add_argument("then", type=Path, help="csv of accuracy.py")
    options = asked.parse_args()
    ours = FROM_STACKS[FOREST]
    now, then = lines_of(options.now, "Z"), lines_of(options.then, "Z")
    print(report(differences(now[now["method"] == ours], then[then["method"] == ours])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
