"""Are the class probabilities of honest forests better calibrated than those of plain ones?

    python benchmarks/honesty.py --out honesty.csv [--data DIR] [--repeats 20] [--trees 500]
    python benchmarks/honesty.py --report honesty.csv [--plot reliability.png]

Plain and honest forests, of one kind of trees and blended, and single trees are grown on the same
partitions of tables with two classes (``protocol.py``, Z, with fewer training rows) and say how
probable the second class of each test row is.  Judged are

* the share of misclassified rows, Brier's score (summed over both classes) and the log loss;
* the slope of a logistic regression of the class on the log odds that were said: 1 if these are
  right, above 1 if they are too moderate, below if too extreme;
* the calibration error: the mean distance of what was said from the share of the class that came,
  in bins of a tenth.  Bins of few rows are apart by chance, so the report pools all partitions.

The csv has one line for each table, partition and method.  A run goes on with what a csv lacks.
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

from markdown import table as markdown_table
from odrf import odrf, odt
from odrf.evaluation.metrics import METRICS
from odrf.plots.elements.style import MUTED, plain
from protocol import PROTOCOLS, Partition, partitions
from runs import go_on, plotting_parser, with_tables
from tables import Table, read_table

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
# Tables of a numeric response that hold a class as well: what is thresholded, or known later, goes.
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
TREES: dict[str, dict[str, Any]] = {"plain tree": {}, "honest tree": {"honest": True}}
DRAWN = {
    "plain": ("#0072b2", "-"),
    "honest": ("#d55e00", "-"),
    "plain blend": ("#0072b2", "--"),
    "honest blend": ("#d55e00", "--"),
}
BINS = 10
# What 500 trees cannot tell from impossible: one of them, and half of what it says.
LEAST = 0.001
# Rows of a bin that is drawn: fewer tell nothing.
FEWEST = 50
SCORES = {"error": "error, %", "brier": "Brier", "log_loss": "log loss", "slope": "slope"}
SUMS = [f"{name}_{i}" for name in ("rows", "said", "came") for i in range(BINS)]
COLUMNS = ["table", "partition", "n", "method", *SCORES, *SUMS, "fit_s"]


def class_table(folder: Path, name: str) -> Table:
    """Read a table; of two numeric ones, the class in it becomes the response."""
    read = read_table(folder, name)
    if name not in CLASS_OF:
        return read
    known = CLASS_OF[name]
    data = read.data.drop(columns="y").rename(columns={known: "y"})
    data = data[[*data.columns.drop("y"), "y"]].assign(y="c" + data["y"].astype(str))
    return Table(name, "classification", data)


def fewer(rows: Partition, most: int) -> Partition:
    """Keep the first so many training rows, which are in random order."""
    return Partition(rows.train.iloc[:most], rows.test)


def calibration(said: NDArray[np.float64], came: NDArray[np.bool_]) -> dict[str, float]:
    """Return the slope and, bin by bin, the rows, the sum of what was said, and what came."""
    bounded = np.clip(said, LEAST, 1 - LEAST)
    design = sm.add_constant(logit(bounded))
    slope = sm.GLM(came.astype(float), design, sm.families.Binomial()).fit().params[1]
    of_row = np.minimum((said * BINS).astype(int), BINS - 1)
    found = {"slope": float(slope)}
    for name, values in (("rows", np.ones(len(said))), ("said", said), ("came", came)):
        sums = np.bincount(of_row, values, BINS)
        found |= {f"{name}_{i}": float(total) for i, total in enumerate(sums)}
    return found


def judge(rows: Partition, trees: int, seed: int) -> Iterator[dict[str, Any]]:
    """Judge every method on a partition."""
    given: dict[str, Any] = {"kind": "classification", "seed": seed}
    grown: dict[str, Callable[..., Any]] = {
        name: partial(odrf, n_trees=trees, n_jobs=1, **given, **options)
        for name, options in METHODS.items()
    }
    grown |= {name: partial(odt, **given, **options) for name, options in TREES.items()}
    for method, grow in grown.items():
        began = time.perf_counter()
        fit = grow("y ~ .", rows.train)
        fit_s = time.perf_counter() - began
        shares = fit.predict(rows.test, type="prob")
        codes = shares.columns.get_indexer(rows.test["y"])
        said = shares.to_numpy()
        bounded = np.clip(said, LEAST, 1 - LEAST)
        yield {
            "method": method,
            "error": METRICS["error"].function(codes, said.argmax(axis=1)),
            "brier": METRICS["brier"].function(codes, said),
            "log_loss": METRICS["log_loss"].function(codes, bounded),
            **calibration(said[:, 1], codes == 1),
            "fit_s": round(fit_s, 2),
        }


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return what is said of every partition, COLUMNS, going on with the csv."""
    names = [name for name in TABLES if (options.data / f"{name}.csv.gz").exists()]
    if not names:
        sys.exit(f"no tables: {options.data} holds none of {', '.join(TABLES)}")
    tasks = [(name, number) for name in names for number in range(options.repeats)]

    @lru_cache(maxsize=1)  # tasks come table by table
    def of_table(name: str) -> list[Partition]:
        table = class_table(options.data, name)
        return list(partitions(table, PROTOCOLS["Z"], options.repeats, options.seed))

    def lines(name: str, number: int) -> Iterator[tuple]:
        some = fewer(of_table(name)[number], options.rows)
        for found in judge(some, options.trees, options.seed + number):
            yield len(some.train), *(found[column] for column in COLUMNS[3:])

    return go_on(options.out, COLUMNS, tasks, lines)


def reliability(lines: pd.DataFrame) -> pd.DataFrame:
    """Return rows, mean probability and share of the class by bin, over all lines together."""
    sums = {
        name: lines[[f"{name}_{i}" for i in range(BINS)]].sum().to_numpy()
        for name in ("rows", "said", "came")
    }
    found = pd.DataFrame(sums)
    found = found[found["rows"] > 0]
    return found.assign(said=found["said"] / found["rows"], came=found["came"] / found["rows"])


def calibration_error(lines: pd.DataFrame) -> float:
    """Return the mean distance of what was said from what came, over bins weighed by rows."""
    bins = reliability(lines)
    return float(np.average((bins["said"] - bins["came"]).abs(), weights=bins["rows"]))


def report(lines: pd.DataFrame) -> str:
    """Show each table's scores, with standard errors over partitions, as markdown."""
    parts = []
    for name, of_table in lines.assign(error=100 * lines["error"]).groupby("table", sort=False):
        methods = of_table.groupby("method", sort=False)
        mean, se = methods[list(SCORES)].mean(), methods[list(SCORES)].sem()
        shown = pd.DataFrame(index=mean.index)
        for score, words in SCORES.items():
            digits = 1 if score == "error" else 2 if score == "slope" else 3
            shown[words] = [
                f"{at:.{digits}f} ± {by:.{digits}f}"
                for at, by in zip(mean[score], se[score], strict=True)
            ]
        errors = [calibration_error(own) for _, own in methods]
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
                bins["said"], bins["came"], f"o{line}", color=colour, label=method,
                markersize=3.5, linewidth=1.3,
            )  # fmt: skip
        ax.set_title(name.replace("_", " "), fontsize="medium")
        ax.set_aspect("equal")
        plain(ax, "y")
    figure.supxlabel("probability that was said")
    figure.supylabel("share of the class that came")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(DRAWN), frameon=False)
    figure.savefig(path, dpi=150)


def main() -> int:
    """Judge the forests, or report what a csv holds."""
    asked = plotting_parser(__doc__ or "", "honesty.csv", repeats=20, trees=500)
    options = with_tables(asked, rows=1000).parse_args()
    lines = run(options) if options.report is None else pd.read_csv(options.report)
    print(report(lines))
    if options.plot is not None:
        plot(lines, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
