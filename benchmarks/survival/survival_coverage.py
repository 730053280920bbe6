"""Coverage of intervals and bands of survival curves and incidences on simulated truths.

    python -m benchmarks.survival.survival_coverage --out survival_coverage.csv [--repeats 60]
                                                    [--quick]
    python -m benchmarks.survival.survival_coverage --report survival_coverage.csv

There are three truths with one cause of events, and one with two that compete, of which the
incidences of the first cause are evaluated in place of survival.

Of each truth, forests are grown on many samples: for inference, the same on half of the rows, or by
default.  Each predicts the same 40 new rows at 18 times, those by which 5, 10, … 90 % have had the
event, with 95 % intervals for a single time and bands for all.  They are evaluated by whether they
cover the forest's expected curve, which is the mean of the predictions of all samples, and whether
they cover the true curve, from which it differs by the forest's bias: intervals at five of the
times, bands at all times together.  Beside the intervals of the package, which are symmetric for
log(-log S), there are plain ones, the estimate plus and minus standard errors.  The standard errors
are compared with the standard deviation of the predictions over samples.

The csv has one line for each truth, forest and time.  A run with an existing csv adds the missing
ones.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report, with_quick
from odrf import odrf, simulate
from odrf.results.survival.forest import SurvivalForestResults
from odrf.simulate.survival import SurvivalProblem

Values = NDArray[np.float64]

LEVEL = 0.95
NEW_ROWS, MANY_ROWS = 40, 2000
HAVE_HAD = np.round(np.arange(0.05, 0.91, 0.05), 2)
SHOWN = (0.1, 0.25, 0.5, 0.7, 0.85)
ROUNDING = 1e-12
ALL_TIMES = "all times"
PROBLEMS: dict[str, Callable[[], SurvivalProblem]] = {
    "proportional hazards": simulate.proportional_hazards,
    "crossing hazards": simulate.crossing_hazards,
    "hazard jump": simulate.hazard_jump,
    "competing risks": simulate.competing_risks,
}
FORESTS: dict[str, dict[str, Any]] = {
    "inference": {"inference": True},
    "half": {"inference": True, "sample_fraction": 0.5},
    "default": {},
}
COLUMNS = [
    *("problem", "forest", "rows", "trees", "samples", "share", "covered", "error", "plain"),
    *("of_truth", "survival", "deviation", "ratio", "bias"),
]


class Sampled(NamedTuple):
    """Of R samples, m rows and G times: survival, standard errors and ends, each (R, m, G)."""

    survival: Values
    std_error: Values
    ends: tuple[Values, Values]
    band: tuple[Values, Values]


def cause_of(problem: SurvivalProblem) -> str | None:
    """Return the cause whose incidence is evaluated; None: survival is."""
    return None if problem.causes is None else problem.causes[0]


def true_curves(problem: SurvivalProblem, new: pd.DataFrame, times: Values) -> Values:
    """Return the true survival, or the incidence of the cause."""
    cause = cause_of(problem)
    if cause is None:
        return np.asarray(problem.survival(new, times))
    return np.asarray(problem.cumulative_incidence(new, times, cause))


def times_of(problem: SurvivalProblem) -> Values:
    """Return the times by which shares of the population have had the event."""
    rows = problem.sample(MANY_ROWS, seed=998)
    times = np.geomspace(1e-3, 30.0, 600)
    had = 1 - np.asarray(problem.survival(rows, times)).mean(axis=0)
    return np.interp(HAVE_HAD, had, times)


def sampled(
    problem: SurvivalProblem, forest: str, new: pd.DataFrame, times: Values, options: Any
) -> Sampled:
    """Return what the forests of all samples predict."""
    tables = []
    for sample in range(options.repeats):
        data = problem.sample(options.rows, seed=options.seed + sample)
        seed: dict[str, Any] = {"seed": options.seed + sample, **FORESTS[forest]}
        fit = odrf("Surv(time, event) ~ .", data, n_trees=options.trees, n_jobs=1, **seed)
        bands = cast(SurvivalForestResults, fit).bands(
            new, times=times, cause=cause_of(problem), level=LEVEL
        )
        tables.append(bands.table)
    shape = len(tables), len(new), len(times)
    names = ("estimate", "std_error", "conf_low", "conf_high", "band_low", "band_high")
    S, error, *ends = (np.array([t[name] for t in tables]).reshape(shape) for name in names)
    return Sampled(S, error, (ends[0], ends[1]), (ends[2], ends[3]))


def inside(curve: Values, ends: tuple[Values, Values]) -> NDArray[np.bool_]:
    """Return where curves are between the ends, to rounding."""
    return (ends[0] <= curve + ROUNDING) & (curve <= ends[1] + ROUNDING)


def lines_of(options: Any, problem_name: str, forest: str) -> Iterator[tuple[Any, ...]]:
    """Yield a line for each of five times, and one for all times together."""
    problem = PROBLEMS[problem_name]()
    times, new = times_of(problem), problem.sample(NEW_ROWS, seed=999)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sampled(problem, forest, new, times, options)
    R, S, error = options.repeats, found.survival, found.std_error
    truth, mean = true_curves(problem, new, times), S.mean(axis=0)
    # deviations from the mean of R estimates, their own among them, are small by this factor
    expected = np.clip(S - (S - mean) * (R / (R - 1)) ** 0.5, 0.0, 1.0)
    reach = float(ndtri((1 + LEVEL) / 2)) * error
    by_package, plain = inside(expected, found.ends), inside(expected, (S - reach, S + reach))
    of_truth = inside(truth, found.ends)
    deviation = S.std(axis=0, ddof=1)
    bias = np.sqrt(((mean - truth) ** 2).mean(axis=0))
    ratio = np.sqrt((error**2).mean(axis=(0, 1)) / (deviation**2).mean(axis=0))
    size = (options.rows, options.trees, R)
    for g in np.flatnonzero(np.isin(HAVE_HAD, SHOWN)):
        share = by_package[:, :, g].mean(axis=1)
        yield (
            *size, f"{HAVE_HAD[g]:g}", share.mean(), share.std(ddof=1) / np.sqrt(R),
            plain[:, :, g].mean(), of_truth[:, :, g].mean(),
            mean[:, g].mean(), deviation[:, g].mean(), ratio[g], bias[g],
        )  # fmt: skip
    share = inside(expected, found.band).all(axis=2).mean(axis=1)
    yield (
        *size, ALL_TIMES, share.mean(), share.std(ddof=1) / np.sqrt(R), np.nan,
        inside(truth, found.band).all(axis=2).mean(), *[np.nan] * 4,
    )  # fmt: skip


def report(lines: pd.DataFrame) -> str:
    """Write coverage in per cent as markdown."""
    percent = 100 * lines[["covered", "error", "plain", "of_truth"]]
    single = lines["share"] != ALL_TIMES

    def known(name: str, digits: int) -> list[str]:
        return [
            f"{value:.{digits}f}" if one else ""
            for value, one in zip(lines[name], single, strict=True)
        ]

    shown = pd.DataFrame(
        {
            "expected curve covered, %": [
                f"{covered:.1f} ± {error:.1f}"
                for covered, error in percent[["covered", "error"]].to_numpy()
            ],
            "by plain ends, %": percent["plain"].map("{:.1f}".format).where(single, ""),
            "true curve covered, %": percent["of_truth"].map("{:.1f}".format),
            "standard deviation": known("deviation", 3),
            "standard error / deviation": known("ratio", 2),
            "bias (root mean square)": known("bias", 3),
        }
    )
    shown.index = pd.Index(lines[["problem", "forest", "share"]].astype(str).agg(", ".join, axis=1))
    return markdown_table(shown, "truth, forest, share with the event")


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    tasks = [(problem, forest) for problem in PROBLEMS for forest in FORESTS]
    return go_on(options.out, COLUMNS, tasks, partial(lines_of, options))


def main() -> int:
    """Measure coverage, or report an existing csv."""
    asked = parser(__doc__ or "", "survival_coverage.csv", repeats=60, trees=500)
    asked.add_argument("--rows", type=int, default=300, help="training rows of a sample")
    options = with_quick(asked, repeats=3, trees=30, rows=100).parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
