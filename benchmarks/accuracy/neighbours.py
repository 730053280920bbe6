"""Figures of README.md's table: other forests beside the forest of this package.

    python -m benchmarks.accuracy.neighbours benchmarks/accuracy/results/neighbours.csv

The first line has training times on the first partition of each table, summed over tables.  Each
other line compares a method with ``odrf`` on the random partitions (``protocol.py``, Z) on which
both finished: the number of tables on which the mean error of ``odrf`` is smaller and larger, the
geometric mean over the tables of the ratio of training times, and where ``odrf`` takes longest
beside the method.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

__all__ = ["METHODS", "PLAIN_FOREST", "beside", "longest_beside", "main", "seconds_in_all"]

METHODS = ("treeple", "ydf_oblique")
PLAIN_FOREST = "rf"
"""The random forest of scikit-learn, whose splits are not oblique."""


def beside(results: pd.DataFrame, method: str) -> tuple[str, str]:
    """Return the errors and the training times of a method beside ``odrf``, as cells."""
    means = _means_of_both(results, method)
    better = int((means["error"] < means["error_other"]).sum())
    worse = int((means["error"] > means["error_other"]).sum())
    ratio = float(np.exp(np.log(means["fit_s_other"] / means["fit_s"]).mean()))
    return f"odrf is better on {better} of {len(means)} tables, worse on {worse}", f"{ratio:.1f} ×"


def longest_beside(results: pd.DataFrame, method: str) -> str:
    """Return the table on which ``odrf`` takes longest beside a method, and the ratio of times."""
    means = _means_of_both(results, method)
    ratio = means["fit_s"] / means["fit_s_other"]
    return f"{ratio.idxmax()}, {ratio.max():.1f} ×"


def seconds_in_all(results: pd.DataFrame) -> pd.Series:
    """Return the training times of each method on the first partition of all its tables, in all."""
    first = results[(results["status"] == "ok") & (results["partition"] == 0)]
    in_all = first.groupby("method")["fit_s"].agg(["sum", "count"])
    return in_all["sum"].map("{:.2f} s".format) + in_all["count"].map(" on {} tables".format)


def _means_of_both(results: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return mean errors and seconds of ``odrf`` and of a method, for each table."""
    done = results[(results["status"] == "ok") & (results["protocol"] == "Z")]
    done = done.assign(error=done["rpe"].fillna(done["error_percent"]))
    keys = ["table", "partition"]
    fits = {name: done[done["method"] == name].set_index(keys) for name in ("odrf", method)}
    pairs = fits["odrf"].join(fits[method].add_suffix("_other"), how="inner")
    return pairs.groupby("table")[["error", "error_other", "fit_s", "fit_s_other"]].mean()


def main() -> None:
    """Print the figures."""
    results = pd.read_csv(sys.argv[1], low_memory=False)
    print(", ".join(f"{name}: {text}" for name, text in seconds_in_all(results).items()))
    for method in (*METHODS, PLAIN_FOREST):
        errors, times = beside(results, method)
        print(f"{method}: {errors}; {times}; longest: {longest_beside(results, method)}")


if __name__ == "__main__":
    main()
