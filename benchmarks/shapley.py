"""Shapley values: do they add up, how far off are drawn ones, and how fast are they.

    python benchmarks/shapley.py --out shapley.csv
    python benchmarks/shapley.py --quick

For each kind of fit, on a table of 20 predictors: ``unexplained``, the largest difference between
what the values of a row add up to and its prediction minus the mean of the background; seconds for
a row and the root mean squared error, by default and where all values are drawn; ``within_3_se``,
the share of drawn values within three of their standard errors of the exact value.  Where values of
votes cannot be enumerated, very many draws stand for the exact value.

The permutation explainer of the package shap explains the same rows by `predict` with the same
background.  Its error falls with the square root of its time.  So its time to reach an error of
ours is ``shap_seconds * (shap_error / error)**2``; ``times_faster`` is this over our time, for
drawn values, and ``times_faster_by_default`` with our default, infinite where values are exact.
Seconds are those of the processor, with one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import odrf
from odrf.results.boosted import ODBTResults
from odrf.results.explaining.explained import Explained

PREDICTORS = [f"x{j}" for j in range(1, 21)]
FITS: dict[str, Callable[..., Any]] = {
    "forest": odrf.odrf, "boosted": odrf.odbt, "guided": odrf.graf,
}  # fmt: skip
# Enough to enumerate all coalitions of a tree and a pair of rows.
ALL_BOXES, MANY_DRAWS = 2**19, 2000
# Errors that are so small beside those of shap are rounding.
ROUNDING = 1e-9


def main() -> None:
    """Measure each kind of fit, and write a csv file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--background", type=int, default=100)
    parser.add_argument("--explained", type=int, default=4)
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


def measures(fit: Explained, table: pd.DataFrame, options: argparse.Namespace) -> dict:
    """Return what is measured of a fit."""
    new, background = table.head(options.explained), table.tail(options.background)
    fit.shap(new.head(1), background=background, max_boxes=2)  # compiled
    exact, _ = timed(fit, new, background, max_boxes=ALL_BOXES, draws=MANY_DRAWS)
    usual, usual_seconds = timed(fit, new, background)
    drawn, seconds = timed(fit, new, background, max_boxes=0)
    theirs, shap_seconds = by_shap(fit, new, background)
    error, usual_error, shap_error = (
        root_mean(found - exact.values) for found in (drawn.values, usual.values, theirs)
    )
    away = np.abs(drawn.values - exact.values)
    n = len(new)
    return {
        "unexplained": max(map(unexplained, (exact, usual, drawn))),
        "largest_value": np.abs(exact.values).max(),
        "seconds": seconds / n,
        "error": error,
        "within_3_se": (away <= 3 * drawn.std_error + 1e-12).mean(),
        "seconds_by_default": usual_seconds / n,
        "error_by_default": usual_error,
        "drawn_by_default": usual.drawn,
        "shap_seconds": shap_seconds / n,
        "shap_error": shap_error,
        "times_faster": times_faster(seconds, error, shap_seconds, shap_error),
        "times_faster_by_default": times_faster(
            usual_seconds, usual_error, shap_seconds, shap_error
        ),
    }


def times_faster(seconds: float, error: float, shap_seconds: float, shap_error: float) -> float:
    """Return the time that shap would need for our error, over ours."""
    if error < ROUNDING * shap_error:
        return np.inf
    return shap_seconds * (shap_error / error) ** 2 / seconds


def timed(fit: Explained, new: Any, background: Any, **how: Any) -> tuple[Any, float]:
    """Return Shapley values and the seconds they take."""
    start = time.process_time()
    found = fit.shap(new, background=background, **how)
    return found, time.process_time() - start


def by_shap(
    fit: Explained, new: pd.DataFrame, background: pd.DataFrame
) -> tuple[NDArray[np.float64], float]:
    """Return the values that the permutation explainer of shap gives, and its seconds."""
    shap = import_module("shap")
    kind = "response" if fit.classes is None else "prob"
    if isinstance(fit, ODBTResults):
        kind = "link"

    def predict(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return fit.predict(pd.DataFrame(rows, columns=PREDICTORS), kind).to_numpy()

    masker = shap.maskers.Independent(background[PREDICTORS].to_numpy(), len(background))
    explainer = shap.explainers.Permutation(predict, masker, seed=1)
    rows = new[PREDICTORS].to_numpy()
    explainer(rows[:1])
    start = time.process_time()
    found = explainer(rows, silent=True).values
    return found, time.process_time() - start


def unexplained(found: Any) -> float:
    """Return by how much values and predictions differ at most."""
    added = found.values.sum(axis=1).reshape(len(found.data), -1) + found.base
    return float(np.abs(added - found.prediction).max())


def root_mean(values: NDArray[np.float64]) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt((values**2).mean()))


if __name__ == "__main__":
    main()
