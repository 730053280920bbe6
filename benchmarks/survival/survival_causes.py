"""Splits of survival forests if events have several causes: about all of them, or about one.

    python -m benchmarks.survival.survival_causes --out survival_causes.csv
    python -m benchmarks.survival.survival_causes --report survival_causes.csv

Rules of the scores that nodes are split on: ``all causes``, those of the causes added up with
random signs, the default; ``cause-specific``, log-rank scores of the cause, others being censored
(``cause=``); and ``gray``, scores of its subdistribution (``criterion="gray", cause=``).  A forest
of 500 trees on one thread is grown for each cause, but for all causes one.  Predicted incidences of
each cause are evaluated on test rows by C of Wolbers et al. (2014) and by the Brier score, averaged
over 100 times between the 10 % and the 90 % quantile of the times of training events.  Problems are
simulated ones of 300 and of 1000 training rows, and two thirds of the table of melanomas.  Seconds
are those of the processor, and of one forest.  A run with an existing csv adds the missing lines.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, run_or_report
from benchmarks.survival.survival import grid_of
from benchmarks.survival.survival_tables import SurvivalTable, partitions_of
from odrf import load_data, odrf, simulate
from odrf.statistics.survival.discrimination import concordance_of_cause
from odrf.statistics.survival.observation import censoring_curve
from odrf.statistics.survival.scores import brier_scores

FORMULA = "Surv(time, event) ~ ."
RULES: dict[str, dict[str, Any]] = {
    "all causes": {},
    "cause-specific": {"criterion": "log_rank"},
    "gray": {"criterion": "gray"},
}
SIZES = {"simulated, 300 rows": 300, "simulated, 1000 rows": 1000}
PROBLEMS = [*SIZES, "melanoma"]
TEST_ROWS = 1000
COLUMNS = ["problem", "sample", "rule", "cause", "c", "brier", "fit_s"]
ALL = "all causes"


def main() -> int:
    """Compare the rules, or report an existing csv."""
    return run_or_report(_options(), run, report)


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    tasks = [(problem, sample) for sample in range(options.samples) for problem in options.problems]
    return go_on(options.out, COLUMNS, tasks, compared, digits=None)


def compared(problem: str, sample: int, n_trees: int = 500) -> list[list[Any]]:
    """Return rule, cause, C, Brier score and seconds of each forest and cause."""
    train, test = rows_of(problem, sample)
    causes = train["event"].cat.categories[1:].astype(str)
    warmed(train, causes[0])
    lines = []
    for rule, options in RULES.items():
        fit = None
        for number, cause in enumerate(causes, 1):
            if fit is None or rule != ALL:
                about = {} if rule == ALL else {"cause": cause}
                began = time.process_time()
                fit = odrf(
                    FORMULA, train, n_trees=n_trees, seed=sample, n_jobs=1, **options, **about
                )
                seconds = time.process_time() - began
            lines.append(
                [rule, cause, *evaluated(fit, train, test, cause, number), round(seconds, 3)]
            )
    return lines


def rows_of(problem: str, sample: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training and test rows."""
    if problem in SIZES:
        simulated = simulate.competing_risks()
        train = simulated.sample(SIZES[problem], seed=2 * sample)
        return train, simulated.sample(TEST_ROWS, seed=2 * sample + 1)
    data = load_data(problem)
    kinds = data["event"].cat.codes.to_numpy()
    table = SurvivalTable(problem, data.assign(event=np.minimum(kinds, 1)))
    *_, (train, test) = partitions_of(table, sample + 1, 0)
    return data.loc[train.index], data.loc[test.index]


def warmed(train: pd.DataFrame, cause: str) -> None:
    """Compile what the fits need."""
    odrf(FORMULA, train, n_trees=20, blend=True, cause=cause, criterion="gray", seed=1, n_jobs=1)


def evaluated(
    fit: Any, train: pd.DataFrame, test: pd.DataFrame, cause: str, number: int
) -> list[float]:
    """Return C and the mean Brier score of the predicted incidences of a cause."""
    codes = train["event"].cat.codes.to_numpy()
    G = censoring_curve(train["time"].to_numpy(float), codes)
    times = grid_of(train.assign(event=np.minimum(codes, 1)))
    incidence = np.asarray(
        fit.predict(test, type="incidence", cause=cause, times=times.tolist())
    ).reshape(len(test), -1)
    ended, event = test["time"].to_numpy(float), test["event"].cat.codes.to_numpy(np.int64)
    C = concordance_of_cause(
        ended, event, incidence.mean(axis=1), number, times[-1], observed=G
    ).estimate
    brier = brier_scores(ended, event, incidence, times, number, observed=G).integrated.estimate
    return [round(C, 6), round(brier, 6)]


def report(lines: pd.DataFrame) -> str:
    """Return a table of means of each problem and cause, and of what a rule gains on all causes."""
    keys = ["problem", "cause", "rule"]
    means = lines.groupby(keys, sort=False)[["c", "brier", "fit_s"]].mean().round(4)
    table = means.astype(str).join(gains(lines))
    table.index = [", ".join(words) for words in table.index]
    return markdown_table(table, "problem, cause, rule")


def gains(lines: pd.DataFrame) -> pd.DataFrame:
    """Return what C and the Brier score of a rule exceed those of all causes by, with errors."""
    wide = lines.pivot(index=["problem", "cause", "sample"], columns="rule", values=["c", "brier"])
    found = {}
    for measure in ("c", "brier"):
        of_rules = pd.DataFrame(wide[measure])
        more = of_rules.sub(of_rules[ALL], axis=0).melt(ignore_index=False, value_name="more")
        both = more.groupby(["problem", "cause", "rule"])["more"].agg(["mean", "sem"])
        text = [f"{mean:+.4f} ({error:.4f})" for mean, error in both.to_numpy().tolist()]
        found[f"{measure}, more than {ALL}"] = pd.Series(text, both.index)
    return pd.DataFrame(found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--out", type=Path, default=Path("survival_causes.csv"), help="written, or continued")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--problems", nargs="*", default=PROBLEMS, choices=PROBLEMS, help="names")
    add("--samples", type=int, default=20, help="samples, or random partitions, of each problem")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
