"""Calibration of the class probabilities of honest and of plain forests.

    python -m benchmarks.options.honesty --out honesty.csv [--data DIR] [--repeats 20] [--trees 500]
    python -m benchmarks.options.honesty --report honesty.csv [--plot reliability.png]

Plain and honest forests, of one kind of trees and blended, and single trees are grown on the same
partitions of tables with two classes (``protocol.py``, Z, with fewer training rows).  They predict
the probability of the second class for each test row.  Measures are

* the misclassification rate, Brier's score (summed over both classes) and the log loss;
* the slope of a logistic regression of the class on the predicted log odds: 1 if the predictions
  are calibrated, above 1 if they are too moderate, below 1 if they are too extreme;
* the calibration error: the mean absolute difference of predicted probability and observed share
  of the class, in bins of width 0.1.  In bins of few rows it is large by chance, so the report
  pools all partitions.

The csv has one line for each table, partition and method; in its columns ``said_i`` and ``came_i``
are the sum of the predicted probabilities and the number of rows of the second class in bin i.  A
run with an existing csv adds the missing lines.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy.special import logit

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import PROTOCOLS, Partition, partitions
from benchmarks.shared.runs import go_on, plotting_parser, with_tables
from benchmarks.shared.tables import Table, read_table
from odrf import odrf, odt
from odrf.evaluation.metrics import METRICS
from odrf.plots.style import MUTED, plain

TABLES = (
    "insurance",
    "low_birth_weight",
    "adult",
    "german_credit",
    "heart_cleveland",
    "pbc",
    "magic",
    "qsar_biodegradation",
)
# Tables with a numeric response that also have a column with a class of it.
CLASS_OF = {"low_birth_weight": "LOW", "pbc": "D"}
METHODS: dict[str, dict[str, Any]] = {
    "plain": {"blend": False},
    "honest": {"blend": False, "honest": True},
    "plain, min_leaf=1": {"blend": False, "min_leaf": 1},
    "honest, 90 % drawn": {
        "blend": False,
        "honest": True,
        "resample": "subsample",
        "sample_fraction": 0.9,
    },
    "honest, s = n^0.7": {
        "blend": False,
        "honest": True,
        "resample": "subsample",
        "sample_fraction": lambda n: n**-0.3,
    },
    "plain blend": {"blend": True},
    "honest blend": {"blend": True, "honest": True},
}
TREES: dict[str, dict[str, Any]] = {
    "plain tree": {"alpha": None},
    "honest tree": {"alpha": None, "honest": True},
}
DRAWN = {
    "plain": ("#0072b2", "-"),
    "honest": ("#d55e00", "-"),
    "plain blend": ("#0072b2", "--"),
    "honest blend": ("#d55e00", "--"),
}
BINS = 10
# Probabilities are bounded by half a vote of one of 500 trees.
LEAST = 0.001
# Bins with fewer rows are not drawn.
FEWEST = 50
SCORES = {"error": "error, %", "brier": "Brier", "log_loss": "log loss", "slope": "slope"}
SUMS = [f"{name}_{i}" for name in ("rows", "said", "came") for i in range(BINS)]
COLUMNS = ["table", "partition", "n", "method", *SCORES, *SUMS, "fit_s"]


def class_table(folder: Path, name: str) -> Table:
    """Read a table; in two tables with a numeric response a column with a class replaces it."""
    table = read_table(folder, name)
    if name not in CLASS_OF:
        return table
    data = table.data.drop(columns="y").rename(columns={CLASS_OF[name]: "y"})
    data = data[[*data.columns.drop("y"), "y"]].assign(y="c" + data["y"].astype(str))
    return Table(name, "classification", data)


def fewer(rows: Partition, most: int) -> Partition:
    """Keep the first `most` training rows, which are in random order."""
    return Partition(rows.train.iloc[:most], rows.test)


def calibration(predicted: NDArray[np.float64], observed: NDArray[np.bool_]) -> dict[str, float]:
    """Return the slope and, by bin, rows, sum of predicted probabilities and rows of the class."""
    bounded = np.clip(predicted, LEAST, 1 - LEAST)
    design = sm.add_constant(logit(bounded))
    slope = sm.GLM(observed.astype(float), design, sm.families.Binomial()).fit().params[1]
    bin_of_row = np.minimum((predicted * BINS).astype(int), BINS - 1)
    line = {"slope": float(slope)}
    ones = np.ones(len(predicted))
    for name, values in (("rows", ones), ("said", predicted), ("came", observed)):
        sums = np.bincount(bin_of_row, values, BINS)
        line |= {f"{name}_{i}": float(total) for i, total in enumerate(sums)}
    return line


def evaluate(rows: Partition, trees: int, seed: int) -> Iterator[dict[str, Any]]:
    """Evaluate every method on a partition."""
    common: dict[str, Any] = {"kind": "classification", "seed": seed}
    methods: dict[str, Callable[..., Any]] = {
        name: partial(odrf, n_trees=trees, n_jobs=1, **common, **options)
        for name, options in METHODS.items()
    }
    methods |= {name: partial(odt, **common, **options) for name, options in TREES.items()}
    for method, grow in methods.items():
        began = time.perf_counter()
        fit = grow("y ~ .", rows.train)
        fit_s = time.perf_counter() - began
        shares = fit.predict(rows.test, type="prob")
        codes = shares.columns.get_indexer(rows.test["y"])
        predicted = shares.to_numpy()
        bounded = np.clip(predicted, LEAST, 1 - LEAST)
        yield {
            "method": method,
            "error": METRICS["error"].function(codes, predicted.argmax(axis=1)),
            "brier": METRICS["brier"].function(codes, predicted),
            "log_loss": METRICS["log_loss"].function(codes, bounded),
            **calibration(predicted[:, 1], codes == 1),
            "fit_s": round(fit_s, 2),
        }


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the lines of every partition, COLUMNS, continuing the csv."""
    names = [name for name in TABLES if (options.data / f"{name}.csv.gz").exists()]
    if not names:
        sys.exit(f"no tables: {options.data} holds none of {', '.join(TABLES)}")
    tasks = [(name, number) for name in names for number in range(options.repeats)]

    @lru_cache(maxsize=1)  # tasks come table by table
    def of_table(name: str) -> list[Partition]:
        table = class_table(options.data, name)
        return list(partitions(table, PROTOCOLS["Z"], options.repeats, options.seed))

    def lines(name: str, number: int) -> Iterator[tuple]:
        rows = fewer(of_table(name)[number], options.rows)
        for line in evaluate(rows, options.trees, options.seed + number):
            yield len(rows.train), *(line[column] for column in COLUMNS[3:])

    return go_on(options.out, COLUMNS, tasks, lines)


def reliability(lines: pd.DataFrame) -> pd.DataFrame:
    """Return by bin the rows, mean predicted probability and observed share, over all lines."""
    sums = {
        name: lines[[f"{prefix}_{i}" for i in range(BINS)]].sum().to_numpy()
        for name, prefix in (("rows", "rows"), ("predicted", "said"), ("observed", "came"))
    }
    bins = pd.DataFrame(sums)
    bins = bins[bins["rows"] > 0]
    predicted, observed = (bins[name] / bins["rows"] for name in ("predicted", "observed"))
    return bins.assign(predicted=predicted, observed=observed)


def calibration_error(lines: pd.DataFrame) -> float:
    """Return the mean of |predicted - observed| over bins, weighted by their rows."""
    bins = reliability(lines)
    return float(np.average((bins["predicted"] - bins["observed"]).abs(), weights=bins["rows"]))


def report(lines: pd.DataFrame) -> str:
    """Write each table's scores, with standard errors over partitions, as markdown."""
    parts = []
    for name, of_table in lines.assign(error=100 * lines["error"]).groupby("table", sort=False):
        methods = of_table.groupby("method", sort=False)
        mean, se = methods[list(SCORES)].mean(), methods[list(SCORES)].sem()
        shown = pd.DataFrame(index=mean.index)
        for score, words in SCORES.items():
            digits = 1 if score == "error" else 2 if score == "slope" else 3
            shown[words] = [
                f"{average:.{digits}f} ± {by:.{digits}f}"
                for average, by in zip(mean[score], se[score], strict=True)
            ]
        errors = [calibration_error(of_method) for _, of_method in methods]
        shown["calibration error"] = [f"{error:.3f}" for error in errors]
        n, repeats = of_table["n"].iloc[0], of_table["partition"].nunique()
        title = f"**{name}**, {n} training rows, {repeats} partitions"
        parts.append(f"{title}\n\n{markdown_table(shown, 'forest')}")
    return "\n\n".join(parts)


def plot(lines: pd.DataFrame, path: Path) -> None:
    """Draw reliability curves, one panel for each table."""
    names = lines["table"].unique()
    across = min(4, len(names))
    down = -(-len(names) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(3.4 * across, 3.5 * down), sharex=True, sharey=True,
        layout="constrained", squeeze=False,
    )  # fmt: skip
    for ax in axes.flat[len(names) :]:
        ax.set_axis_off()
    for ax, name in zip(axes.flat, names, strict=False):
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1)
        for method, (colour, line) in DRAWN.items():
            bins = reliability(lines[(lines["table"] == name) & (lines["method"] == method)])
            bins = bins[bins["rows"] >= FEWEST]
            ax.plot(
                bins["predicted"], bins["observed"], f"o{line}", color=colour, label=method,
                markersize=3.5, linewidth=1.3,
            )  # fmt: skip
        ax.set_title(name.replace("_", " "), fontsize="medium")
        ax.set_aspect("equal")
        plain(ax, "y")
    figure.supxlabel("predicted probability")
    figure.supylabel("observed share of the class")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(DRAWN), frameon=False)
    figure.savefig(path, dpi=150)


def main() -> int:
    """Evaluate the forests, or report an existing csv."""
    asked = plotting_parser(__doc__ or "", "honesty.csv", repeats=20, trees=500)
    options = with_tables(asked, rows=1000).parse_args()
    lines = run(options) if options.report is None else pd.read_csv(options.report)
    print(report(lines))
    if options.plot is not None:
        plot(lines, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
