"""Curves: errors of forests on a simulated problem against the number of training rows."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on
from benchmarks.shared.simulated import Method, draw, fitted, in_words, loss
from odrf.plots.style import CLASSES, MUTED, plain
from odrf.simulate import Problem

__all__ = ["AS_GIVEN", "COLUMNS", "Curve", "line_style", "run_or_report", "table"]

COLUMNS = ["curve", "n", "repeat", "method", "error", "chosen"]
COLOURS = dict(zip(("RF", "SPORF", "ODRF", "odrf", "F-RC"), CLASSES, strict=False))
AS_GIVEN = "as given"
"""Value of the column ``chosen`` for methods without tuning."""
PANELS_IN_A_ROW = 2


@dataclass(frozen=True)
class Curve:
    """Errors on a problem at several numbers of training rows.

    Attributes
    ----------
    title : str
    problem : Problem
    sizes : tuple of int
        Numbers of training rows, rising.
    methods : mapping of str to Method
        A variant of a method is named by the method, a comma and the variant.
    rivals : (str, str)
        Two methods whose errors are compared on the same samples.
    bound : float or None
        An error that is drawn as a line.
    """

    title: str
    problem: Problem
    sizes: tuple[int, ...]
    methods: Mapping[str, Method]
    rivals: tuple[str, str]
    bound: float | None = None


def errors(curves: Mapping[str, Curve], options: argparse.Namespace) -> pd.DataFrame:
    """Return the errors of all methods, COLUMNS, continuing the csv."""
    tasks = [
        (name, n, repeat, method)
        for name, curve in curves.items()
        for repeat in range(options.repeats)
        for n in curve.sizes
        for method in curve.methods
    ]

    def line(name: str, n: int, repeat: int, method: str) -> Iterator[tuple[float, str]]:
        curve = curves[name]
        train, seed = draw(curve.problem, n, repeat, options.seed)
        fit, chosen = fitted(train, curve.methods[method], options.trees, seed)
        yield loss(fit, curve.problem), in_words(chosen) or AS_GIVEN

    return go_on(options.out, COLUMNS, tasks, line)


def table(lines: pd.DataFrame, curve: Curve) -> str:
    """Write mean errors with standard errors, for classes in per cent, as markdown."""
    wide = lines.pivot_table(index=["n", "repeat"], columns="method", values="error")
    methods = [method for method in curve.methods if method in wide]
    wide = wide[methods] * (1 if curve.problem.classes is None else 100)
    if set(curve.rivals) <= set(methods):
        wide[" − ".join(f"({name})" for name in curve.rivals)] = (
            wide[curve.rivals[0]] - wide[curve.rivals[1]]
        )
    groups = wide.groupby(level="n")
    mean, se = groups.mean(), groups.sem()
    shown = mean.map("{:#.3g}".format) + " ± " + se.map("{:.1g}".format)
    return markdown_table(shown, "n")


def line_style(method: str) -> dict[str, Any]:
    """Return colour and style of a method's line; variants are hollow and dashed."""
    family, _, variant = method.partition(", ")
    return {
        "color": COLOURS[family],
        "marker": "o",
        "markersize": 5,
        "markerfacecolor": "white" if variant else COLOURS[family],
        "linestyle": "--" if variant else "-",
    }


def plot(lines: pd.DataFrame, curves: Mapping[str, Curve], path: Path) -> None:
    """Draw each curve that the csv has lines of, with bars of one standard error."""
    drawn = [name for name in curves if name in set(lines["curve"])]
    rows = -(-len(drawn) // PANELS_IN_A_ROW)
    size = (5.6 * PANELS_IN_A_ROW, 4.2 * rows)
    figure, axes = plt.subplots(
        rows, PANELS_IN_A_ROW, figsize=size, layout="constrained", squeeze=False
    )
    for ax in axes.flat[len(drawn) :]:
        ax.remove()
    for name, ax in zip(drawn, axes.flat, strict=False):
        _panel(lines[lines["curve"] == name], curves[name], ax)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def run_or_report(
    curves: Mapping[str, Curve],
    report: Callable[[pd.DataFrame], str],
    asked: argparse.ArgumentParser,
) -> int:
    """Grow the forests of these curves, or read a csv; print the report and draw the curves."""
    asked.add_argument("--curves", default=",".join(curves), help="names with commas between them")
    options = asked.parse_args()
    if options.report is None:
        lines = errors({name: curves[name] for name in options.curves.split(",")}, options)
    else:
        lines = pd.read_csv(options.report)
    print(report(lines))
    if options.plot is not None:
        plot(lines, curves, options.plot)
    return 0


def _panel(lines: pd.DataFrame, curve: Curve, ax: Axes) -> None:
    for method in curve.methods:
        groups = lines[lines["method"] == method].groupby("n")["error"]
        mean = groups.mean()
        ax.errorbar(
            mean.index, mean, groups.sem(), label=method, linewidth=1.2, **line_style(method)
        )
    if curve.bound is not None:
        label = f"{curve.bound:.3f}"
        ax.axhline(curve.bound, color=MUTED, linewidth=1, linestyle=":", label=label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(curve.sizes, labels=[f"{n:,}" for n in curve.sizes])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    numbers = curve.problem.classes is None
    ax.set(xlabel="training rows", ylabel="mean (m̂ − m)²" if numbers else "test error")
    ax.set_title(curve.title)
    ax.legend(frameon=False)
    plain(ax, "y")
