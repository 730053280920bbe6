"""Size and power of tests of importance, and false discoveries of knockoffs.

    python -m benchmarks.inference.importance_tests --out importance_tests.csv [--repeats 200]
                                                    [--trees 30] [--rows 200]
                                                    [--kinds test knockoff]
                                                    [--tests "conditional t" "loco t"]
    python -m benchmarks.inference.importance_tests --report importance_tests.csv

Samples for tests have two relevant predictors (one linear, one by a sine), two that tell nothing
but have a correlation with them (0, 0.5 or 0.9), and one of noise.  The tests of the package are
compared with those of hidimstat, if it is installed, with the same forests: its conditional
importance and its leave-one-covariate-out, which train on one half of the rows and test on the
other.  In more than 2,000 rows, forests that estimate the laws of stand-ins draw a part of the
rows.  Knockoffs are drawn for 30 predictors, of which 15 are relevant, in 300 rows.  A run with an
existing csv adds the missing samples.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from odrf import odrf
from odrf.sklearn import ODRFRegressor

ROWS, WIDE_ROWS = 200, 300
CORRELATIONS = (0.0, 0.5, 0.9)
RELEVANT, RELATED, NOISE = ("a", "b"), ("c", "d"), ("e",)
WIDE, WIDE_RELEVANT, SIZE = 30, 15, 0.6
TESTS = ("conditional t", "conditional wilcoxon", "loco t", "loco wilcoxon")
LEVEL, FDR = 0.05, 0.1
TEST, KNOCKOFF = "test", "knockoff"
COLUMNS = ["correlation", "repeat", "kind", "method", "term", "p_value"]


def sample(rows: int, correlation: float, rng: np.random.Generator) -> pd.DataFrame:
    """Draw the rows of a test."""
    covariance = np.eye(5)
    for i, j in ((0, 2), (1, 3)):
        covariance[i, j] = covariance[j, i] = correlation
    x = rng.multivariate_normal(np.zeros(5), covariance, size=rows)
    data = pd.DataFrame(x, columns=[*RELEVANT, *RELATED, *NOISE])
    return data.assign(y=0.4 * x[:, 0] + 0.6 * np.sin(1.5 * x[:, 1]) + rng.normal(size=rows))


def wide_sample(correlation: float, rng: np.random.Generator) -> pd.DataFrame:
    """Draw the rows of knockoffs; the correlation of neighbours falls with their distance."""
    apart = np.abs(np.subtract.outer(np.arange(WIDE), np.arange(WIDE)))
    x = rng.multivariate_normal(np.zeros(WIDE), correlation**apart, size=WIDE_ROWS)
    relevant = x[:, ::2][:, :WIDE_RELEVANT]
    data = pd.DataFrame(x).add_prefix("x")
    return data.assign(y=SIZE * relevant.sum(axis=1) + rng.normal(size=WIDE_ROWS))


def lines_of(
    correlation: float,
    repeat: int,
    kind: str,
    rows: int,
    tests: Sequence[str],
    trees: int,
    seed: int,
) -> Iterator[tuple[str, str, float]]:
    """Yield method, term and p-value; of knockoffs, the smallest rate at which it is selected."""
    rng = np.random.default_rng([seed, repeat, round(10 * correlation)])
    options: dict[str, Any] = {"n_trees": trees, "min_leaf": 5, "seed": repeat, "n_jobs": 1}
    if kind == KNOCKOFF:
        forest = odrf("y ~ .", wide_sample(correlation, rng), blend=False, **options)
        found = forest.importance("knockoff")
        yield from ((KNOCKOFF, *line) for line in found[["term", "p_adjusted"]].to_numpy())
        return
    data = sample(rows, correlation, rng)
    forest = odrf("y ~ .", data, blend=False, **options)
    for method in tests:
        type, test = method.split()
        found = forest.importance(type, test=test)
        yield from ((method, *line) for line in found[["term", "p_value"]].to_numpy())
    if find_spec("hidimstat"):
        yield from _by_hidimstat(data, options)


def _by_hidimstat(data: pd.DataFrame, options: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Test by hidimstat with a forest of the package."""
    hidimstat = import_module("hidimstat")
    X, y, half = data.drop(columns="y"), data["y"].to_numpy(), len(data) // 2
    own = {"random_state" if name == "seed" else name: value for name, value in options.items()}
    forest = ODRFRegressor(blend=False, **own).fit(X[:half], y[:half])
    tests = {
        "hidimstat CFI": hidimstat.CFI(forest, n_permutations=10, random_state=options["seed"]),
        "hidimstat LOCO": hidimstat.LOCO(forest),
    }
    for method, test in tests.items():
        test.fit(X[:half], y[:half])
        test.importance(X[half:], y[half:])
        yield from ((method, *line) for line in zip(X.columns, test.pvalues_, strict=True))


def report(runs: pd.DataFrame) -> str:
    """Return sizes, powers and false discovery rates as Markdown."""
    tests, rows = runs[runs["kind"] != KNOCKOFF], []
    for (method, correlation), group in tests.groupby(["method", "correlation"], sort=False):
        found = (group["p_value"] <= LEVEL).groupby(group["term"]).mean()
        line = {
            "test": str(method),
            "correlation": f"{correlation:g}",
            "samples": str(group["repeat"].nunique()),
        }
        nulls = float(found[[*RELATED, *NOISE]].mean())
        percents = {term: f"{100 * found[term]:.1f}" for term in RELEVANT}
        rows.append(line | percents | {"size": f"{100 * nulls:.1f}"})
    text = markdown_table(pd.DataFrame(rows).set_index("test"), "test")
    wide = {}
    for correlation, group in runs[runs["kind"] == KNOCKOFF].groupby("correlation"):
        selected = group[group["p_value"] <= FDR]
        relevant = selected["term"].str[1:].astype(int) % 2 == 0
        n = group["repeat"].nunique()
        rate = (~relevant).groupby(selected["repeat"]).mean().sum() / n
        power = relevant.sum() / (n * WIDE_RELEVANT)
        line = {"samples": str(n), "false discovery rate": f"{rate:.3f}", "power": f"{power:.2f}"}
        wide[str(correlation)] = line
    if not wide:
        return text
    return f"{text}\n\n{markdown_table(pd.DataFrame(wide).T, 'correlation')}"


def main() -> None:
    """Run or report."""
    asked = parser(__doc__, "importance_tests.csv", 200, 30)
    asked.add_argument("--rows", type=int, default=ROWS, help="rows of each sample for tests")
    kinds = (TEST, KNOCKOFF)
    asked.add_argument("--kinds", nargs="+", choices=kinds, default=kinds, help="what is tried")
    asked.add_argument("--tests", nargs="+", choices=TESTS, default=TESTS, help="of the package")
    options: argparse.Namespace = asked.parse_args()
    if options.report:
        print(report(pd.read_csv(options.report)))
        return
    warnings.simplefilter("ignore")
    tasks = [
        (correlation, repeat, kind)
        for repeat in range(options.repeats)
        for correlation in CORRELATIONS
        for kind in options.kinds
    ]
    evaluated = partial(
        lines_of,
        rows=options.rows,
        tests=options.tests,
        trees=options.trees,
        seed=options.seed,
    )
    print(report(go_on(options.out, COLUMNS, tasks, evaluated)))


if __name__ == "__main__":
    main()
