"""Do out-of-bag and cross-validated errors estimate the errors on new rows?

    python -m benchmarks.errors.error_estimates --out error_estimates.csv [--repeats 200] [--quick]
    python -m benchmarks.errors.error_estimates --report error_estimates.csv

On samples of a known problem, errors that a fit states are compared with its errors on many new
rows: the out-of-bag error of a forest, and the cross-validated error of a pruned tree with its
standard error.  Rows are independent, have case weights that depend on a predictor, or come in
groups of ten that share an effect; then new rows are of new groups.  Errors are misclassification
rates or mean squared errors.

An estimate is unbiased if its mean over samples is that of the errors on new rows.  A standard
error is right if it is the standard deviation, over samples, of the difference between both.
The csv has one line for each sample.  A run with an existing csv adds the missing ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report
from odrf import odrf, odt

KINDS = ("regression", "classification")
ROWS = ("independent", "weighted", "groups")
# Rows of a sample, and the share of the samples: fewer where fits take longer.
SIZES = {50: 1.0, 200: 0.5, 1000: 0.15, 5000: 0.05}
NEW_ROWS, IN_GROUP, FOLDS = 4000, 10, 5
COLUMNS = ["fit", "kind", "rows", "n", "sample", "stated", "std_error", "new"]


def draw(kind: str, rows: str, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw a sample with its weights and groups; classes are whether the number is positive."""
    data = pd.DataFrame(rng.uniform(-1, 1, (n, 5)), columns=list("abcde"))
    group = np.arange(n) // IN_GROUP
    shared = rng.normal(size=n)[group] if rows == "groups" else 0.0
    signal = 2 * data["a"] + 2 * data["b"] * data["c"] + shared
    number = signal + rng.normal(size=n) * 0.5
    data["y"] = number if kind == "regression" else np.where(number > 0, "yes", "no")
    data["weight"] = np.where(data["a"] > 0, 4.0, 1.0) if rows == "weighted" else 1.0
    return data.assign(group=group)


def arguments(rows: str) -> dict[str, Any]:
    """Return what tells a fit how the rows were drawn."""
    return {"weighted": {"weights": "weight"}, "groups": {"groups": "group"}}.get(rows, {})


def error(fit: Any, new: pd.DataFrame) -> float:
    """Return the error on new rows, weighted as they are."""
    predicted = fit.predict(new)
    if fit.kind == "regression":
        losses = (predicted - new["y"]) ** 2
    else:
        losses = (predicted.astype(str) != new["y"]).astype(float)
    return float(np.average(losses, weights=new["weight"]))


def of_forest(data: pd.DataFrame, new: pd.DataFrame, rows: str, trees: int, seed: int) -> tuple:
    """Return the out-of-bag error of a forest, and its error on new rows."""
    fit = odrf("y ~ a + b + c + d + e", data, n_trees=trees, seed=seed, **arguments(rows))
    return float(fit.oob_error), np.nan, error(fit, new)


def of_tree(data: pd.DataFrame, new: pd.DataFrame, rows: str, trees: int, seed: int) -> tuple:
    """Return the cross-validated error of the 1-SE tree with its standard error, and the error."""
    tree = odt("y ~ a + b + c + d + e", data, alpha=None, seed=seed, **arguments(rows))
    path = tree.pruning_path(cv=FOLDS)
    best = path.best("1se")
    row = path.table.loc[path.table["leaves"] == best.n_leaves].iloc[0]
    root = path.table["error"].iloc[-1]
    return root * row["xerror"], root * row["xstd"], error(best, new)


FITS: dict[str, Callable[..., tuple]] = {"forest": of_forest, "tree": of_tree}


def report(lines: pd.DataFrame) -> str:
    """Write means over samples, their quotient, and standard errors, as markdown."""
    shown = []
    for key, cell in lines.groupby(COLUMNS[:4], sort=False):
        off, of_new = (cell["stated"] - cell["new"]).to_numpy(), cell["new"].mean()
        quotient, deviation = off.mean() / of_new, off.std(ddof=1)
        of_mean = deviation / np.sqrt(len(off)) / of_new
        ratio = cell["std_error"].mean() / deviation
        shown.append(
            [
                ", ".join(map(str, key)),
                str(len(cell)),
                f"{cell['stated'].mean():.3f}",
                f"{cell['new'].mean():.3f}",
                f"{100 * quotient:+.1f} ± {100 * of_mean:.1f}",
                "" if np.isnan(ratio) else f"{ratio:.2f}",
            ]
        )
    names = ["", "samples", "stated", "new rows", "stated too high by, %", "std. error / deviation"]
    table = pd.DataFrame(shown, columns=names).set_index("")
    return markdown_table(table, "fit, response, rows, size")


def main() -> int:
    """Estimate the errors, or report an existing csv."""
    asked = parser(__doc__ or "", "error_estimates.csv", repeats=200, trees=300)
    asked.add_argument("--quick", action="store_true", help="4 samples of 50 rows, 50 trees")
    options = asked.parse_args()
    sizes = SIZES
    if options.quick:
        options.repeats, options.trees, sizes = 4, 50, {50: 1.0}

    def line_of(fit: str, kind: str, rows: str, n: int, sample: int) -> list[tuple]:
        rng = np.random.default_rng([options.seed, n, sample])
        data, new = draw(kind, rows, n, rng), draw(kind, rows, NEW_ROWS, rng)
        return [FITS[fit](data, new, rows, options.trees, sample)]

    tasks = [
        (fit, kind, rows, n, sample)
        for fit in FITS
        for kind in KINDS
        for rows in ROWS
        for n, share in sizes.items()
        for sample in range(round(share * options.repeats))
    ]
    return run_or_report(options, lambda _: go_on(options.out, COLUMNS, tasks, line_of), report)


if __name__ == "__main__":
    sys.exit(main())
