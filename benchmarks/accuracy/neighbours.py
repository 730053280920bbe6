"""Figures of README.md's table: oblique forests beside the forest of this package.

    python -m benchmarks.accuracy.neighbours benchmarks/accuracy/results/accuracy.csv

Each line compares a method with ``odrf`` on the random partitions (``protocol.py``, Z) on which
both finished: the number of tables on which the mean error of ``odrf`` is smaller and larger, and
the geometric mean over the tables of the ratio of training times.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

__all__ = ["METHODS", "beside", "main"]

METHODS = ("treeple", "ydf_oblique")


def beside(results: pd.DataFrame, method: str) -> tuple[str, str]:
    """Return the errors and the training times of a method beside ``odrf``, as cells."""
    done = results[(results["status"] == "ok") & (results["protocol"] == "Z")]
    done = done.assign(error=done["rpe"].fillna(done["error_percent"]))
    keys = ["table", "partition"]
    fits = {name: done[done["method"] == name].set_index(keys) for name in ("odrf", method)}
    pairs = fits["odrf"].join(fits[method].add_suffix("_other"), how="inner")
    means = pairs.groupby("table")[["error", "error_other", "fit_s", "fit_s_other"]].mean()
    better = int((means["error"] < means["error_other"]).sum())
    worse = int((means["error"] > means["error_other"]).sum())
    ratio = float(np.exp(np.log(means["fit_s_other"] / means["fit_s"]).mean()))
    return f"odrf is better on {better} of {len(means)} tables, worse on {worse}", f"{ratio:.1f} ×"


def main() -> None:
    """Print the cells of the table."""
    results = pd.read_csv(sys.argv[1], low_memory=False)
    for method in METHODS:
        print(f"{method}: " + "; ".join(beside(results, method)))


if __name__ == "__main__":
    main()
