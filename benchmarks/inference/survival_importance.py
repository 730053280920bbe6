"""Size and power of tests of importance for times to an event, and false discoveries of knockoffs.

    python -m benchmarks.inference.survival_importance --out survival_importance.csv
                                                       [--repeats 100] [--trees 30] [--rows 200]
                                                       [--kinds test knockoff] [--quick]
    python -m benchmarks.inference.survival_importance --report survival_importance.csv

Samples for tests have two predictors on which the hazard depends (one linear, one by a sine), two
that tell nothing but have a correlation with them (0, 0.5 or 0.9), and one of noise; about a third
of the rows is censored.  The tests reject at 5 %.  Beside them stands the interval of 95 % of the
permutation importance, which takes a predictor as important where it is above 0: nominally in 2.5 %
of those without influence.  Knockoffs are drawn for 30 predictors, of which 15 are relevant, in 300
rows, and selected so that false discoveries are 10 % at most.  A run with an existing csv adds the
missing samples.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.inference.importance_tests import (
    CORRELATIONS,
    FDR,
    KNOCKOFF,
    LEVEL,
    NOISE,
    RELATED,
    RELEVANT,
    TEST,
    WIDE_RELEVANT,
    sample,
    wide_sample,
)
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report, with_quick
from odrf import odrf

ROWS, CENSORED = 200, 0.5  # the hazard of censoring
TESTS = ("conditional", "loco")
PERMUTATION = "permutation"
# What the logarithm of the hazard has of a linear predictor, of a sine, and of 15 predictors.
LINEAR, SINE, SIZE = 0.6, 0.9, 0.6
COLUMNS = ["correlation", "repeat", "kind", "method", "term", "rejected"]


def with_times(x: pd.DataFrame, log_hazard: pd.Series, rng: np.random.Generator) -> pd.DataFrame:
    """Return predictors with exponential times and censoring."""
    died = rng.exponential(np.exp(-log_hazard))
    left = rng.exponential(1 / CENSORED, len(x))
    return x.assign(time=np.minimum(died, left), event=died <= left)


def lines_of(
    correlation: float, repeat: int, kind: str, rows: int, trees: int, seed: int
) -> Iterator[tuple[str, Any, bool]]:
    """Yield method, term and whether it is taken as important, on one sample."""
    rng = np.random.default_rng([seed, repeat, round(10 * correlation)])
    options: dict[str, Any] = {"n_trees": trees, "blend": False, "seed": repeat, "n_jobs": 1}
    if kind == KNOCKOFF:
        x = wide_sample(correlation, rng).drop(columns="y")
        log_hazard = SIZE * x.iloc[:, ::2].sum(axis=1)
    else:
        x = sample(rows, correlation, rng).drop(columns="y")
        log_hazard = LINEAR * x["a"] + SINE * np.sin(1.5 * x["b"])
    forest = odrf("Surv(time, event) ~ .", with_times(x, log_hazard, rng), **options)
    if kind == KNOCKOFF:
        important = {KNOCKOFF: forest.importance(KNOCKOFF).set_index("term")["p_adjusted"] <= FDR}
    else:
        tests = {each: forest.importance(each).set_index("term") for each in TESTS}
        important = {each: table["p_value"] <= LEVEL for each, table in tests.items()}
        important[PERMUTATION] = forest.importance(PERMUTATION)["conf_low"] > 0
    for method, rejected in important.items():
        yield from ((method, term, value) for term, value in rejected.items())


def percentage(of_samples: pd.Series) -> str:
    """Return the mean over the samples, in per cent, with its standard error."""
    share = of_samples.to_numpy(dtype=np.float64)
    error = share.std(ddof=1) / np.sqrt(len(share))
    return f"{100 * share.mean():.1f} ± {100 * error:.1f}"


def report(lines: pd.DataFrame) -> str:
    """Return rejection rates, and false discovery rates of knockoffs, as Markdown."""
    rows, wide = [], []
    for (method, correlation), part in lines.groupby(["method", "correlation"], sort=False):
        line = {"method": str(method), "correlation": f"{correlation:g}"}
        line["samples"] = str(part["repeat"].nunique())
        if method == KNOCKOFF:
            wide.append(line | of_knockoffs(part))
            continue
        for title, terms in {
            "relevant, linear": RELEVANT[:1],
            "relevant, a sine": RELEVANT[1:],
            "correlated with these": RELATED,
            "noise": NOISE,
        }.items():
            of_terms = part[part["term"].isin(terms)]
            line[title] = percentage(of_terms.groupby("repeat")["rejected"].mean())
        rows.append(line)
    tables = [
        markdown_table(pd.DataFrame(each).set_index("method"), "method")
        for each in (rows, wide)
        if each
    ]
    return "\n\n".join(tables)


def of_knockoffs(lines: pd.DataFrame) -> dict[str, str]:
    """Return the rates of false discoveries and of relevant predictors found, with their errors."""
    selected = lines[lines["rejected"]]
    relevant = selected["term"].str[1:].astype(int) % 2 == 0
    samples = lines["repeat"].unique()
    found = relevant.groupby(selected["repeat"]).agg(["mean", "sum"])
    found = found.reindex(samples, fill_value=np.nan)
    return {
        "false discoveries, %": percentage(1 - found["mean"].fillna(1.0)),
        "power, %": percentage(found["sum"].fillna(0.0) / WIDE_RELEVANT),
    }


def main() -> int:
    """Run the comparison, or print the report of a csv."""
    needed = parser(__doc__, "survival_importance.csv", repeats=100, trees=30)
    needed.add_argument("--rows", type=int, default=ROWS, help="rows of each sample for tests")
    kinds = (TEST, KNOCKOFF)
    needed.add_argument("--kinds", nargs="+", choices=kinds, default=kinds, help="what is tried")
    options = with_quick(needed, repeats=2, rows=60, trees=10).parse_args()
    return run_or_report(options, run, report)


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    warnings.simplefilter("ignore")
    tasks = [
        (correlation, repeat, kind)
        for repeat, correlation, kind in product(
            range(options.repeats), CORRELATIONS, options.kinds
        )
    ]
    evaluated = partial(lines_of, rows=options.rows, trees=options.trees, seed=options.seed)
    return go_on(options.out, COLUMNS, tasks, evaluated)


if __name__ == "__main__":
    sys.exit(main())
