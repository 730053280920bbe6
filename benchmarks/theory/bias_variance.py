"""Bias and variance of forests on sparse parity, as in Figure 12 of Tomita et al. (2020).

    python -m benchmarks.theory.bias_variance --out bias_variance.csv [--repeats 100] [--trees 500]
                                              [--sizes 250,500,1000,2000,3000] [--jobs 1]
    python -m benchmarks.theory.bias_variance --report bias_variance.csv

The class depends on the signs of three of 20 predictors; none of them alone is informative.
`odrf.bias_variance` fits every method to the same training samples of each size, and decomposes
its 0-1 loss by the definitions of James and of Kohavi and Wolpert.  The csv has one line for each
size and method.  A run with an existing csv adds the missing lines.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from benchmarks.shared.simulated import FORESTS
from odrf import bias_variance, odrf, simulate

METHODS: dict[str, Mapping[str, Any]] = {
    **{name: FORESTS[name] for name in ("RF", "SPORF", "F-RC")},
    "odrf": {},
}
"""Options of each method."""
PANELS = {"bias": "bias", "variance": "variance", "variance_effect": "variance effect"}
PANELS |= {"error": "error rate"}
KEY = ["n", "method"]
TERMS = ["error", "bayes_error", "bias", "variance", "systematic_effect", "variance_effect"]
TERMS += ["kw_noise", "kw_bias2", "kw_variance"]
COLUMNS = [*KEY, "repeats", "trees", *TERMS, *(f"{term}_se" for term in TERMS), "seconds"]


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the decompositions, COLUMNS, continuing the csv."""
    tasks = [(int(n), method) for n in options.sizes.split(",") for method in METHODS]

    def line(n: int, method: str) -> Iterator[tuple[float, ...]]:
        began = time.perf_counter()
        forest = partial(odrf, n_trees=options.trees, n_jobs=1, **METHODS[method])
        result = bias_variance(
            simulate.sparse_parity(),
            {method: forest},
            n,
            repeats=options.repeats,
            test_rows=options.test_rows,
            seed=options.seed,
            n_jobs=options.jobs,
        )
        terms, std_errors = result.table[TERMS].iloc[0], result.std_error[TERMS].iloc[0]
        seconds = round(time.perf_counter() - began, 1)
        yield options.repeats, options.trees, *terms, *std_errors, seconds

    return go_on(options.out, COLUMNS, tasks, line, digits=None)


def report(lines: pd.DataFrame) -> str:
    """Write the panels of the figure as markdown tables, with standard errors over test rows."""
    parts = []
    for term, words in PANELS.items():
        cells = [
            f"{mean:.3f} ± {se:.3f}"
            for mean, se in zip(lines[term], lines[f"{term}_se"], strict=True)
        ]
        shown = lines[KEY].assign(cell=cells).pivot(index="n", columns="method", values="cell")
        order = lines["method"].unique()
        parts.append(f"**{words}**\n\n{markdown_table(shown[order].fillna(''), 'n')}")
    return "\n\n".join(parts)


def main() -> int:
    """Decompose the errors, or report an existing csv."""
    asked = parser(__doc__ or "", "bias_variance.csv", repeats=100, trees=500)
    add = asked.add_argument
    add("--sizes", default="250,500,1000,2000,3000", help="training rows, with commas between")
    add("--test-rows", type=int, default=2000, help="rows that all forests predict")
    add("--jobs", type=int, default=1, help="threads, one forest each")
    options = asked.parse_args()
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
