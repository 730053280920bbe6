"""Shapley values: do they add up, how far off are drawn ones, and how fast are they.

    python benchmarks/shapley.py --out shapley.csv
    python benchmarks/shapley.py --quick

For each kind of fit, on a table of 20 predictors: ``unexplained``, the largest difference between
what the values of a row add up to and its prediction minus the mean of the background;
``within_3_se``, the share of drawn values within three of their standard errors of the exact value,
where all values are drawn; ``error``, their root mean squared error; seconds for a row, exact and
drawn.  The permutation explainer of the package shap explains the same rows by `predict` with the
same background.  Its error falls with the square root of its time.  So ``times_faster`` is its time
to reach the error of our drawn values, ``shap_seconds * (shap_error / error)**2``, over our time.
One thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import odrf
from odrf.results.fitted import FittedResults

PREDICTORS = [f"x{j}" for j in range(1, 21)]
FITS: dict[str, Callable[..., Any]] = {
    "forest": odrf.odrf, "boosted": odrf.odbt, "guided": odrf.graf,
}  # fmt: skip
# Enough to enumerate all coalitions of most pairs of rows.
ALL_BOXES = 2**20


def main() -> None:
    """Measure each kind of fit, and write a csv file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--background", type=int, default=100)
    parser.add_argument("--explained", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="10 trees, 10 background rows")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.trees, options.background, options.explained = 200, 10, 10, 4
    warnings.simplefilter("ignore")
    table = made_up(options.rows)
    measured = []
    for kind, function in FITS.items():
        for response in ("y", "c"):
            formula = f"{response} ~ {' + '.join(PREDICTORS)}"
            fit = function(formula, table, n_trees=options.trees, n_jobs=1, seed=1)
            found = {"kind": kind, "response": response} | measures(fit, table, options)
            measured.append(found)
            print(pd.Series(found).to_string(), "\n", flush=True)
    if options.out:
        pd.DataFrame(measured).to_csv(options.out, index=False)


def made_up(n: int) -> pd.DataFrame:
    """Return 20 predictors, of which 6 matter, a number and two classes."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(n, 20)), columns=PREDICTORS)
    signal = table["x1"] * table["x2"] + table["x3"] + table["x4"] - np.sin(2 * table["x5"])
    table["y"] = signal + table["x6"] + rng.normal(size=n) / 2
    table["c"] = np.where(table["y"] > 0, "over", "below")
    return table


def measures(fit: FittedResults, table: pd.DataFrame, options: argparse.Namespace) -> dict:
    """Return what is measured of a fit."""
    new, background = table.head(options.explained), table.tail(options.background)
    fit.shap(new.head(1), background=background, max_boxes=2)  # compiled
    exact, exact_seconds = timed(fit, new, background, max_boxes=ALL_BOXES)
    drawn, seconds = timed(fit, new, background, max_boxes=0)
    away = np.abs(drawn.values - exact.values)
    theirs, shap_seconds = by_shap(fit, new, background)
    n = len(new)
    error, shap_error = root_mean(away), root_mean(theirs - exact.values)
    in_time = shap_seconds * (shap_error / error) ** 2 / seconds if error > 0 else np.inf
    return {
        "unexplained": max(unexplained(exact), unexplained(drawn)),
        "drawn_in_exact": exact.drawn,
        "within_3_se": (away <= 3 * drawn.std_error + 1e-12).mean(),
        "largest_value": np.abs(exact.values).max(),
        "error": error,
        "seconds": seconds / n,
        "exact_seconds": exact_seconds / n,
        "shap_error": shap_error,
        "shap_seconds": shap_seconds / n,
        "times_faster": in_time,
    }


def timed(fit: FittedResults, new: Any, background: Any, **how: Any) -> tuple[Any, float]:
    """Return Shapley values and the seconds they take."""
    start = time.perf_counter()
    found = fit.shap(new, background=background, **how)
    return found, time.perf_counter() - start


def by_shap(
    fit: FittedResults, new: pd.DataFrame, background: pd.DataFrame
) -> tuple[NDArray[np.float64], float]:
    """Return the values that the permutation explainer of shap gives, and its seconds."""
    import shap  # noqa: PLC0415

    kind = "response" if fit.classes is None else "prob"
    if isinstance(fit, odrf.results.boosted.ODBTResults):
        kind = "link"

    def predict(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return fit.predict(pd.DataFrame(rows, columns=PREDICTORS), kind).to_numpy()

    masker = shap.maskers.Independent(background[PREDICTORS].to_numpy(), len(background))
    explainer = shap.explainers.Permutation(predict, masker, seed=1)
    rows = new[PREDICTORS].to_numpy()
    explainer(rows[:1])
    start = time.perf_counter()
    found = explainer(rows, silent=True).values
    return found, time.perf_counter() - start


def unexplained(found: Any) -> float:
    """Return by how much values and predictions differ at most."""
    added = found.values.sum(axis=1).reshape(len(found.data), -1) + found.base
    return float(np.abs(added - found.prediction).max())


def root_mean(values: NDArray[np.float64]) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt((values**2).mean()))


if __name__ == "__main__":
    main()
