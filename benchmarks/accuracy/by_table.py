"""The losses of each table: one csv of all comparisons, and a picture.

    python -m benchmarks.accuracy.by_table [--results DIR] [--out by_table.csv]
                                           [--plot accuracy-by-table.png]

The csv has a line for each comparison, measure, table and method: the mean loss over partitions.
In the comparisons ``defaults``, ``60 s``, ``600 s`` and ``all rows`` the partitions are those of
``anchored.py``; in ``forests and boosters`` they are those of ``report.py``, and the lines have
the standard error and the number of partitions, too.  The picture shows ``defaults`` and
``600 s``: errors as ratios to the smallest one of the methods of others.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from benchmarks.accuracy.anchored import LOSSES, lines_of, losses_of
from benchmarks.accuracy.scores import AUC, BESIDE, MEASURES, mean_scores, read_results

BOOSTERS = "catboost,chimeraboost,perpetual,realmlp,xrfm,lightgbm,xgboost,rf,et"
FORESTS = "odrf,rf,et,hgb,xgboost,lightgbm,ydf_axis,ydf_oblique,treeple,obliquetree"
COMPARISONS = {
    "defaults": (("stacks", "anchors", "accuracy"), "Z", ("auto", "odrf")),
    "60 s": (("tuned",), "Z", ("auto_60s",)),
    "600 s": (("tuned_longer",), "Z", ("auto_600s",)),
    "all rows": (("larger",), "A", ("auto", "odrf")),
}
"""Files, protocol, and methods of this package."""
NAMES = {"rpe": "relative error", "error_percent": "error %", "auc": "AUC"}
SMALL = {"relative error": 0.005, "error %": 0.5}
"""Added to both errors of a ratio: the smallest errors are of a few rows."""
LIMITS = (0.25, 4.0)
RESULTS = Path(__file__).with_name("results")
PICTURE = Path("docs/pictures/accuracy-by-table.png")


def losses_by_table(results: Path) -> pd.DataFrame:
    """Return the mean losses of all comparisons, a line for each table and method."""
    parts = [_anchored(results, name) for name in COMPARISONS]
    losses = pd.concat([*parts, _forests(results)], ignore_index=True)
    return losses.dropna(subset="mean")


def _anchored(results: Path, comparison: str) -> pd.DataFrame:
    files, protocol, own = COMPARISONS[comparison]
    lines = pd.concat([lines_of(results / f"{file}.csv", protocol) for file in files])
    lines = lines.drop_duplicates(["table", "partition", "method"], ignore_index=True)
    if comparison == "defaults":
        lines = lines[lines["method"].isin([*own, *BOOSTERS.split(",")])]
    tasks = lines.groupby("table")["rpe"].first().notna()
    parts = []
    for measure in LOSSES:
        losses = losses_of(lines, measure, own).melt(value_name="mean", ignore_index=False)
        losses = losses.reset_index().sort_values("table", kind="stable")
        parts.append(losses.assign(comparison=comparison, measure=measure))
        if measure == "loss":
            parts[-1]["measure"] = np.where(losses["table"].map(tasks), "relative error", "error %")
    return pd.concat(parts)


def _forests(results: Path) -> pd.DataFrame:
    lines = read_results([results / "accuracy.csv"], FORESTS.split(","))
    parts = []
    for task, others in BESIDE.items():
        of_task = lines[(lines["task"] == task) & (lines["protocol"] == "Z")]
        for measure in (MEASURES["Z", task], AUC, *others):
            if not of_task[measure.column].notna().any():
                continue
            means = mean_scores(of_task, measure)
            known = pd.DataFrame(
                {"mean": means.mean.stack(), "standard_error": means.se.stack()}
            ).rename_axis(["table", "method"])
            known = known.reset_index()
            known["partitions"] = known["table"].map(means.partitions)
            known["measure"] = NAMES.get(measure.column, measure.column)
            parts.append(known.assign(comparison="forests and boosters"))
    return pd.concat(parts)


def ratios(losses: pd.DataFrame, comparison: str) -> pd.DataFrame:
    """Return errors (a row for each table) over the smallest one of the methods of others."""
    chosen = losses[losses["comparison"] == comparison]
    parts = []
    for measure, small in SMALL.items():
        errors = chosen[chosen["measure"] == measure].pivot(
            index="table", columns="method", values="mean"
        )
        errors = errors + small
        own = [name for name in errors if str(name).startswith(("auto", "odrf"))]
        parts.append(errors.div(errors.drop(columns=own).min(axis=1), axis=0))
    return pd.concat(parts)


def plot(losses: pd.DataFrame, path: Path) -> None:
    """Draw the ratios of two comparisons, a line for each table, the best of ours above."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 12), sharey=True, layout="constrained")
    order: pd.Index | None = None
    titles = {"defaults": "all methods at their defaults", "600 s": "600 seconds for each table"}
    for ax, (comparison, title) in zip(panels, titles.items(), strict=True):
        table = ratios(losses, comparison)
        if order is None:
            order = table["auto"].sort_values(ascending=False).index
        _dots(ax, table.reindex(order))
        ax.set_title(title, fontsize=13)
    figure.savefig(path, dpi=100, facecolor="white")
    plt.close(figure)


def _dots(ax: Axes, table: pd.DataFrame) -> None:
    at = np.arange(len(table))
    ax.hlines(at, *LIMITS, color="0.93", zorder=0)
    ax.axvline(1, color="0.4", linewidth=1, zorder=1)
    others = [name for name in table if not str(name).startswith(("auto", "odrf"))]
    shown = table.clip(*LIMITS)
    for number, name in enumerate(others):
        label = "other methods" if number == 0 else None
        ax.plot(shown[name], at, "o", color="0.6", markersize=4, alpha=0.7, label=label)
    looks = {"odrf": ("D", "tab:orange", "odrf"), "auto": ("o", "tab:blue", "auto")}
    for start, (marker, color, label) in looks.items():
        for name in (name for name in table if str(name).startswith(start)):
            ax.plot(shown[name], at, marker, color=color, markersize=7, label=label)
    ax.set_xscale("log", base=2)
    ax.set_xlim(LIMITS[0] / 1.08, LIMITS[1] * 1.08)
    ax.set_ylim(-0.8, len(table) - 0.2)
    ax.set_yticks(at, table.index, fontsize=10)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.tick_params(axis="x", labelsize=10)
    ax.set_xlabel("error / smallest error of the other methods", fontsize=11)
    ax.legend(loc="lower left", fontsize=10)


def main() -> int:
    """Write the csv and the picture."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--results", type=Path, default=RESULTS, help="folder of csv files")
    asked.add_argument("--out", type=Path, default=RESULTS / "by_table.csv", help="csv to write")
    asked.add_argument("--plot", type=Path, default=PICTURE, help="picture to write")
    options = asked.parse_args()
    losses = losses_by_table(options.results)
    columns = ["comparison", "measure", "table", "method", "mean", "standard_error", "partitions"]
    losses["partitions"] = losses["partitions"].astype("Int64")
    losses[columns].to_csv(options.out, index=False, float_format="%.6g")
    plot(losses, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
