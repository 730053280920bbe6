"""Are the standard errors of cross-validated and out-of-bag errors right?

    python -m benchmarks.errors.standard_errors --out standard_errors.csv [--repeats 1000] [--quick]
    python -m benchmarks.errors.standard_errors --report standard_errors.csv

The samples are those of ``error_estimates.py``.  Of each, the cross-validated errors of three trees
(the largest, that of the smallest error, that of the 1-SE rule) and the out-of-bag error of a
forest are compared with the errors on many new rows, and their standard errors with two deviations
over samples: that of the stated error minus the error of the same fit on new rows, and that of the
stated error itself.  The sampling variance of the error on new rows is subtracted from the first.

The csv has one line for each kind of sample and fit: means over samples, quotients of the standard
error (the root of its mean square) and these deviations, and the bootstrap errors of the quotients.
A run with an existing csv adds the missing lines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.errors.error_estimates import FOLDS, KINDS, ROWS, arguments, draw
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report
from odrf import odrf, odt
from odrf.fits.scores import out_of_bag_loss

# Rows of a sample, and the share of the samples: fewer where fits take longer.
SIZES = {50: 1.0, 200: 0.5, 1000: 0.25}
FITS = ("tree", "forest")
NEW_ROWS, RESAMPLES = 4000, 500
COLUMNS = [
    *("fit", "kind", "rows", "n", "size", "samples", "stated", "new", "std_error"),
    *("by_difference", "error_of_by_difference", "by_stated", "error_of_by_stated"),
]

Four = tuple[float, float, float, float]


def on_new_rows(fit: Any, new: pd.DataFrame) -> tuple[float, float]:
    """Return the error on new rows, weighted as they are, and its sampling variance."""
    predicted, w = fit.predict(new), new["weight"].to_numpy()
    if fit.kind == "regression":
        losses = ((predicted - new["y"]) ** 2).to_numpy()
    else:
        losses = (predicted.astype(str) != new["y"]).to_numpy(dtype=float)
    mean = float(np.average(losses, weights=w))
    group = new["group"] if "groups" in new.attrs else np.arange(len(new))
    off = np.bincount(group, w * (losses - mean))
    return mean, float(off @ off / w.sum() ** 2)


def of_trees(
    data: pd.DataFrame, new: pd.DataFrame, rows: str, seed: int
) -> Iterator[tuple[str, Four]]:
    """Yield for each tree the stated error, its standard error, the new one, and its variance."""
    tree = odt("y ~ a + b + c + d + e", data, alpha=None, seed=seed, **arguments(rows))
    path = tree.pruning_path(cv=FOLDS)
    root = path.table["error"].iloc[-1]
    for size, k in (("largest", 0), ("min", path.row("min")), ("1se", path.row("1se"))):
        share, std_error = path.table[["xerror", "xstd"]].iloc[k]
        yield size, (root * share, root * std_error, *on_new_rows(path.tree(k), new))


def of_forest(
    data: pd.DataFrame, new: pd.DataFrame, rows: str, trees: int, seed: int
) -> Iterator[tuple[str, Four]]:
    """Yield the same for the out-of-bag error of a forest."""
    fit = odrf("y ~ a + b + c + d + e", data, n_trees=trees, seed=seed, **arguments(rows))
    yield "all trees", (*out_of_bag_loss(fit.fit), *on_new_rows(fit, new))


def quotients(found: NDArray[np.float64]) -> tuple[float, float]:
    """Return the standard error of samples (S, 4) divided by both deviations."""
    stated, std_error, error, variance = found.T
    by_difference = np.var(stated - error, ddof=1) - variance.mean()
    root = np.sqrt(np.mean(std_error**2))
    return root / np.sqrt(max(by_difference, 0.0)), root / stated.std(ddof=1)


def line_of(size: str, samples: list[Four], seed: int) -> tuple[Any, ...]:
    """Return the values of a line."""
    found = np.array(samples)
    rng, S = np.random.default_rng(seed), len(found)
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = np.array([quotients(found[rng.integers(S, size=S)]) for _ in range(RESAMPLES)])
        (by_difference, by_stated), errors = quotients(found), drawn.std(axis=0)
    stated, std_error, error, _ = found.mean(axis=0)
    return size, S, stated, error, std_error, by_difference, errors[0], by_stated, errors[1]


def report(lines: pd.DataFrame) -> str:
    """Write the quotients as markdown."""
    shown = pd.DataFrame(
        {
            "samples": lines["samples"].astype(str),
            "stated too high by, %": (100 * (lines["stated"] / lines["new"] - 1)).map(
                "{:+.1f}".format
            ),
            **{
                f"std. error / deviation of {words}": [
                    f"{value:.2f} ± {error:.2f}"
                    for value, error in lines[[name, f"error_of_{name}"]].to_numpy()
                ]
                for name, words in (
                    ("by_difference", "stated - new"),
                    ("by_stated", "stated"),
                )
            },
        }
    )
    shown.index = pd.Index(
        lines[["fit", "size", "kind", "rows", "n"]].astype(str).agg(", ".join, 1)
    )
    return markdown_table(shown, "fit, size, response, rows, n")


def main() -> int:
    """Compare the standard errors, or report an existing csv."""
    asked = parser(__doc__ or "", "standard_errors.csv", repeats=1000, trees=100)
    asked.add_argument("--quick", action="store_true", help="4 samples of 50 rows, 20 trees")
    options = asked.parse_args()
    sizes = SIZES
    if options.quick:
        options.repeats, options.trees, sizes = 4, 20, {50: 1.0}

    def lines_of(fit: str, kind: str, rows: str, n: int) -> Iterator[tuple[Any, ...]]:
        found: dict[str, list[Four]] = {}
        for sample in range(round(sizes[n] * options.repeats)):
            rng = np.random.default_rng([options.seed, n, sample])
            data, new = draw(kind, rows, n, rng), draw(kind, rows, NEW_ROWS, rng)
            if rows == "groups":
                new.attrs["groups"] = True
            drawn = (
                of_trees(data, new, rows, sample)
                if fit == "tree"
                else of_forest(data, new, rows, options.trees, sample)
            )
            for size, four in drawn:
                found.setdefault(size, []).append(four)
        return (line_of(size, samples, options.seed) for size, samples in found.items())

    tasks = [(fit, kind, rows, n) for fit in FITS for n in sizes for kind in KINDS for rows in ROWS]
    return run_or_report(options, lambda _: go_on(options.out, COLUMNS, tasks, lines_of), report)


if __name__ == "__main__":
    sys.exit(main())
