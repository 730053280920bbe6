"""Are predictors of noise within the standard errors of their permutation importances?

    python -m benchmarks.inference.importance --out importance.csv [--repeats 40] [--trees 200]
    python -m benchmarks.inference.importance --report importance.csv

Samples of simulated problems have two predictors that matter, and six of noise.  The csv has, for
each sample and predictor, the permutation importance and its errors.  For noise, the report shows
how the importance divided by its error spreads: by 1 if the error is right.  For the others it
compares the standard error, which is for one forest, with how the importance varies from sample to
sample.  A run with an existing csv adds the missing problems.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from odrf import odrf

ROWS = (150, 600)
KINDS = ("regression", "classification")
FORESTS: dict[str, dict[str, Any]] = {"one kind": {"blend": False}, "blend": {"blend": True}}
ERRORS = ("std_error", "monte_carlo_error")
MATTER, NOISE = 2, 6
COLUMNS = ["kind", "forest", "n", "repeat", "predictor", "importance", *ERRORS]
# Two-sided 5 % of a normal distribution.
LIMIT = 1.959964


def simulate(kind: str, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw n rows; the response depends on x0 and x1 only."""
    x = rng.random((n, MATTER + NOISE))
    mean = 2 * np.sin(np.pi * x[:, 0]) + x[:, 1]
    if kind == "regression":
        y = mean + rng.normal(size=n)
    else:
        yes = rng.random(n) < 1 / (1 + np.exp(-2 * (mean - mean.mean())))
        y = np.where(yes, "yes", "no")
    return pd.DataFrame(x).add_prefix("x").assign(y=y)


def lines_of(options: argparse.Namespace, kind: str, forest: str, n: int) -> list[tuple[Any, ...]]:
    """Return the importances and errors of every predictor in every sample."""
    lines: list[tuple[Any, ...]] = []
    for repeat in range(options.repeats):
        rng = np.random.default_rng([options.seed, n, repeat])
        fit = odrf(
            "y ~ .",
            simulate(kind, n, rng),
            n_trees=options.trees,
            seed=options.seed + repeat,
            **FORESTS[forest],
        )
        table = fit.importance("permutation")[["importance", *ERRORS]]
        lines += [(repeat, *line) for line in table.itertuples(name=None)]
    return lines


def report(lines: pd.DataFrame) -> str:
    """Write how the importances spread beside what their errors say, as markdown."""
    names = [f"x{j}" for j in range(MATTER)]
    shown = {}
    for key, group in lines.groupby(["kind", "forest", "n"], sort=False):
        matter = group["predictor"].isin(names)
        noise, others = group[~matter], group[matter]
        columns = {}
        for error in ERRORS:
            z = noise["importance"] / noise[error]
            columns[f"spread by {error}"] = f"{z.std():.2f}"
            columns[f"beyond 95 % by {error}"] = f"{100 * (z.abs() > LIMIT).mean():.1f} %"
            columns[f"largest by {error}"] = f"{z.max():.1f}"
        by_predictor = others.groupby("predictor")
        varies = by_predictor["importance"].std() / by_predictor["std_error"].mean()
        columns["x0, x1: spread over samples / std_error"] = f"{varies.mean():.1f}"
        shown[", ".join(map(str, key if isinstance(key, tuple) else (key,)))] = columns
    return markdown_table(pd.DataFrame(shown).T, "kind, forest, rows")


def main() -> int:
    """Evaluate the errors, or report an existing csv."""
    options = parser(__doc__ or "", "importance.csv", repeats=40, trees=200).parse_args()
    if options.report is None:
        tasks = [(kind, forest, n) for kind in KINDS for forest in FORESTS for n in ROWS]
        of_task = partial(lines_of, options)
        lines = go_on(options.out, COLUMNS, tasks, of_task)
    else:
        lines = pd.read_csv(options.report)
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
