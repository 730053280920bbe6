"""Report of the csv of ``images.py``: tables and curves of errors and training times."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from benchmarks.shared.markdown import in_bold
from benchmarks.shared.markdown import table as markdown_table

__all__ = ["against", "medians", "plot", "report"]

COLOURS = {"MF": "#d55e00", "RF": "#0072b2", "SPORF": "#009e73"}
STYLES = {"": "o-", "d": "o--", "own": "o:"}


def medians(lines: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return the median over repeats, a row for each problem and n, a column for each method."""
    groups = lines.groupby(["problem", "n", "method"])[value].median()
    return groups.unstack()[list(dict.fromkeys(lines["method"]))]


def report(lines: pd.DataFrame) -> str:
    """Write errors, the lowest in bold, times, and the comparison of MF with the others."""
    parts = []
    error, seconds = medians(lines, "error"), medians(lines, "fit_s")
    for problem in dict.fromkeys(lines["problem"]):
        errors, took = error.loc[problem].dropna(axis=1), seconds.loc[problem].dropna(axis=1)
        lowest = errors.eq(errors.min(axis=1), axis=0)
        cells = in_bold((100 * errors).map("{:.2f}".format), lowest)
        parts.append(f"**{problem}**, median error in %\n\n{markdown_table(cells, 'n')}")
        parts.append(f"median seconds\n\n{markdown_table(took.map('{:.2f}'.format), 'n')}")
    parts.append(f"**MF against the others**\n\n{markdown_table(against(lines), 'problem')}")
    return "\n\n".join(parts)


def against(lines: pd.DataFrame) -> pd.DataFrame:
    """Return at how many sizes MF's median error is lower, equal or higher, and its largest cost.

    The cost is its median training time divided by that of SPORF with as many candidates.
    """
    error, seconds = medians(lines, "error"), medians(lines, "fit_s")
    rows = {}
    for problem in dict.fromkeys(lines["problem"]):
        errors, took = error.loc[problem].dropna(axis=1), seconds.loc[problem].dropna(axis=1)
        same_d = "SPORF, d" if "SPORF, d" in took else "SPORF"
        row = {}
        for method in errors.columns.drop("MF"):
            lower = (errors["MF"] < errors[method]).sum()
            higher = (errors["MF"] > errors[method]).sum()
            row[f"{method}: lower, equal, higher"] = (
                f"{lower}, {len(errors) - lower - higher}, {higher}"
            )
        row["largest time ratio to SPORF"] = f"{(took['MF'] / took[same_d]).max():.2f}"
        rows[problem] = row
    return pd.DataFrame(rows).T.fillna("")


def plot(lines: pd.DataFrame) -> Figure:
    """Draw errors above and training times below, against the number of training images."""
    error, seconds = medians(lines, "error"), medians(lines, "fit_s")
    problems = list(dict.fromkeys(lines["problem"]))
    size = (3.2 * len(problems), 5.6)
    figure, panels = plt.subplots(
        2, len(problems), figsize=size, layout="constrained", squeeze=False, sharex="col"
    )
    for column, problem in enumerate(problems):
        _curves(error.loc[problem].dropna(axis=1), panels[0, column])
        _curves(seconds.loc[problem].dropna(axis=1), panels[1, column])
        panels[1, column].set_yscale("log")
        panels[1, column].yaxis.set_major_formatter(ScalarFormatter())
        panels[1, column].yaxis.set_minor_formatter(NullFormatter())
        panels[0, column].set_title(problem.replace("_", " "))
        panels[0, column].set_ylim(bottom=0)
        panels[1, column].set_xlabel("training images")
    panels[0, 0].set_ylabel("median error")
    panels[1, 0].set_ylabel("median training time, s")
    lines_of = max((panel.lines for panel in panels[0]), key=len)
    figure.legend(handles=list(lines_of), frameon=False, loc="outside right upper")
    return figure


def _curves(values: pd.DataFrame, ax: Axes) -> None:
    for method in values:
        name, _, more = str(method).partition(",")
        ax.plot(
            values.index, values[method], STYLES[more.strip()], color=COLOURS[name],
            markersize=3, linewidth=1.2, label=method,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#dddddd", linewidth=0.8)
