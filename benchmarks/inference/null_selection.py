"""Which predictors are chosen if none matters?

    python -m benchmarks.inference.null_selection --out null_selection.csv [--repeats 500] [--quick]
    python -m benchmarks.inference.null_selection --report null_selection.csv

The response is drawn independently of predictors of many types.  Counted is, over samples, which
predictor the first split of a tree uses (of an oblique tree the one with the largest coefficient),
and which has the largest out-of-bag importance of a forest.  A fair rule takes each equally often.
A chi-square test says whether it does.  Breiman and others (1984) knew that the exhaustive search
for cuts prefers predictors with many values.

The csv has one line for each sample.  A run with an existing csv adds the missing ones.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chisquare

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report, with_quick
from odrf import odrf, odt

ROWS = 120
KINDS = ("regression", "classification")
PREDICTORS = ("number", "tens", "fives", "binary", "factor_3", "factor_9", "holes")
COLUMNS = ["rule", "kind", "sample", "chosen"]


def draw(kind: str, rng: np.random.Generator) -> pd.DataFrame:
    """Draw a sample without any relation."""
    number, holes = rng.normal(size=(2, ROWS))
    levels = {f"factor_{k}": rng.integers(0, k, ROWS).astype(str) for k in (3, 9)}
    numbers = {"tens": rng.integers(0, 10, ROWS), "fives": rng.integers(0, 5, ROWS)}
    binary = {"binary": rng.integers(0, 2, ROWS)}
    holes[rng.random(ROWS) < 0.2] = np.nan
    data = pd.DataFrame({"number": number, **numbers, **binary, **levels, "holes": holes})
    y = rng.normal(size=ROWS)
    return data.assign(y=y if kind == "regression" else np.where(y > 0, "yes", "no"))


def of_first_split(data: pd.DataFrame, seed: int, **options: Any) -> str:
    """Return the predictor of the first split, by its coefficient."""
    tree = odt("y ~ .", data, max_leaves=2, alpha=None, seed=seed, **options)
    if not len(tree.splits):
        return "none"
    first = tree.splits.set_index("predictor")["scaled_coefficient"].abs()
    return str(first.groupby(level=0).max().idxmax())


def of_importance(data: pd.DataFrame, seed: int) -> str:
    """Return the predictor of the largest out-of-bag importance."""
    forest = odrf("y ~ .", data, n_trees=100, seed=seed)
    return str(forest.importance("permutation")["importance"].idxmax())


RULES = {
    "axis split": lambda data, seed: of_first_split(data, seed, projection="axis"),
    "oblique split": of_first_split,
    "out-of-bag importance": of_importance,
}


def report(lines: pd.DataFrame) -> str:
    """Write how often each predictor is chosen, in per cent, and the test, as markdown."""
    names = [*PREDICTORS, "none"]
    counts = pd.crosstab([lines["rule"], lines["kind"]], lines["chosen"]).reindex(
        columns=names, fill_value=0
    )
    p_value = [chisquare(row).pvalue for row in counts[list(PREDICTORS)].to_numpy()]
    shown = counts.div(counts.sum(axis=1), axis=0).mul(100).map("{:.0f}".format)
    shown = shown.assign(p_value=[f"{p:.2g}" for p in p_value])
    shown.index = pd.Index([", ".join(key) for key in counts.index])
    return markdown_table(shown, "rule, response")


def main() -> int:
    """Count the choices, or report an existing csv."""
    asked = parser(__doc__ or "", "null_selection.csv", repeats=500, trees=100)
    options = with_quick(asked, repeats=2).parse_args()

    def line_of(rule: str, kind: str, sample: int) -> list[tuple]:
        rng = np.random.default_rng([options.seed, sample])
        return [(RULES[rule](draw(kind, rng), sample),)]

    tasks = [
        (rule, kind, sample)
        for rule in RULES
        for kind in KINDS
        for sample in range(options.repeats)
    ]
    return run_or_report(options, lambda _: go_on(options.out, COLUMNS, tasks, line_of), report)


if __name__ == "__main__":
    sys.exit(main())
