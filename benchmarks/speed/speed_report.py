"""Tables of a speed benchmark's csv: seconds, ratios and errors, and how time grows.

Ratios are taken within each repetition, between runs that are close in time; then their median is
taken.  A scaling exponent is the slope of log(median seconds) on log(n), log(p) or log(trees) among
runs that differ in nothing else, pooled over these groups of runs.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["comparison", "exponents", "report"]

PROBLEM = ["table", "classes", "n", "p", "test_rows", "trees", "threads"]
SIZES = ["n", "p", "trees"]
MEASURES = ["fit_s", "predict_s", "row_us"]
RATIOS = ["fit_ratio", "predict_ratio", "row_ratio"]
GROWING = ["fit_s", "peak_mb"]


def report(timings: pd.DataFrame, base: str) -> str:
    """All tables as text; `base` is the method that ratios refer to."""
    parts = [
        f"{_heading(dict(zip(PROBLEM, key, strict=True)))}\n"
        + comparison(runs, base).to_string(float_format="{:.4g}".format, na_rep="")
        for key, runs in timings.groupby(PROBLEM, sort=False)
    ]
    slopes = exponents(timings)
    if not slopes.empty:
        slopes_text = slopes.to_string(float_format="{:.2f}".format, na_rep="")
        parts.append(f"scaling exponents\n{slopes_text}")
    return "\n\n".join(parts)


def comparison(runs: pd.DataFrame, base: str) -> pd.DataFrame:
    """Medians of each method on one problem, and medians of its ratios to the base."""
    keyed = runs.set_index(["method", "repetition"])
    methods = keyed.groupby(level="method", sort=False)
    table = methods[MEASURES].median()
    if base in table.index:
        times = keyed[MEASURES]
        ratios = times / times.loc[base].reindex(times.index, level="repetition")
        medians = ratios.groupby(level="method", sort=False).median()
        for place, measure in enumerate(MEASURES):
            table.insert(2 * place + 1, RATIOS[place], medians[measure])
    table["error"] = methods["error"].mean()
    if "peak_mb" in runs and runs["peak_mb"].notna().any():
        table["peak_mb"] = methods["peak_mb"].median()
        table["peak/data"] = table["peak_mb"] / _float32_mb(runs)
    return table


def exponents(timings: pd.DataFrame) -> pd.DataFrame:
    """Exponent of each method's time, and of its memory where measured, in n, p and trees."""
    open_tables = timings["table"] != "simulated"
    medians = timings[~open_tables].groupby(["method", *PROBLEM], sort=False)
    measured = [name for name in GROWING if name in timings and timings[name].notna().any()]
    points = medians[measured].median().reset_index()
    slopes = {
        (measure, size): _slopes(points, measure, size)
        for measure in measured
        for size in SIZES
        if points[size].nunique() > 1
    }
    return pd.DataFrame(slopes)


def _slopes(points: pd.DataFrame, measure: str, size: str) -> pd.Series:
    """Slope of log `measure` on log `size`, for each method, within runs with all else equal."""
    alike = ["method", *(name for name in PROBLEM if name != size)]
    logs = points[[measure, size]].apply(np.log)
    centred = logs - logs.groupby([points[name] for name in alike]).transform("mean")
    products = pd.DataFrame({"xy": centred[size] * centred[measure], "xx": centred[size] ** 2})
    sums = products.groupby(points["method"], sort=False).sum()
    return sums["xy"] / sums["xx"].replace(0, np.nan)


def _heading(problem: dict[str, object]) -> str:
    kind = "regression" if problem["classes"] == 1 else f"K = {problem['classes']}"
    return (
        f"{problem['table']}: n = {problem['n']:,}, p = {problem['p']:,}, {kind}; "
        f"{problem['trees']} trees, threads: {problem['threads']}; "
        f"{problem['test_rows']:,} test rows"
    )


def _float32_mb(runs: pd.DataFrame) -> float:
    return float(4 * runs["n"].iloc[0] * runs["p"].iloc[0] / 2**20)
