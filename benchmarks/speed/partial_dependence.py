"""Time of partial dependence by one walk of each tree, beside predict() for each value of the grid.

    python -m benchmarks.speed.partial_dependence

A default forest of rows × columns of made-up numbers, with factors of 4 and 12 levels.  For each
kind of variable: seconds of ``partial()``, of the walk alone, of ``predict()`` for each point (both
from data frames), and of the prediction of matrices alone.  The shortest of several runs in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import odrf
from odrf.design.new_rows import with_values
from odrf.fits.curves import mean_curve
from odrf.fits.fit import raw_rows
from odrf.fits.predicting import mean_values

CASES = {
    "a number of no effect": ["x9"],
    "a number in a product": ["x0"],
    "a number with a wave": ["x2"],
    "a factor of 4 levels": ["few"],
    "a factor of 12 levels": ["many"],
    "two numbers, 20 × 20": ["x0", "x1"],
    "number and factor, 20 × 4": ["x0", "few"],
}
COLUMNS = ("partial", "walk", "predict", "matrices")


def main() -> None:
    """Time all cases, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="200 rows, 20 trees, one run")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.trees, options.runs, options.points = 200, 20, 1, 5
    fit = odrf.odrf(
        "y ~ .",
        made_up(options.rows, options.columns),
        n_trees=options.trees,
        n_jobs=options.threads,
        seed=1,
    )
    print(f"{'seconds':28s}" + "".join(f"{name:>10s}" for name in COLUMNS) + "  predict/partial")
    for words, names in CASES.items():
        seconds = times(fit, names, options.points if len(names) == 1 else 20, options.runs)
        shown = "".join(f"{seconds[name]:10.3f}" for name in COLUMNS)
        print(f"{words:28s}{shown}{seconds['predict'] / seconds['partial']:17.1f}", flush=True)


def made_up(n: int, p: int) -> pd.DataFrame:
    """Return a table of p predictors, two of them factors."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(n, p - 2)), columns=[f"x{j}" for j in range(p - 2)])
    data["few"] = rng.choice(list("abcd"), n)
    data["many"] = rng.choice(list("abcdefghijkl"), n)
    signal = data["x0"] * data["x1"] + np.sin(2 * data["x2"]) + (data["few"] == "a")
    data["y"] = signal + (data["many"] < "d") + rng.normal(size=n) / 3
    return data


def times(fit: Any, names: list[str], points: int, runs: int) -> dict[str, float]:
    """Return the seconds of each way, the shortest of the runs; check that they agree."""
    table = fit.partial(names if len(names) > 1 else names[0], points=points).table
    columns = names if len(names) > 1 else ["value"]
    values = {name: table[column].to_numpy() for name, column in zip(names, columns, strict=True)}
    rows = raw_rows(fit.fit)

    def by_partial() -> Any:
        return fit.partial(names if len(names) > 1 else names[0], points=points).table["estimate"]

    def by_walk() -> Any:
        return mean_curve(fit.fit, rows, values, lambda _: None).mean[:, 0]

    def each_point(predict: Callable[[dict[str, Any]], Any]) -> Any:
        return [
            predict({name: of_name[at] for name, of_name in values.items()}).mean()
            for at in range(len(table))
        ]

    def by_predict() -> Any:
        return each_point(lambda at: fit.predict(rows.frame.assign(**at)))

    def by_matrices() -> Any:
        design, X = fit.fit.design, rows.X
        return each_point(lambda at: mean_values(fit.fit, with_values(design, rows.frame, X, at)))

    ways = dict(zip(COLUMNS, (by_partial, by_walk, by_predict, by_matrices), strict=True))
    shortest = dict.fromkeys(COLUMNS, np.inf)
    for _ in range(runs):
        for name, way in ways.items():
            start = time.perf_counter()
            found = way()
            shortest[name] = min(shortest[name], time.perf_counter() - start)
            np.testing.assert_allclose(found, table["estimate"], atol=1e-8)
    return shortest


if __name__ == "__main__":
    main()
