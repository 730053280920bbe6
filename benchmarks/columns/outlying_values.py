"""What does an outlier of a predictor, or a code for unknown values, cost a fit?

    python -m benchmarks.columns.outlying_values --out outlying_values.csv [--repeats 5]
                                                 [--trees 100]
    python -m benchmarks.columns.outlying_values --report outlying_values.csv

The response is a step of one predictor, half of another one, and noise.  The first predictor is as
it is, or one training row has an outlying value, or a tenth of the training rows has the code
99999.  The csv has the share of the noiseless response's variance that each fit to
2,000 rows explains of 2,000 new rows, which have no such values.  A run with an existing csv adds
the missing problems.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

import odrf
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report

ROWS, STEP, NOISE = 2000, 0.5, 0.2
FORMULA = "y ~ x + z"
CODE, CODED = 99999.0, 0.1
COLUMNS = ["problem", "repeat", "model", "explained"]
FAR = {"one value of 300": 300.0, "one of 10⁶": 1e6, "one of -10⁶": -1e6}
PROBLEMS = ("as it is", *FAR, "a tenth coded 99999")


def simulate(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw rows, and return them with the response without noise."""
    rows = pd.DataFrame({"x": rng.random(ROWS), "z": rng.normal(size=ROWS)})
    mean = (rows["x"] > STEP) + rows["z"] / 2
    return rows.assign(y=mean + NOISE * rng.normal(size=ROWS)), mean.to_numpy()


def spoilt(rows: pd.DataFrame, problem: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return the rows with the values of a problem in place of some of the first predictor."""
    x = rows["x"].to_numpy(copy=True)
    if problem in FAR:
        x[0] = FAR[problem]
    elif problem != PROBLEMS[0]:
        x[rng.random(ROWS) < CODED] = CODE
    return rows.assign(x=x)


def models(trees: int, seed: int) -> dict[str, Callable[[pd.DataFrame], Any]]:
    """Return functions that fit a model to rows; it predicts a frame of rows."""

    def of_sklearn(rows: pd.DataFrame) -> Any:
        forest = RandomForestRegressor(trees, min_samples_leaf=2, random_state=seed)
        return forest.fit(rows[["x", "z"]], rows["y"])

    own: dict[str, Any] = {"seed": seed, "n_jobs": 1}
    return {
        "odt": partial(odrf.odt, FORMULA, **own),
        "odrf": partial(odrf.odrf, FORMULA, n_trees=trees, **own),
        "odbt": partial(odrf.odbt, FORMULA, **own),
        "auto": partial(odrf.auto, FORMULA, n_trees=trees, **own),
        "graf": partial(odrf.graf, FORMULA, n_trees=trees, **own),
        "random forest of scikit-learn": of_sklearn,
    }


def lines_of(options: argparse.Namespace, problem: str) -> list[tuple[Any, ...]]:
    """Return what each model explains, of each repeat."""
    lines: list[tuple[Any, ...]] = []
    for repeat in range(options.repeats):
        rng = np.random.default_rng([options.seed, repeat])
        rows, _ = simulate(rng)
        new, mean = simulate(rng)
        rows = spoilt(rows, problem, rng)
        for name, fit in models(options.trees, options.seed + repeat).items():
            off = np.asarray(fit(rows).predict(new[["x", "z"]])) - mean
            lines.append((repeat, name, 1 - np.mean(off**2) / mean.var()))
    return lines


def report(lines: pd.DataFrame) -> str:
    """Write the means over the repeats, as markdown."""
    means = lines.pivot_table(index="model", columns="problem", values="explained", sort=False)
    return markdown_table(means[list(PROBLEMS)].map("{:.3f}".format), "variance explained")


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    return go_on(options.out, COLUMNS, [(p,) for p in PROBLEMS], partial(lines_of, options))


def main() -> int:
    """Evaluate the fits, or report an existing csv."""
    options = parser(__doc__ or "", "outlying_values.csv", repeats=5, trees=100).parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
