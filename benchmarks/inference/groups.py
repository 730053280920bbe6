"""Out-of-bag R² and coverage of prediction intervals where rows belong to groups.

    python -m benchmarks.inference.groups --out groups.csv [--data DIR] [--repeats 20] [--trees 500]
    python -m benchmarks.inference.groups --report groups.csv

Forests are grown on a simulated mixed model, with and without ``groups=``.  Each group has an own
level, the random intercept, and predictors that differ much between groups and little within them,
so that trees can tell groups apart.  Out-of-bag R² and the coverage of 90 % prediction intervals
are compared with what new groups show.  The share of the random intercept in the variance of the
response is 0, 0.3 or 0.6.

With --data, forests for classes are grown on a table with 15 recordings of each of 72 mice
(mice_protein); the out-of-bag error rate is compared with that of mice left out.

The csv has one line for each repeat and method.  A run with an existing csv adds the missing
problems.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from benchmarks.shared.tables import read_with_holes
from odrf import odrf

GROUPS, ROWS, MARKS = 40, 20, 3
NEW_GROUPS = 200
LEVEL = 0.9
SHARES = (0.0, 0.3, 0.6)
MICE, RECORDINGS, FOLDS = "mice_protein", 15, 5
COLUMNS = ["problem", "repeat", "method", "oob", "new", "covered", "width"]
METHODS: dict[str, dict[str, Any]] = {"rows": {}, "groups": {"groups": "group"}}


def mixed_model(n_groups: int, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """Draw rows of new groups; half of the other variance is of x within groups, half is noise."""
    group = np.repeat(np.arange(n_groups), ROWS)
    level = np.sqrt(share) * rng.normal(size=n_groups)
    marks = rng.normal(size=(MARKS, n_groups))[:, group]
    marks += 0.05 * rng.normal(size=marks.shape)
    x, noise = rng.normal(size=(2, len(group))) * np.sqrt((1 - share) / 2)
    predictors = {f"mark{k}": mark for k, mark in enumerate(marks)}
    return pd.DataFrame({"y": level[group] + x + noise, "x": x, **predictors, "group": group})


def simulated_lines(share: float, options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of all repeats for one share of the random intercept."""
    for repeat in range(options.repeats):
        rng = np.random.default_rng([options.seed, repeat])
        train, new = (mixed_model(n, share, rng) for n in (GROUPS, NEW_GROUPS))
        for method, grouping in METHODS.items():
            formula = "y ~ ." if grouping else "y ~ . - group"
            forest = odrf(
                formula, train, n_trees=options.trees, seed=options.seed + repeat, **grouping
            )
            variance = train["y"].var(ddof=0)
            ends = forest.predict(new, interval="prediction", level=LEVEL)
            errors = (new["y"] - ends["estimate"]) ** 2
            covered = new["y"].between(ends["conf_low"], ends["conf_high"])
            yield (
                repeat,
                method,
                1 - forest.oob_error / variance,
                1 - errors.mean() / new["y"].var(ddof=0),
                covered.mean(),
                (ends["conf_high"] - ends["conf_low"]).mean(),
            )


def mice_lines(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """Yield the error rates out of bag, and on mice that were left out."""
    data = read_with_holes(options.data, MICE).data
    data = data.assign(group=np.arange(len(data)) // RECORDINGS)
    for repeat in range(min(options.repeats, FOLDS)):
        held = data["group"] % FOLDS == repeat
        for method, grouping in METHODS.items():
            formula = "y ~ ." if grouping else "y ~ . - group"
            forest = odrf(
                formula, data[~held], n_trees=options.trees, seed=options.seed + repeat, **grouping
            )
            wrong = (forest.predict(data[held]) != data["y"][held]).mean()
            yield repeat, method, forest.oob_error, wrong, np.nan, np.nan


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the lines of every problem, COLUMNS, continuing the csv."""

    def lines(problem: str) -> list[tuple[Any, ...]]:
        if problem == MICE:
            return list(mice_lines(options))
        return list(simulated_lines(float(problem.rpartition(" ")[2]), options))

    problems = [f"random intercept {share}" for share in SHARES]
    if options.data is not None and (options.data / f"{MICE}.csv.gz").exists():
        problems.append(MICE)
    return go_on(options.out, COLUMNS, [(problem,) for problem in problems], lines, digits=None)


def report(lines: pd.DataFrame) -> str:
    """Write means over repeats, and standard errors of coverage, as markdown."""
    groups = lines.groupby(lines["problem"] + ": " + lines["method"], sort=False)
    mean, error = groups[["oob", "new", "covered", "width"]].mean(), groups["covered"].sem()
    covered = [
        "" if np.isnan(share) else f"{100 * share:.1f} ± {100 * by:.1f}"
        for share, by in zip(mean["covered"], error, strict=True)
    ]
    shown = pd.DataFrame(
        {
            "out of bag": [f"{value:.2f}" for value in mean["oob"]],
            "new groups": [f"{value:.2f}" for value in mean["new"]],
            "covered, %": covered,
            "width": ["" if np.isnan(width) else f"{width:.2f}" for width in mean["width"]],
        },
        index=mean.index,
    )
    return markdown_table(shown, "problem: drawn")


def main() -> int:
    """Grow the forests, or report an existing csv."""
    asked = parser(__doc__ or "", "groups.csv", repeats=20, trees=500)
    asked.add_argument("--data", type=Path, default=None, help="folder with the tables")
    options = asked.parse_args()
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
