"""How much too low is an out-of-bag error when the same rows have chosen something?

    python -m benchmarks.errors.optimism --out optimism.csv [--repeats 20] [--trees 200]
    python -m benchmarks.errors.optimism --report optimism.csv

On samples of pure noise and of a problem with signal, the out-of-bag error of a forest is compared
with its error on 2,000 new rows: as grown, as a blend, whose weights the out-of-bag rows choose,
and pruned by out-of-bag rules.  Errors are misclassification rates, or mean squared errors divided
by the variance of the noise.  The csv has one line for each sample and forest.  A run with an
existing csv adds the missing problems.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report
from odrf import odrf
from odrf.results import ODRFResults

ROWS = (100, 400)
NEW_ROWS, PREDICTORS = 2000, 8
KINDS = ("regression", "classification")
SIGNALS = {"noise": 0.0, "signal": 1.0}
FORESTS: dict[str, Callable[..., ODRFResults]] = {
    "as grown": partial(odrf, blend=False),
    'alpha="oob"': partial(odrf, blend=False, alpha="oob"),
    "blend": partial(odrf, blend=True),
}
RULES = ("min", "1se", "oob")
COLUMNS = ["kind", "problem", "n", "repeat", "forest", "oob", "new"]


def simulate(kind: str, signal: float, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw n rows; the response depends on three of the predictors, `signal` times."""
    x = rng.random((n, PREDICTORS))
    mean = signal * (2 * np.sin(np.pi * x[:, 0]) + x[:, 1] - x[:, 2])
    if kind == "regression":
        y = mean + rng.normal(size=n)
    else:
        yes = rng.random(n) < 1 / (1 + np.exp(-2 * (mean - signal * 4 / np.pi)))
        y = np.where(yes, "yes", "no")
    return pd.DataFrame(x).add_prefix("x").assign(y=y)


def errors(forest: ODRFResults, new: pd.DataFrame) -> tuple[float, float]:
    """Return the out-of-bag error and the error on new rows."""
    predicted = forest.predict(new)
    if forest.kind == "regression":
        return forest.oob_error, float(np.mean((predicted - new["y"]) ** 2))
    return forest.oob_error, float(np.mean(predicted.to_numpy(object) != new["y"].to_numpy(object)))


def lines_of(
    options: argparse.Namespace, kind: str, problem: str, n: int
) -> list[tuple[int, str, float, float]]:
    """Return both errors of every forest on every sample."""
    lines = []
    for repeat in range(options.repeats):
        rng = np.random.default_rng([options.seed, n, repeat])
        train, new = (simulate(kind, SIGNALS[problem], rows, rng) for rows in (n, NEW_ROWS))
        fits = {
            name: fit("y ~ .", train, n_trees=options.trees, seed=options.seed + repeat)
            for name, fit in FORESTS.items()
        }
        grown = fits["as grown"]
        fits |= {f'prune(rule="{rule}")': grown.prune(rule=rule) for rule in RULES}
        lines += [(repeat, name, *errors(fit, new)) for name, fit in fits.items()]
    return lines


def report(lines: pd.DataFrame) -> str:
    """Write the mean errors and by how much those out of bag are too low, as markdown.

    Labels and noise of a sample move all its forests alike, so a forest is compared with that as
    grown, too.
    """
    of_sample = ["kind", "problem", "n", "repeat"]
    low = lines.assign(low=lines["new"] - lines["oob"]).pivot_table(
        index=of_sample, columns="forest", values="low"
    )
    more = low.sub(low["as grown"], axis=0)
    levels = of_sample[:-1]
    means = lines.groupby([*levels, "forest"], sort=False)[["oob", "new"]].mean()
    shown = pd.DataFrame(
        {
            "out of bag": [f"{value:.3f}" for value in means["oob"]],
            "new rows": [f"{value:.3f}" for value in means["new"]],
            "too low by": _with_errors(low, levels, means.index),
            "more than as grown": _with_errors(more, levels, means.index),
        },
        index=[", ".join(map(str, key)) for key in means.index],
    )
    return markdown_table(shown, "kind, problem, rows, forest")


def _with_errors(values: pd.DataFrame, levels: list[str], index: pd.Index) -> list[str]:
    """Return the means over samples and their standard errors, as text, in the order of `index`."""
    groups = values.groupby(level=levels, sort=False)
    mean, error = groups.mean().stack()[index], groups.sem().stack()[index]
    return [f"{value:.3f} ± {by:.3f}" for value, by in zip(mean, error, strict=True)]


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    tasks = [(kind, problem, n) for kind in KINDS for problem in SIGNALS for n in ROWS]
    return go_on(options.out, COLUMNS, tasks, partial(lines_of, options))


def main() -> int:
    """Evaluate the forests, or report an existing csv."""
    options = parser(__doc__ or "", "optimism.csv", repeats=20, trees=200).parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
