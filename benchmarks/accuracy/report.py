"""Report of an accuracy benchmark's csv: tables, tests and critical-difference diagrams.

    python -m benchmarks.accuracy.report accuracy.csv [more.csv] --out accuracy.md
                                         [--peers peers.csv]

Several files are read as one; if they share fits, those of the last file are used, so that one
method can be run again without the others.  The report is markdown; its diagrams are written
beside it.  The means of a table are over the partitions on which all methods have a result.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from benchmarks.accuracy.elsewhere import beside_peers, beside_published
from benchmarks.accuracy.scores import BESIDE, MEASURES, Means, Measure, mean_scores, read_results
from benchmarks.accuracy.sections import (
    aucs,
    friedman_line,
    hard_tables,
    mean_table,
    not_done,
    pairwise_table,
    rank_table,
    seconds,
    wilcoxon_table,
    worse_than,
)
from benchmarks.shared.ranks import mean_ranks, relative_differences
from odrf.evaluation.compare import critical_difference
from odrf.plots.evaluation import plot_ranks

__all__ = ["View", "report"]

AMONG = "odrf,rf,et,xgboost,lightgbm,ydf_oblique"
HARD = (
    "servo,splice,soybean,colon,madelon,puma32h,uji_longitude,ringnorm,strike,letter,pendigits,"
    "company_bankruptcy,insurance"
)
SOURCES = {
    "Z": "Zhan, Liu and Xia: random partitions",
    "A": "Random partitions with two thirds of all rows for training",
    "T": "Tomita et al.: five folds",
    "G": "Gupta et al.: four folds",
}


@dataclass(frozen=True)
class View:
    """Options of the report.

    Attributes
    ----------
    base : str
        Method that is tested against the others.
    rival : str
        Method whose loss is compared with that of `base` on every table.
    among : list of str
        Subset of methods that are also ranked among themselves.
    hard : list of str
        Tables that are reported one by one.
    level : float
        Significance level.
    peers : Path or None
        File of results from elsewhere.
    plots : Path
        Folder for the diagrams.
    """

    base: str
    rival: str
    among: list[str]
    hard: list[str]
    level: float
    peers: Path | None
    plots: Path


def report(results: pd.DataFrame, view: View) -> str:
    """Write the diagrams and return the report, with sections of the second level."""
    parts = [_origin(results)]
    for protocol, lines in results.groupby("protocol", sort=False):
        means = {
            task: mean_scores(lines[lines["task"] == task], MEASURES[str(protocol), str(task)])
            for task in lines["task"].unique()
        }
        means = {task: of_task for task, of_task in means.items() if not of_task.mean.empty}
        for task, of_task in means.items():
            parts.append(f"## {SOURCES[str(protocol)]}, {task}: {of_task.measure.title}")
            parts += _one_task(lines, str(protocol), str(task), of_task, view)
        if len(means) > 1:
            parts.append(f"## {SOURCES[str(protocol)]}, all tables")
            losses = pd.concat([of_task.loss for of_task in means.values()])
            parts += _comparison(losses, f"{protocol}_all", view, relative=True)
    parts += ["## Seconds", seconds(results), "## Failures", not_done(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _one_task(
    results: pd.DataFrame, protocol: str, task: str, means: Means, view: View
) -> Iterator[str]:
    yield mean_table(means)
    yield from _comparison(means.loss, f"{protocol}_{task}", view)
    if protocol == "G":
        yield pairwise_table(means.loss, view.level)
    yield worse_than(results, means, view.base, view.rival)
    yield hard_tables(means, view.base, view.hard)
    if task == "classification":
        yield aucs(results[results["task"] == task])
    if protocol == "Z":
        for measure in BESIDE[task]:
            yield from _other_score(results, measure, view)
        yield beside_published(means)
        if view.peers is not None and view.base in means.mean:
            yield beside_peers(means, view.base, view.peers)


def _other_score(results: pd.DataFrame, measure: Measure, view: View) -> Iterator[str]:
    """Means and ranks of a score that older results do not have."""
    if not results[measure.column].notna().any():
        return
    means = mean_scores(results, measure)
    yield f"### {measure.title[0].upper()}{measure.title[1:]}"
    yield mean_table(means)
    yield from _comparison(means.loss, measure.column, view)


def _comparison(
    losses: pd.DataFrame, name: str, view: View, relative: bool = False
) -> Iterator[str]:
    """Ranks and tests; `relative` if the losses of tables have different units."""
    yield rank_table(losses, view.among)
    yield friedman_line(losses, view.level)
    tables, methods = losses.shape
    if tables > 1 and methods > 1:
        path = view.plots / f"cd_{name}.png"
        difference = critical_difference(methods, tables, view.level)
        plot_ranks(mean_ranks(losses), difference, view.base)
        plt.savefig(path, dpi=150)
        plt.close()
        yield f"![Mean ranks; a bar joins methods that do not differ]({path.name})"
    if view.base in losses and methods > 1:
        differences = (
            relative_differences(losses, view.base)
            if relative
            else losses.drop(columns=view.base).rsub(losses[view.base], axis=0)
        )
        yield wilcoxon_table(differences, view.base, view.level)


def _origin(results: pd.DataFrame) -> str:
    done = results[results["status"] == "ok"]
    versions = done.groupby("method", observed=True)["version"].unique()
    listed = ", ".join(f"{method} {'/'.join(map(str, of))}" for method, of in versions.items())
    return "\n".join(
        f"* {what}: {text}"
        for what, text in {
            "methods": listed,
            "packages": " · ".join(done["packages"].dropna().unique()),
            "trees": _listed(results["trees"]),
            "seed": _listed(results["seed"]),
            "commit": _listed(results["commit"].dropna()),
            "machine": _listed(results["machine"]),
        }.items()
    )


def _listed(values: pd.Series) -> str:
    return " · ".join(map(str, values.unique()))


def main() -> int:
    """Write the report, or print it."""
    options = _parser().parse_args()
    methods = None if options.methods is None else options.methods.split(",")
    results = read_results(options.results, methods)
    plots = Path() if options.out is None else options.out.parent
    view = View(
        options.base,
        options.rival,
        options.among.split(","),
        options.hard.split(","),
        options.level,
        options.peers if options.peers.exists() else None,
        plots,
    )
    text = report(results, view)
    if options.out is not None:
        options.out.write_text(f"# Accuracy\n\n{text}", encoding="utf-8")
    else:
        print(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("results", type=Path, nargs="+", help="csv files of accuracy.py")
    add("--out", type=Path, help="markdown file; printed, and diagrams written here, if none")
    add("--methods", help="names with commas between them, in the order to be shown; all if none")
    add("--base", default="odrf", help="method tested against the others")
    add("--rival", default="rf", help="method that the base must not be worse than")
    add("--among", default=AMONG, help="methods also ranked among themselves")
    add("--hard", default=HARD, help="tables compared with the best forest")
    add("--level", type=float, default=0.05, help="of significance")
    add(
        "--peers",
        type=Path,
        default=Path("../shared/peers/accuracy.csv"),
        help="measured elsewhere",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
