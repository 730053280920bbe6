"""Coverage of intervals, and sizes of tests, that the other benchmarks do not measure.

    python -m benchmarks.inference.interval_coverage --out interval_coverage.csv [--repeats 100]
                                                     [--quick]
    python -m benchmarks.inference.interval_coverage --report interval_coverage.csv

Samples have two relevant predictors and three of noise.  Of each, a forest for inference gives
averaged predictions, functions of comparisons, curves and surfaces with their bands; other forests
give tests of importance with their intervals, and a predictive check.  The intervals are evaluated
by whether they cover the expectation of their estimate, which is its mean over the samples; bands
by whether they cover it at all points together.  Learning curves are of one table divided anew:
their intervals are for that table.  Tests of noise, and of two models that are equally good, are
evaluated by how often they reject at level 5 %, and by the distance of their p-values from uniform
ones.

``measured`` is the share of intervals that cover, or of tests that reject; its error is over
samples.  The csv has one line for each; a run with an existing csv adds the missing lines.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kstest

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report, with_quick
from odrf import compare, compare_fits, learning_curve, odrf
from odrf.evaluation.learning_curve import LearningCurve
from odrf.results import ODRFResults

Found = dict[str, tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]
P_values = dict[str, list[float]]

ROWS, LEVEL, SIZE, NOISE = 200, 0.95, 0.05, ("c", "d", "e")
EDGES = ("conf_low", "conf_high")
BANDS = ("band_low", "band_high")
TOGETHER = " (all points)"
COLUMNS = [
    *("problem", "kind", "what", "samples", "nominal"),
    *("measured", "error", "distance", "p_of_distance"),
]
KINDS = ("regression", "classification")


def draw(kind: str, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw a sample; of classes, the probability is a function of the same number."""
    data = pd.DataFrame(rng.uniform(-1, 1, (n, 5)), columns=list("abcde"))
    number = data["a"] + np.sin(2 * data["b"])
    if kind == "classification":
        yes = rng.random(n) < 1 / (1 + np.exp(-2 * number))
        return data.assign(y=np.where(yes, "yes", "no"))
    return data.assign(y=number + rng.normal(size=n) / 2)


def intervals_of(table: pd.DataFrame, ends: tuple[str, str] = EDGES) -> tuple[Any, Any, Any]:
    """Return estimates and the ends of their intervals; of classes those of the last one."""
    if "class" in table:
        table = table[table["class"].astype(str) == "yes"]
    low, high = ends
    estimate, *two = (table[name].to_numpy(dtype=float) for name in ("estimate", low, high))
    return estimate, two[0], two[1]


def of_inference(
    kind: str, sample: int, trees: int, seed: int, rows_of_sample: int = ROWS
) -> tuple[Found, P_values]:
    """Return intervals and p-values of a forest for inference."""
    data = draw(kind, rows_of_sample, np.random.default_rng([seed, sample]))
    fit = odrf("y ~ .", data, n_trees=trees, inference=True, seed=sample, n_jobs=1)
    rows = draw(kind, 50, np.random.default_rng([seed]))
    effects = fit.comparisons(newdata=rows, contrast=(-0.5, 0.5))
    found: Found = {
        "predictions()": intervals_of(fit.predictions(newdata=rows).table),
        "comparisons()": intervals_of(effects.table),
    }
    names = effects.table["term"].astype(str).tolist()
    shown = effects.table["class"].astype(str) == "yes" if "class" in effects.table else None
    at = {
        term: f"b{i + 1}"
        for i, term in enumerate(names)
        if shown is None or bool(shown.to_numpy()[i])
    }
    said = [f"{at['a']} - {at['b']} = 0", f"{at['c']} = {at['d']}", f"{at['d']} = {at['e']}"]
    hypotheses = effects.hypotheses(said)
    found["hypotheses()"] = intervals_of(hypotheses.table.drop(columns="class", errors="ignore"))
    curves = {
        "partial()": fit.partial("b", values=list(np.linspace(-0.9, 0.9, 7)), newdata=rows),
        "partial(), two variables": fit.partial(
            ["a", "b"], values={"a": [-0.6, 0.0, 0.6], "b": [-0.6, 0.0, 0.6]}, newdata=rows
        ),
        "ale()": fit.ale("b", points=7, newdata=rows),
        "ale(), two variables": fit.ale(["a", "b"], points=4, newdata=rows),
    }
    for name, curve in curves.items():
        found[name] = intervals_of(curve.table)
        found[name + TOGETHER] = intervals_of(curve.table, BANDS)
    joint = effects.hypotheses(said[1:], joint=True).joint
    assert joint is not None
    null = effects.table[[term in NOISE for term in names]]
    if "class" in null:
        null = null[null["class"].astype(str) == "yes"]
    return found, {
        "comparisons()": null["p_value"].tolist(),
        "hypotheses()": hypotheses.table["p_value"].tolist()[1:],
        "hypotheses(), together": [joint.p_value],
    }


def of_importance(kind: str, sample: int, trees: int, seed: int) -> tuple[Found, P_values]:
    """Return intervals and p-values of tests of importance."""
    data = draw(kind, ROWS, np.random.default_rng([seed, sample]))
    options: dict[str, Any] = {"n_trees": trees // 10, "min_leaf": 5, "blend": False}
    fit = odrf("y ~ .", data, seed=sample, n_jobs=1, **options)
    found: Found = {}
    p_values: P_values = {}
    for type in ("conditional", "loco"):
        for test in ("t", "wilcoxon"):
            table = fit.importance(type, test=test).sort_values("term")
            name = f'importance("{type}", test="{test}")'
            found[name] = intervals_of(table)
            p_values[name] = table.loc[table["term"].isin(NOISE), "p_value"].tolist()
    return found, p_values


def of_check(kind: str, sample: int, trees: int, seed: int) -> tuple[Found, P_values]:
    """Return the intervals of the coverage of ten regions, and the p-value of residuals' tails."""
    data = draw(kind, ROWS, np.random.default_rng([seed, sample]))
    fit: ODRFResults = odrf("y ~ .", data, n_trees=trees, blend=False, seed=sample, n_jobs=1)
    table = fit.predictive_check().coverage.rename(columns={"coverage": "estimate"})
    return {"predictive_check()": intervals_of(table)}, {
        "consistency(), tails": [float(fit.consistency().evidence["tail p"])]
    }


def of_curves(kind: str, sample: int, trees: int, seed: int) -> tuple[Found, P_values]:
    """Return the intervals of a learning curve of one table."""
    curve = _curve(kind, sample, trees, seed)
    law, later = curve.law, curve.extrapolate(10 * ROWS)
    a, c = (
        tuple(law[name].to_numpy(dtype=float) for name in (each, *(f"{each}_{e}" for e in EDGES)))
        for each in "ac"
    )
    ends = later.rename(columns={"error": "estimate"})
    return {
        "learning_curve(), a": a,
        "learning_curve(), c": c,
        "learning_curve(), ten times the rows": intervals_of(ends),
    }, {}


def _curve(kind: str, sample: int, trees: int, seed: int) -> LearningCurve:
    data = draw(kind, 2 * ROWS, np.random.default_rng([seed, 12345]))
    model = {"axis": partial(odrf, n_trees=trees // 10, projection="axis", blend=False)}
    sizes = [25, 50, 100, 200]
    return learning_curve("y ~ .", data, model, sizes=sizes, repeats=10, seed=sample, n_jobs=1)


def of_comparisons(kind: str, sample: int, trees: int, seed: int) -> tuple[Found, P_values]:
    """Return tests and intervals of two models that draw predictors alike: neither is better.

    Of cross-validation, and of one fit of each, on the rows out of bag.
    """
    data = draw(kind, ROWS, np.random.default_rng([seed, sample]))
    few = partial(odrf, n_trees=trees // 10, projection="axis", blend=False)
    models = {"one": partial(few, seed=2 * sample), "other": partial(few, seed=2 * sample + 1)}
    tests = compare("y ~ .", data, models, cv=10, seed=sample, n_jobs=1).pairs.iloc[:1]
    one, other = (model("y ~ .", data, n_jobs=1) for model in models.values())
    paired = compare_fits(one, other).table
    found = {"compare()": intervals_of(tests.rename(columns={"difference": "estimate"}))}
    for measure, row in paired.rename(columns={"difference": "estimate"}).iterrows():
        found[f"compare_fits(), {measure}"] = intervals_of(row.to_frame().T)
    return found, {
        "compare(), corrected t": tests["p_value_t"].tolist(),
        "compare(), Wilcoxon": tests["p_value_wilcoxon"].tolist(),
        **{f"compare_fits(), {name}": [float(p)] for name, p in paired["p_value"].items()},
    }


PROBLEMS: Mapping[str, Callable[[str, int, int, int], tuple[Found, P_values]]] = {
    "inference": of_inference,
    "inference, 1000 rows": partial(of_inference, rows_of_sample=1000),
    "importance": of_importance,
    "check": of_check,
    "curves": of_curves,
    "comparisons": of_comparisons,
}


def coverage_lines(samples: list[Found]) -> Iterator[tuple[Any, ...]]:
    """Yield how often intervals cover the mean estimate of the samples."""
    R = len(samples)
    for what in samples[0]:
        estimate, low, high = map(np.array, zip(*(s[what] for s in samples), strict=True))
        # deviations from the mean of R estimates, their own among them, are small by this factor
        off = (estimate - estimate.mean(axis=0)) * (R / (R - 1)) ** 0.5
        covers = (low - estimate <= -off) & (-off <= high - estimate)
        share = covers.all(axis=1) if what.endswith(TOGETHER) else covers.mean(axis=1)
        error = share.std(ddof=1) / np.sqrt(R)
        yield f"interval: {what}", R, LEVEL, share.mean(), error, np.nan, np.nan


def size_lines(samples: list[P_values]) -> Iterator[tuple[Any, ...]]:
    """Yield how often tests reject, and how far their p-values are from uniform ones."""
    R = len(samples)
    for what in samples[0]:
        p = np.array([s[what] for s in samples])
        share = (p <= SIZE).mean(axis=1)
        # p-values of one sample depend on each other: the first of each is evaluated
        distance = kstest(p[:, 0], "uniform")
        error = share.std(ddof=1) / np.sqrt(R)
        yield (
            *(f"test: {what}", R, SIZE, share.mean(), error),
            *(distance.statistic, distance.pvalue),
        )


def report(lines: pd.DataFrame) -> str:
    """Write coverage and sizes in per cent as markdown."""
    percent = 100 * lines[["nominal", "measured", "error"]]
    shown = pd.DataFrame(
        {
            "samples": lines["samples"].astype(str),
            "nominal, %": percent["nominal"].map("{:.0f}".format),
            "measured, %": [
                f"{measured:.1f} ± {error:.1f}"
                for measured, error in percent[["measured", "error"]].to_numpy()
            ],
            "distance from uniform (p)": [
                "" if np.isnan(distance) else f"{distance:.2f} ({p:.2g})"
                for distance, p in lines[["distance", "p_of_distance"]].to_numpy()
            ],
        }
    )
    shown.index = pd.Index(lines[["problem", "kind", "what"]].agg(", ".join, axis=1))
    return markdown_table(shown, "problem, response, what")


def main() -> int:
    """Measure coverage and sizes, or report an existing csv."""
    asked = parser(__doc__ or "", "interval_coverage.csv", repeats=100, trees=300)
    asked.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    options = with_quick(asked, repeats=3, trees=30).parse_args()

    def lines_of(problem: str, kind: str) -> Iterator[tuple[Any, ...]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [
                PROBLEMS[problem](kind, sample, options.trees, options.seed)
                for sample in range(options.repeats)
            ]
        intervals, p_values = zip(*found, strict=True)
        yield from coverage_lines(list(intervals))
        yield from size_lines(list(p_values))

    tasks = [
        (problem, kind)
        for problem in options.problems
        for kind in KINDS
        if kind == "regression" or problem != "check"
    ]
    return run_or_report(options, lambda _: go_on(options.out, COLUMNS, tasks, lines_of), report)


if __name__ == "__main__":
    sys.exit(main())
