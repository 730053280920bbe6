"""Coverage of the out-of-bag intervals of C of survival forests, on simulated problems.

    python -m benchmarks.survival.concordance_coverage --out concordance_coverage.csv [--quick]
    python -m benchmarks.survival.concordance_coverage --report concordance_coverage.csv

A forest by default is grown on each of many samples.  Its out-of-bag C, Harrell's and Uno's, is
compared with that of the same forest on many new rows: by how much it is too high, what part of the
standard deviation of their difference its standard error is, and how often 95 % intervals hold C
on new rows: plain ones, and those that are symmetric for log(C/(1 - C)), which the package has.

The csv has one line for each problem and C.  A run with an existing csv adds the missing ones.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.special import logit, ndtri

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report, with_quick
from odrf import odrf, simulate
from odrf.results.survival.forest import SurvivalForestResults
from odrf.simulate.survival import SurvivalProblem

LEVEL = 0.95
NEW_ROWS = 2000
SCORES = ("harrell_c", "uno_c")
PROBLEMS: dict[str, Callable[[], SurvivalProblem]] = {
    "proportional hazards": simulate.proportional_hazards,
    "crossing hazards": simulate.crossing_hazards,
    "hazard jump": simulate.hazard_jump,
}
COLUMNS = [
    *("problem", "rows", "trees", "samples", "score", "out_of_bag", "new", "error_of_difference"),
    *("ratio", "plain", "by_logit", "error"),
]


def scores_of(problem: SurvivalProblem, new: pd.DataFrame, sample: int, options: Any) -> Any:
    """Return out-of-bag C, its standard error and C on new rows: (2, 3)."""
    data = problem.sample(options.rows, seed=options.seed + sample)
    fit = odrf(
        "Surv(time, event) ~ .", data, n_trees=options.trees, n_jobs=1, seed=options.seed + sample
    )
    forest = cast(SurvivalForestResults, fit)
    until = float(data["time"][data["event"] > 0].quantile(0.9))
    own = forest.score(until=until)
    return np.column_stack(
        [own.loc[list(SCORES), ["estimate", "std_error"]],
         forest.score(new, until=until).loc[list(SCORES), "estimate"]]
    )  # fmt: skip


def lines_of(options: Any, problem_name: str) -> Iterator[tuple[Any, ...]]:
    """Yield a line for each kind of C."""
    problem = PROBLEMS[problem_name]()
    new = problem.sample(NEW_ROWS, seed=10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array(
            [scores_of(problem, new, sample, options) for sample in range(options.repeats)]
        )
    z = float(ndtri((1 + LEVEL) / 2))
    for k, name in enumerate(SCORES):
        own, error, truth = found[:, k].T
        difference = own - truth
        plain = np.abs(difference) <= z * error
        on_scale = np.abs(logit(own) - logit(truth)) <= z * error / (own * (1 - own))
        yield (
            options.rows, options.trees, options.repeats, name, own.mean(), truth.mean(),
            difference.std(ddof=1) / np.sqrt(len(own)),
            np.sqrt(np.mean(error**2)) / difference.std(ddof=1), plain.mean(), on_scale.mean(),
            plain.std(ddof=1) / np.sqrt(len(own)),
        )  # fmt: skip


def report(lines: pd.DataFrame) -> str:
    """Write the csv as markdown, coverage in per cent."""
    shown = pd.DataFrame(
        {
            "out of bag": lines["out_of_bag"].map("{:.3f}".format),
            "on new rows": lines["new"].map("{:.3f}".format),
            "standard error / deviation": lines["ratio"].map("{:.2f}".format),
            "covered by plain ones, %": (100 * lines["plain"]).map("{:.0f}".format),
            "by those of the package, %": (100 * lines["by_logit"]).map("{:.0f}".format),
        }
    )
    shown.index = pd.Index(lines[["problem", "score"]].agg(", ".join, axis=1))
    return markdown_table(shown, "problem, score")


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    tasks = [(problem,) for problem in PROBLEMS]
    return go_on(options.out, COLUMNS, tasks, partial(lines_of, options))


def main() -> int:
    """Measure coverage, or report an existing csv."""
    asked = parser(__doc__ or "", "concordance_coverage.csv", repeats=80, trees=200)
    asked.add_argument("--rows", type=int, default=200, help="training rows of a sample")
    options = with_quick(asked, repeats=3, trees=20, rows=80).parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
