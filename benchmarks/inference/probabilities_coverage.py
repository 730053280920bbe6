"""Coverage of the intervals and bands of `calibration` and `discrimination`.

    python -m benchmarks.inference.probabilities_coverage [--samples 200] [--out coverage.csv]
                                                          [--quick]

Probabilities and events are drawn from problems whose truth is known, without any fit:

* the score of events is normal with mean √2 Φ⁻¹(area), that of others normal with mean 0.  The
  interval of the area under the ROC curve is evaluated by this area, that of the average precision
  by its value for 400,000 rows;
* probabilities are drawn from a beta distribution, and events happen with them.  The interval of a
  bin is evaluated by the mean probability of its rows; the band for calibrated probabilities by the
  share of its points that hold the estimated curve.

The csv has a line for each problem: the share of intervals or points that hold, their nominal level
and the mean width.  A missing interval does not hold, and has no width.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from odrf.statistics.calibration import (
    calibrated_band,
    recalibrated,
    reliability_table,
)
from odrf.statistics.discrimination import (
    area_under_roc,
    average_precision,
    bootstrapped_precision,
)

LEVEL = 0.95
AREAS, SIZES, RATES = (0.7, 0.9, 0.98), (100, 500), (0.1, 0.5)
MANY = 400_000
BINS = 10

Rows = tuple[NDArray[np.float64], NDArray[np.float64]]


def scored(rng: np.random.Generator, n: int, rate: float, area: float) -> Rows:
    """Scores (n,) whose area under the ROC curve is `area`, and the events (n,)."""
    event = np.repeat([1.0, 0.0], [round(n * rate), n - round(n * rate)])
    return rng.normal(size=n) + np.sqrt(2) * ndtri(area) * event, event


def told_apart(samples: int, seed: int) -> Iterator[dict[str, object]]:
    """Coverage of the intervals of both measures, for each area, size and rate of events."""
    for area in AREAS:
        for rate in RATES:
            many = scored(np.random.default_rng(seed), MANY, rate, area)
            truth = {"area": area, "precision": average_precision(*many, np.ones(MANY))}
            for n in SIZES:
                rng, w = np.random.default_rng([seed, n]), np.ones(n)
                found: dict[str, list[tuple[float, float]]] = {"area": [], "precision": []}
                for s in range(samples):
                    p, event = scored(rng, n, rate, area)
                    found["area"].append(area_under_roc(p, event, w, LEVEL)[2:])
                    found["precision"].append(bootstrapped_precision(p, event, w, LEVEL, s)[2:])
                for what, intervals in found.items():
                    low, high = np.transpose(intervals)
                    holds = (low <= truth[what]) & (truth[what] <= high)
                    yield line(f"{what} {area}", n, rate, holds, high - low)


def calibrated(samples: int, seed: int) -> Iterator[dict[str, object]]:
    """Coverage of the intervals of bins, and of the band, for each size and rate of events."""
    for rate in RATES:
        for n in SIZES:
            rng, w = np.random.default_rng([seed, n]), np.ones(n)
            bins, points, widths, heights = [], [], [], []
            for s in range(samples):
                p = np.sort(rng.beta(2 * rate, 2 * (1 - rate), n))
                event = (rng.random(n) < p).astype(np.float64)
                table = reliability_table(p, event, w, BINS, LEVEL)
                bins.append(table["predicted"].between(table["conf_low"], table["conf_high"]))
                widths.append((table["conf_high"] - table["conf_low"]).mean())
                at = np.linspace(p[n // 20], p[-n // 20], 25)
                low, high = calibrated_band(p, w, at, LEVEL, s)
                curve = np.interp(at, p, recalibrated(p, event, w))
                points.append((low <= curve) & (curve <= high))
                heights.append((high - low).mean())
            yield line("bins", n, rate, np.concatenate(bins), np.array(widths))
            yield line("band", n, rate, np.concatenate(points), np.array(heights))


def line(
    what: str, n: int, rate: float, holds: NDArray[np.bool_], width: NDArray[np.float64]
) -> dict[str, object]:
    """One line of the csv."""
    return {
        "what": what,
        "rows": n,
        "events": rate,
        "level": LEVEL,
        "coverage": round(float(holds.mean()), 4),
        "width": round(float(np.nanmean(width)), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="csv to write")
    parser.add_argument("--quick", action="store_true", help="four samples, to see that it runs")
    arguments = parser.parse_args()
    samples = 4 if arguments.quick else arguments.samples
    lines = [*told_apart(samples, arguments.seed), *calibrated(samples, arguments.seed)]
    table = pd.DataFrame(lines)
    print(table.to_string(index=False))
    if arguments.out:
        table.to_csv(arguments.out, index=False)


if __name__ == "__main__":
    main()
