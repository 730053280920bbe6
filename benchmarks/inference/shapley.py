"""Shapley values: do they add up, how far off are drawn ones, and how fast are they.

    python -m benchmarks.inference.shapley --out shapley.csv
    python -m benchmarks.inference.shapley --quick

For each kind of fit of 20 predictors, to few and to many rows, and each `max_boxes` of `shap()`:
``drawn``, the share of games of which values are drawn; ``unexplained``, the largest difference
between what the values of a row add up to and its prediction minus the mean of the background;
seconds for a row; the root mean squared error; ``within_3_se``, the share of values within three
of their standard errors of the exact value.  Where values of votes cannot be enumerated, very many
draws stand for the exact value.

The permutation explainer of the package shap explains the same rows by `predict` with the same
background.  Its error falls with the square root of its time.  So its time to reach an error of
ours is ``shap_seconds * (shap_error / error)**2``; ``times_faster`` is this over our time, infinite
where our values are exact.  Seconds are those of the processor, with one thread.
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
from odrf.results.forest import ODRFResults

PREDICTORS = [f"x{j}" for j in range(1, 21)]
Sums = ODBTResults | ODRFResults
FITS: dict[str, Callable[..., Any]] = {
    "forest": odrf.odrf, "boosted": odrf.odbt, "guided": odrf.graf,
}  # fmt: skip
# Enough to enumerate all coalitions of a tree and a pair of rows.
ALL_BOXES, MANY_DRAWS = 2**19, 2000
# Orders alone, the default, and a finer division.
SETTINGS = (0, 4096, 2**14)
# Errors that are so small beside those of shap are rounding.
ROUNDING = 1e-9


def main() -> None:
    """Measure each kind of fit, and write a csv file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--background", type=int, default=100)
    parser.add_argument("--explained", type=int, nargs="+", default=[4, 1], help="for each --rows")
    parser.add_argument("--quick", action="store_true", help="10 trees, 10 background rows")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.trees, options.background, options.explained = [200], 10, 10, [4]
    warnings.simplefilter("ignore")
    measured = []
    for rows, explained in zip(options.rows, options.explained, strict=True):
        table = made_up(rows)
        new, background = table.head(explained), table.tail(options.background)
        for kind, function in FITS.items():
            # probabilities of guided forests are shares of votes, which have no Shapley values here
            for response in ("y",) if kind == "guided" else ("y", "c"):
                formula = f"{response} ~ {' + '.join(PREDICTORS)}"
                fit = function(formula, table, n_trees=options.trees, n_jobs=1, seed=1)
                found = measures(fit, new, background)
                found.insert(0, "explained", explained)
                found.insert(0, "rows", rows)
                found.insert(0, "response", response)
                found.insert(0, "kind", kind)
                measured.append(found)
                print(found.to_string(), "\n", flush=True)
                if options.out:
                    pd.concat(measured).to_csv(options.out, index=False)


def made_up(n: int) -> pd.DataFrame:
    """Return 20 predictors, of which 6 matter, a number and two classes."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(n, 20)), columns=PREDICTORS)
    signal = table["x1"] * table["x2"] + table["x3"] + table["x4"] - np.sin(2 * table["x5"])
    table["y"] = signal + table["x6"] + rng.normal(size=n) / 2
    table["c"] = np.where(table["y"] > 0, "over", "below")
    return table


def measures(fit: Sums, new: pd.DataFrame, background: pd.DataFrame) -> pd.DataFrame:
    """Return what is measured of a fit, a row for each setting."""
    for max_boxes in (0, 2):  # compiled
        fit.shap(new.head(1), background=background.head(2), max_boxes=max_boxes)
    exact, _ = timed(fit, new, background, max_boxes=ALL_BOXES, draws=MANY_DRAWS)
    theirs, shap_seconds = by_shap(fit, new, background)
    shap_error, n = root_mean(theirs - exact.values), len(new)
    measured = []
    for max_boxes in SETTINGS:
        found, seconds = timed(fit, new, background, max_boxes=max_boxes)
        away = np.abs(found.values - exact.values)
        error = root_mean(away)
        measured.append(
            {
                "max_boxes": max_boxes,
                "drawn": found.drawn,
                "unexplained": max(unexplained(exact), unexplained(found)),
                "largest_value": np.abs(exact.values).max(),
                "seconds": seconds / n,
                "error": error,
                "within_3_se": (away <= 3 * found.std_error + 1e-12).mean(),
                "shap_seconds": shap_seconds / n,
                "shap_error": shap_error,
                "times_faster": times_faster(seconds, error, shap_seconds, shap_error),
            }
        )
    return pd.DataFrame(measured)


def times_faster(seconds: float, error: float, shap_seconds: float, shap_error: float) -> float:
    """Return the time that shap would need for our error, over ours."""
    if error < ROUNDING * shap_error:
        return np.inf
    return shap_seconds * (shap_error / error) ** 2 / seconds


def timed(fit: Sums, new: Any, background: Any, **how: Any) -> tuple[Any, float]:
    """Return Shapley values and the seconds they take."""
    start = time.process_time()
    found = fit.shap(new, background=background, **how)
    return found, time.process_time() - start


def by_shap(
    fit: Sums, new: pd.DataFrame, background: pd.DataFrame
) -> tuple[NDArray[np.float64], float]:
    """Return the values that the permutation explainer of shap gives, and its seconds."""
    shap = import_module("shap")
    kind: Any = "response" if fit.classes is None else "prob"
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
