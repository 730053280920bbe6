"""Coverage of the truth by intervals of averages, contrasts and slopes, on six simulated truths.

    python -m benchmarks.inference.effects_of_truth --out effects_of_truth.csv [--repeats 200]
                                                    [--quick]
    python -m benchmarks.inference.effects_of_truth --report effects_of_truth.csv

For each truth and size, default forests are grown on many samples.  Each gives the mean, the means
of a factor's levels, the comparison of every predictor by default (numbers by a standard deviation,
factors with their first level, a treatment) and the slope of every number, averaged over the rows
of the sample: of the truth, and of the forest.  Evaluated is whether their 95 % intervals cover the
average of the true regression function over these rows.

The csv has one line for each sample, target and estimate.  A run with an existing csv adds the
missing samples.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report, with_quick
from odrf import odrf

Values = NDArray[np.float64]
CORRELATION = 0.5
LEVELS = {"a": 0.0, "b": 0.5, "c": -0.5, "d": 1.0, "e": 0.25}
TARGETS: tuple[Literal["truth", "forest"], ...] = ("truth", "forest")
COLUMNS = ["truth", "rows", "sample", "target", "term", "true", "estimate", "error", "low", "high"]


def linear(data: pd.DataFrame) -> Any:
    """A plane."""
    return data["x0"] + 0.5 * data["x1"] - 0.5 * data["x2"]


def smooth(data: pd.DataFrame) -> Any:
    """A wave, a parabola and a line."""
    return np.sin(2 * data["x0"]) + 0.5 * data["x1"] ** 2 + 0.5 * data["x2"]


def interaction(data: pd.DataFrame) -> Any:
    """A product, and a line."""
    return data["x0"] * data["x1"] + 0.5 * data["x2"]


def threshold(data: pd.DataFrame) -> Any:
    """Two steps, and a slope in one half."""
    above = data["x0"] > 0
    return above + 0.5 * (data["x1"] > 0.5) + 0.5 * data["x2"] * above


def treatment(data: pd.DataFrame) -> Any:
    """A treatment whose effect depends on a predictor; who is treated depends on two."""
    return data["t"] * (1 + 0.5 * data["x1"]) + np.sin(2 * data["x0"]) + 0.5 * data["x2"]


def factors(data: pd.DataFrame) -> Any:
    """A factor that depends on a predictor, and one of noise."""
    levels = data["g"].map(LEVELS)
    return levels + np.sin(data["x0"]) + 0.5 * data["x1"]


TRUTHS: dict[str, Callable[[pd.DataFrame], Any]] = {
    each.__name__: each for each in (linear, smooth, interaction, threshold, treatment, factors)
}


def sample_of(truth: str, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw n rows: correlated normal predictors, the treatment or factors, and the response."""
    common = rng.normal(size=(n, 1))
    x = CORRELATION**0.5 * common + (1 - CORRELATION) ** 0.5 * rng.normal(size=(n, 4))
    data = pd.DataFrame(x, columns=["x0", "x1", "x2", "x3"])
    if truth == "treatment":
        chance = 1 / (1 + np.exp(-data["x0"] - 0.5 * data["x1"]))
        data["t"] = (rng.random(n) < chance).astype(float)
    if truth == "factors":
        behind = 0.7 * x[:, 0] + rng.normal(size=n)
        levels = np.array(list(LEVELS))
        data["g"] = levels[np.digitize(behind, [-1.0, -0.3, 0.3, 1.0])]
        data["h"] = rng.choice(list("uvwz"), n)
    return data.assign(y=np.asarray(TRUTHS[truth](data)) + rng.normal(size=n))


def lines_of(truth: str, n: int, sample: int, trees: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield the estimates of both targets on one sample, beside their true values."""
    data = sample_of(truth, n, np.random.default_rng([seed, sample, n, list(TRUTHS).index(truth)]))
    groups = data.assign(half=np.where(data["x1"] > 0, "high", "low"))
    mean = TRUTHS[truth]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = odrf("y ~ . - half", groups, n_trees=trees, seed=sample, n_jobs=1)
        for target in TARGETS:
            tables = [
                fit.predictions(target=target).table,
                fit.comparisons(target=target).table,
                fit.slopes(target=target).table,
            ]
            if truth == "factors":
                tables.append(fit.predictions(by="g", target=target).table)
            for row in pd.concat(tables).to_dict("records"):
                term, true = true_value(mean, data, row)
                yield (target, term, true, *(row[name] for name in NUMBERS))


NUMBERS = ("estimate", "std_error", "conf_low", "conf_high")


def true_value(mean: Any, data: pd.DataFrame, row: dict[str, Any]) -> tuple[str, float]:
    """Return the name of an estimate, and the average of the true function over the same rows."""
    term, contrast = row["term"], str(row["contrast"])
    if term == "prediction":
        group = row.get("g")
        if not isinstance(group, str):
            return "mean", float(np.mean(mean(data)))
        rows = data["g"] == group
        return f"mean of {group}", float(np.mean(mean(data)[rows]))
    values = data[term]
    low: Any
    high: Any
    if contrast == "slope":
        low, high = ends_of_slope(values.to_numpy())
        width: Any = high - low
    elif contrast.startswith("+1 sd"):
        half = values.std(ddof=0) / 2
        low, high, width = values - half, values + half, 1.0
    else:
        second, first = contrast.split(" - ")
        low, high, width = (0.0, 1.0, 1.0) if term == "t" else (first, second, 1.0)
    ends = [np.asarray(mean(data.assign(**{term: end}))) for end in (low, high)]
    kind = contrast if term in ("g", "h") else "slope" if contrast == "slope" else "contrast"
    return f"{kind} {term}", float(np.mean((ends[1] - ends[0]) / width))


def ends_of_slope(values: Values) -> tuple[Values, Values]:
    """Return the next values of rows a quarter of a standard deviation off, or more."""
    known, half = np.unique(values), values.std() / 4
    last = len(known) - 1
    below = np.clip(np.searchsorted(known, values - half, side="right") - 1, 0, last - 1)
    above = np.clip(np.searchsorted(known, values + half), below + 1, last)
    return known[below], known[above]


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """Return coverage, bias and widths for each size, truth and target."""
    lines = lines.assign(
        off=lines["estimate"] - lines["true"],
        covered=(lines["low"] <= lines["true"]) & (lines["true"] <= lines["high"]),
    )
    terms = lines.groupby(["rows", "truth", "target", "term"], sort=False).agg(
        samples=("off", "size"), bias=("off", "mean"), spread=("off", "std"),
        error=("error", "mean"), covered=("covered", "mean"),
    )  # fmt: skip
    rows = []
    for (n, truth, target), part in terms.groupby(level=[0, 1, 2], sort=False):
        covered = 100 * part["covered"]
        limits = f"{covered.min():.0f}–{covered.max():.0f}"
        rows.append(
            {
                "rows": n,
                "truth": truth,
                "target": target,
                "samples": int(part["samples"].max()),
                "truth covered, %": f"{covered.mean():.1f} ({limits})",
                "|bias| / spread": f"{(part['bias'].abs() / part['spread']).mean():.2f}",
                "standard error / spread": f"{(part['error'] / part['spread']).mean():.2f}",
                "root mean squared error": f"{np.hypot(part['bias'], part['spread']).mean():.3f}",
            }
        )
    return pd.DataFrame(rows)


def report(lines: pd.DataFrame, path: Path | None) -> str:
    """Return the summary as markdown; write it to a csv if there is a path."""
    table = summary(lines)
    if path is not None:
        table.to_csv(path, index=False)
    names = ["rows", "truth", "target"]
    named = table[names].astype(str).agg(", ".join, axis=1)
    return markdown_table(table.drop(columns=names).set_index(named), ", ".join(names))


def main() -> int:
    """Run the comparison, or print the report of a csv."""
    needed = parser(__doc__, "effects_of_truth.csv", repeats=200, trees=500)
    needed.add_argument("--truths", nargs="+", default=list(TRUTHS), choices=list(TRUTHS))
    needed.add_argument("--table", type=Path, help="csv that the summary is written to")
    needed.add_argument("--sizes", type=int, nargs="+", default=[250, 1000, 4000])
    options = with_quick(needed, repeats=3, sizes=[100], trees=50).parse_args()
    return run_or_report(options, run, lambda lines: report(lines, options.table))


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    tasks = list(product(options.truths, options.sizes, range(options.repeats)))

    def of_task(truth: str, n: int, sample: int) -> Iterator[tuple[Any, ...]]:
        return lines_of(truth, n, sample, options.trees, options.seed)

    return go_on(options.out, COLUMNS, tasks, of_task)


if __name__ == "__main__":
    sys.exit(main())
