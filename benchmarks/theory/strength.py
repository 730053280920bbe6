"""Strength and correlation of forests of oblique and of axis-parallel trees.

    python -m benchmarks.theory.strength --out strength.csv [--repeats 10] [--trees 200]
    python -m benchmarks.theory.strength --report strength.csv --plot strength.png

Breiman's strength and correlation of forests on four settings (Tomita et al., JMLR 21, 2020,
Figure 11), and their test error.  RF and SPORF at their defaults, and tuned by out-of-bag error as
in ``consistency.py``; trees are grown to purity.  The csv has one line for each forest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, plotting_parser
from benchmarks.shared.simulated import FORESTS, draw, fitted, loss, with_tuned
from benchmarks.theory.curves import line_style
from odrf.plots.style import plain
from odrf.simulate import Problem, orthant, sparse_parity, trunk


class Setting(NamedTuple):
    """A problem and the rows of its training samples."""

    title: str
    problem: Problem
    n: int


SETTINGS = {
    "parity": Setting("Sparse parity, p = 10, n = 1000", sparse_parity(p=10), 1000),
    "orthant": Setting("Orthant, p = 6, n = 400", orthant(), 400),
    "trunk_10": Setting("Trunk, p = 10, n = 10", trunk(), 10),
    "trunk_100": Setting("Trunk, p = 10, n = 100", trunk(), 100),
}
METHODS = list(with_tuned(FORESTS, p=2))
FIGURES = ["strength", "correlation", "bound", "oob_error", "test_error"]
COLUMNS = ["setting", "repeat", "method", *FIGURES]
CLOUDS = {"linestyle": "none", "alpha": 0.8}


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return strength and correlation of every forest, COLUMNS, continuing the csv."""
    tasks = [
        (name, repeat, method)
        for name in SETTINGS
        for repeat in range(options.repeats)
        for method in METHODS
    ]

    def line(name: str, repeat: int, method: str) -> Iterator[tuple[float, ...]]:
        _, problem, n = SETTINGS[name]
        train, seed = draw(problem, n, repeat, options.seed)
        fit, _ = fitted(train, with_tuned(FORESTS, problem.p)[method], options.trees, seed)
        last = fit.strength_correlation().table.iloc[-1]
        out_of_bag = (last[name] for name in ("strength", "correlation", "bound", "error"))
        yield *out_of_bag, loss(fit, problem)

    return go_on(options.out, COLUMNS, tasks, line)


def report(lines: pd.DataFrame) -> str:
    """Write means and their standard errors over repeats, as markdown."""
    parts = []
    for name, of_setting in lines.groupby("setting", sort=False):
        groups = of_setting.groupby("method", sort=False)[["strength", "correlation", "test_error"]]
        mean, se = groups.mean(), groups.sem()
        shown = mean.map("{:.3f}".format) + " ± " + se.map("{:.3f}".format)
        shown = shown.reindex([method for method in METHODS if method in shown.index])
        parts += [f"{SETTINGS[str(name)].title}:", markdown_table(shown, "method")]
    return "\n\n".join(parts)


def plot(lines: pd.DataFrame, path: Path) -> None:
    """Draw one dot for each forest, a panel for each setting."""
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 8.4), layout="constrained")
    for (name, setting), ax in zip(SETTINGS.items(), axes.flat, strict=True):
        of_setting = lines[lines["setting"] == name]
        for method in METHODS:
            dots = of_setting[of_setting["method"] == method]
            ax.plot(
                dots["strength"], dots["correlation"], label=method, **(line_style(method) | CLOUDS)
            )
        ax.set(xlabel="strength", ylabel="correlation", title=setting.title)
        plain(ax, "y")
    axes.flat[0].legend(frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> int:
    """Grow the forests, or report an existing csv."""
    options = plotting_parser(__doc__ or "", "strength.csv", repeats=10, trees=200).parse_args()
    lines = run(options) if options.report is None else pd.read_csv(options.report)
    print(report(lines))
    if options.plot is not None:
        plot(lines, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
