"""Do boosted trees gain from smaller steps: at half the rate, or at a rate found out of bag?

    python -m benchmarks.options.learning_rates --out learning_rates.csv [--data DIR] [--tables a,b]
                                                [--repeats 2]
    python -m benchmarks.options.learning_rates --report learning_rates.csv

Fits of the training rows of a partition (``protocol.py``, Z) are evaluated on its test rows:

* ``one run``: the default of `odbt`, 100 rounds at the rate 0.1.  ``one run, half the rate``: 200
  rounds at 0.05.
* ``runs``: `RUNS` runs of at most `ROUNDS` rounds, whose number out-of-bag rows choose.  ``runs,
  half the rate``: at half the rate, with twice the rounds allowed.
* ``runs, halved``: while fewer than `FEW` rounds are kept, the runs are boosted again at half the
  rate, with twice the rounds allowed.  They take the place of those before them if the out-of-bag
  loss of the rows falls by more than one standard error of the differences, and else it ends.
* ``one run, as runs``: one run with the rate and the number of rounds of ``runs, halved``.

The losses out of bag are squared errors, or log losses of classes.  Seconds are those of the
processor, in one thread; of all fits that a rule needs.  Losses and seconds are compared with those
of ``one run`` and of ``runs``, for the tables in odd and in even places of the index: what one half
suggests, the other can confirm.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.on_tables import in_odd_places, partition_of, tables_parser, tasks_on
from benchmarks.shared.protocol import Partition
from benchmarks.shared.ratios import beside_default
from benchmarks.shared.runs import go_on, run_or_report
from odrf import odbt
from odrf.options import words
from odrf.results.boosted import ODBTResults

RATE, ONE_RUNS_ROUNDS = 0.1, 100
"""The defaults of `odbt`."""
RUNS, ROUNDS, FEW = 6, 150, 100
"""Runs and rounds as in `odrf.auto`."""
LEAST = 1e-6
"""A probability counts as at least so much."""
ONE, SEVERAL = "one run", "runs"
HALF = "half the rate"
MEASURED = {"rpe": 0.005, "error_percent": 0.5, "log_loss": 0.01}
"""The measures, and what is added to both losses of a ratio (``ratios.py``)."""
COLUMNS = ["table", "place", "partition", "way", "rate", "rounds", "seconds", *MEASURED]


class Timed(NamedTuple):
    """A fit, its learning rate, and the processor seconds that it took."""

    fit: ODBTResults
    rate: float
    seconds: float


def fitted(rows: Partition, task: words.Kind, seed: int, rate: float, **options: Any) -> Timed:
    """Fit in one thread."""
    begin = time.process_time()
    fit = odbt("y ~ .", rows.train, kind=task, learning_rate=rate, seed=seed, n_jobs=1, **options)
    return Timed(fit, rate, time.process_time() - begin)


def runs_at(rows: Partition, task: words.Kind, seed: int, rate: float) -> Timed:
    """Fit several runs; at half the rate twice the rounds are allowed."""
    most = round(ROUNDS * RATE / rate)
    return fitted(rows, task, seed, rate, n_trees=most, n_runs=RUNS, validation="oob")


def losses_out_of_bag(fit: ODBTResults, task: words.Kind, y: pd.Series) -> NDArray[np.float64]:
    """Return the loss of each training row (n,) by the runs that did not draw it, or NaN."""
    kind: Any = "response" if task == "regression" else "prob"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some rows are drawn by all runs
        predicted = fit.predict(type=kind, training="out-of-bag")
    if task == "regression":
        return np.asarray((predicted - y) ** 2, dtype=float)
    columns = predicted.columns.astype(str).get_indexer(pd.Index(y.astype(str)))
    shares = predicted.to_numpy(float)[np.arange(len(y)), columns]
    return -np.log(np.maximum(shares, LEAST))


def halved(rows: Partition, task: words.Kind, seed: int, usual: Timed) -> Timed:
    """Halve the rate as long as few rounds are kept and the out-of-bag loss clearly falls."""
    kept, seconds, y = usual, usual.seconds, rows.train["y"]
    while kept.fit.n_rounds < FEW:
        other = runs_at(rows, task, seed, kept.rate / 2)
        seconds += other.seconds
        gains = losses_out_of_bag(kept.fit, task, y) - losses_out_of_bag(other.fit, task, y)
        gains = gains[~np.isnan(gains)]
        if not gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)):
            break
        kept = other
    return kept._replace(seconds=seconds)


def fits(rows: Partition, task: words.Kind, seed: int) -> Iterator[tuple[str, Timed]]:
    """Yield each way with its fit."""
    fitted(rows, task, seed, RATE, n_trees=1)  # compiled before it is timed
    yield ONE, fitted(rows, task, seed, RATE)
    yield f"{ONE}, {HALF}", fitted(rows, task, seed, RATE / 2, n_trees=2 * ONE_RUNS_ROUNDS)
    usual = runs_at(rows, task, seed, RATE)
    yield SEVERAL, usual
    yield f"{SEVERAL}, {HALF}", runs_at(rows, task, seed, RATE / 2)
    found = halved(rows, task, seed, usual)
    yield f"{SEVERAL}, halved", found
    single = fitted(rows, task, seed, found.rate, n_trees=found.fit.n_rounds)
    yield f"{ONE}, as {SEVERAL}", single._replace(seconds=single.seconds + found.seconds)


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table, partition and way, continuing the csv."""

    def lines(name: str, place: int, number: int) -> Iterator[tuple]:
        task, rows = partition_of(options, name, number)
        kind: Any = "response" if task == "regression" else "prob"
        for way, (fit, rate, seconds) in fits(rows, task, options.seed + number):
            predicted = fit.predict(rows.test, kind).to_numpy()
            scores = measures(task, predicted, rows.train["y"], rows.test["y"])
            yield way, rate, fit.n_rounds, seconds, *(scores.get(name) for name in MEASURED)

    return go_on(options.out, COLUMNS, tasks_on(options), lines)


def report(lines: pd.DataFrame) -> str:
    """Compare losses and seconds with those of one run and of several, as markdown."""
    parts = []
    for base in (ONE, SEVERAL):
        compared = lines if base == ONE else lines[lines["way"].str.startswith(base)]
        for measure, small in MEASURED.items():
            known = compared[compared[measure].notna()]
            if known.empty:
                continue
            means = known.pivot_table(index=["place", "table"], columns="way", values=measure)
            means = means[known["way"].unique()]
            figures = beside_default(means, base, small, in_odd_places(means))
            title = f"{measure} beside {base}, {len(means)} tables:"
            parts.append(f"{title}\n\n{markdown_table(figures, 'way')}")
    parts.append(f"Rates, rounds and seconds:\n\n{markdown_table(costs(lines), 'way')}")
    return "\n\n".join(parts)


def costs(lines: pd.DataFrame) -> pd.DataFrame:
    """Return how often each way ends at which rate, its rounds, and its seconds beside a base."""
    seconds = lines.pivot_table(index=["table", "partition"], columns="way", values="seconds")
    ways = {}
    for way, of_way in lines.groupby("way", sort=False):
        counts = of_way["rate"].value_counts().sort_index(ascending=False)
        base = ONE if str(way).startswith(ONE) else SEVERAL
        ratio = seconds[way] / seconds[base]
        ways[way] = {
            "rates (fits)": ", ".join(f"{rate:g} ({count})" for rate, count in counts.items()),
            "median rounds": f"{of_way['rounds'].median():.0f}",
            "beside": base,
            "times as many seconds, median": f"{ratio.median():.1f}",
            "most": f"{ratio.max():.1f}",
        }
    return pd.DataFrame(ways).T


def main() -> int:
    """Try the rates, or report an existing csv."""
    options = tables_parser(__doc__ or "", "learning_rates.csv", repeats=2, trees=0).parse_args()
    return run_or_report(options, run, report, options.data)


if __name__ == "__main__":
    sys.exit(main())
