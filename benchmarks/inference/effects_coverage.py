"""Coverage of intervals of averaged comparisons and slopes on five simulated truths.

    python -m benchmarks.inference.effects_coverage --out effects_coverage.csv [--repeats 200]
                                                    [--quick]
    python -m benchmarks.inference.effects_coverage --report effects_coverage.csv

For each truth and size, forests are grown on many samples: for inference, the same but honest, by
default, or in little bags (``little_bags.py``).  Each gives, for every predictor, the
comparison of 0.75 with 0.25 and the slope, both averaged over the same new rows, with their
standard errors; and the comparison averaged over the training rows as a sample of the population.
Their 95 % intervals are evaluated by whether they cover the forest's expectation, which is the mean
of the estimates of all samples, and whether they cover the truth, from which it differs by the
forest's bias.  The standard errors are compared with the standard deviation of the estimates over
samples.

The csv has one line for each sample.  A run with an existing csv adds the missing samples.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.inference.little_bags import little_bags
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report, with_quick
from odrf import odrf

Values = NDArray[np.float64]
LEVEL = 0.95
NOISE = 0.5
CORRELATION = 0.8
PREDICTORS = tuple(f"x{j}" for j in range(4))
# The same rows, and rows that stand for the population.
NEW_ROWS, MANY_ROWS = 300, 200_000
LOW, HIGH, BANDWIDTH = 0.25, 0.75, 0.2
FORESTS: dict[str, dict[str, Any]] = {
    "inference": {"inference": True},
    "half": {"inference": True, "sample_fraction": 0.5},
    "honest": {"inference": True, "sample_fraction": 0.5, "honest": True},
    "default": {},
}
# Samples that tell how estimates vary.
FEWEST = 3
LITTLE_BAGS = "little bags"
SHARE = 0.3
KINDS = ("comparison", "slope", "population")
EFFECTS = [f"{kind} {name}" for kind in KINDS for name in PREDICTORS]
# By what the differences of predictions are divided: comparisons and slopes of the predictors.
WIDTHS = np.repeat([1.0, BANDWIDTH], len(PREDICTORS))
COLUMNS = ["truth", "rows", "forest", "sample", *EFFECTS, *(f"error of {each}" for each in EFFECTS)]


def linear(x: Values) -> Values:
    """A plane."""
    return 2 * x[:, 0] + x[:, 1] - x[:, 2]


def additive(x: Values) -> Values:
    """A sum of smooth functions."""
    return np.sin(np.pi * x[:, 0]) + 2 * (x[:, 1] - 0.2) ** 2 + np.sqrt(x[:, 2])


def interaction(x: Values) -> Values:
    """A product, and a term of its own."""
    return 4 * x[:, 0] * x[:, 1] + x[:, 2]


def threshold(x: Values) -> Values:
    """Two steps, and a slope in one half."""
    return 1.0 * (x[:, 0] > 0.5) + 0.5 * (x[:, 1] > 0.35) + x[:, 2] * (x[:, 0] > 0.5)


TRUTHS: dict[str, Callable[[Values], Values]] = {
    "linear": linear,
    "additive": additive,
    "interaction": interaction,
    "threshold": threshold,
    "correlated": linear,
}


def predictors(truth: str, n: int, rng: np.random.Generator) -> Values:
    """Draw predictors (n, 4), uniform on [0, 1], independent or correlated."""
    if truth != "correlated":
        return rng.random((n, len(PREDICTORS)))
    common = rng.normal(size=(n, 1))
    each = rng.normal(size=(n, len(PREDICTORS)))
    return norm.cdf(np.sqrt(CORRELATION) * common + np.sqrt(1 - CORRELATION) * each)


def true_effects(truth: str) -> Values:
    """Return the values of EFFECTS for the true regression function."""
    population = predictors(truth, MANY_ROWS, np.random.default_rng(2))
    pairs = [*contrasts(new_rows(truth)), *contrasts(population)[: len(PREDICTORS)]]
    mean = TRUTHS[truth]
    ends = [[mean(end.to_numpy()).mean() for end in pair] for pair in pairs]
    return np.diff(ends, axis=1)[:, 0] / [*WIDTHS, *WIDTHS[: len(PREDICTORS)]]


def new_rows(truth: str) -> Values:
    """Return the rows (NEW_ROWS, 4) that predictions are averaged over."""
    return predictors(truth, NEW_ROWS, np.random.default_rng(1))


def contrasts(x: Values) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Return the rows whose predictions are subtracted for the comparisons and slopes.

    The differences are those times WIDTHS.
    """
    half = BANDWIDTH / 2
    middles = x.clip(half, 1 - half).T
    ends: list[tuple[Any, Any]] = [(LOW, HIGH)] * len(PREDICTORS)
    ends += [(middle - half, middle + half) for middle in middles]
    rows = frame(x)
    return [
        (rows.assign(**{name: low}), rows.assign(**{name: high}))
        for name, (low, high) in zip(2 * PREDICTORS, ends, strict=True)
    ]


def frame(x: Values) -> pd.DataFrame:
    """Return predictors as a data frame."""
    return pd.DataFrame(x, columns=pd.Index(PREDICTORS))


def line_of(
    truth: str, n: int, forest: str, sample: int, trees: int, seed: int
) -> Iterator[tuple[float, ...]]:
    """Yield the estimates of EFFECTS on one sample, and their standard errors."""
    rng = np.random.default_rng([seed, sample, n, list(TRUTHS).index(truth)])
    x = predictors(truth, n, rng)
    data = frame(x).assign(y=TRUTHS[truth](x) + NOISE * rng.normal(size=n))
    if forest == LITTLE_BAGS:
        absent = np.full(len(PREDICTORS), np.nan)
        estimate, error = little_bags(data, contrasts(new_rows(truth)), trees, SHARE, sample)
        yield (*estimate / WIDTHS, *absent, *error / WIDTHS, *absent)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = odrf("y ~ .", data, n_trees=trees, seed=sample, n_jobs=1, **FORESTS[forest])
        rows = frame(new_rows(truth))
        pair = (LOW, HIGH)
        found = [
            fit.comparisons(contrast=pair, newdata=rows),
            fit.slopes(bandwidth=BANDWIDTH, newdata=rows),
            fit.comparisons(contrast=pair, population=True, target="forest"),
        ]
    tables = pd.concat([effects.table for effects in found])
    yield (*tables["estimate"], *tables["std_error"])


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """Return coverage and ratios for each forest, size, truth and kind of effect."""
    rows = []
    for (forest, n, truth), samples in lines.groupby(["forest", "rows", "truth"], sort=False):
        if len(samples) < FEWEST:
            continue
        true = dict(zip(EFFECTS, true_effects(str(truth)), strict=True))
        measured = [kind for kind in KINDS if samples[f"{kind} {PREDICTORS[0]}"].notna().all()]
        case = {"forest": forest, "rows": n, "truth": truth, "samples": len(samples)}
        rows += [{**case, "effect": kind, **evaluated(samples, kind, true)} for kind in measured]
    return pd.DataFrame(rows)


def report(lines: pd.DataFrame, path: Path | None) -> str:
    """Return the summary as markdown; write it to a csv if there is a path."""
    table = summary(lines)
    if path is not None:
        table.to_csv(path, index=False)
    names = ["forest", "rows", "truth", "samples", "effect"]
    named = table[names].astype(str).agg(", ".join, axis=1)
    return markdown_table(table.drop(columns=names).set_index(named), ", ".join(names))


def evaluated(samples: pd.DataFrame, kind: str, true: dict[str, float]) -> dict[str, str]:
    """Return coverage of expectation and truth, and the ratio of standard errors, in words."""
    names = [f"{kind} {name}" for name in PREDICTORS]
    estimate = samples[names].to_numpy()
    error = samples[[f"error of {name}" for name in names]].to_numpy()
    truth = np.array([true[name] for name in names])
    R = len(samples)
    half = norm.ppf((1 + LEVEL) / 2) * error
    spread = estimate.std(axis=0, ddof=1)
    # deviations from the mean of R estimates, their own among them, are too small by this factor
    off = (estimate - estimate.mean(axis=0)) * (R / (R - 1)) ** 0.5
    ratio = np.sqrt((error**2).mean(axis=0)) / spread
    covered = 100 * (np.abs(off) <= half).mean(axis=0)
    of_truth = 100 * (np.abs(estimate - truth) <= half).mean(axis=0)
    bias = np.abs(estimate.mean(axis=0) - truth) / spread
    return {
        "expectation covered, %": _mean_and_range(covered, 1),
        "standard error / empirical": _mean_and_range(ratio, 2),
        "truth covered, %": _mean_and_range(of_truth, 1),
        "|bias| / empirical": _mean_and_range(bias, 2),
    }


def _mean_and_range(values: Values, digits: int) -> str:
    low, mean, high = (f"{each:.{digits}f}" for each in (values.min(), values.mean(), values.max()))
    return f"{mean} ({low}–{high})"


def main() -> int:
    """Evaluate the intervals, or report an existing csv."""
    asked = parser(__doc__ or "", "effects_coverage.csv", repeats=200, trees=1000)
    asked.add_argument("--sizes", type=int, nargs="+", default=[500, 2000], help="training rows")
    asked.add_argument("--truths", nargs="+", default=list(TRUTHS), choices=list(TRUTHS))
    forests = [*FORESTS, LITTLE_BAGS]
    asked.add_argument("--forests", nargs="+", default=["inference"], choices=forests)
    asked.add_argument("--table", type=Path, help="csv that the summary is written to")
    options = with_quick(asked, repeats=3, sizes=[100], trees=50).parse_args()
    return run_or_report(options, run, lambda lines: report(lines, options.table))


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    tasks = [
        (truth, n, forest, sample)
        for n in options.sizes
        for sample in range(options.repeats)
        for forest in options.forests
        for truth in options.truths
    ]

    def lines_of(truth: str, n: int, forest: str, sample: int) -> Iterator[tuple[float, ...]]:
        return line_of(truth, n, forest, sample, options.trees, options.seed)

    return go_on(options.out, COLUMNS, tasks, lines_of)


if __name__ == "__main__":
    sys.exit(main())
