"""Methods compared on cases: a line of a csv for each fit, and mean losses and ranks of the lines.

A case is what a benchmark varies, such as a table, a mechanism and a share of empty cells.  Losses
are the relative prediction error of a regression and the error rate of classes, with the log loss
beside it (``measures.py``).  A fit that fails or takes too long has a line without a loss.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from benchmarks.methods.fitter import Answer, Failure, Fitter, Request
from benchmarks.methods.methods import METHODS, Setting
from benchmarks.methods.raw_methods import RAW_METHODS
from benchmarks.shared.markdown import in_bold
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.origin import commit
from benchmarks.shared.protocol import PROTOCOLS, Partition, partitions
from benchmarks.shared.ranks import mean_ranks
from benchmarks.shared.runs import go_on
from benchmarks.shared.tables import Table

__all__ = [
    "Comparison",
    "case_losses",
    "failures",
    "in_order",
    "partition_of",
    "rank_table",
    "seconds_table",
]

MEASURED = [
    "status",
    "message",
    "task",
    "loss",
    "log_loss",
    "fit_s",
    "predict_s",
    "n_train",
    "p",
    "classes",
    "trees",
    "version",
    "commit",
]


@dataclass(frozen=True)
class Comparison:
    """Methods, their settings, and the seconds that one fit may take.

    The seed of a fit is that of the setting plus the number of the partition.
    """

    methods: Sequence[str]
    setting: Setting
    limit: float

    def run(
        self,
        path: Path,
        names: list[str],
        cases: Sequence[tuple],
        partition: Callable[..., tuple[str, Partition]],
    ) -> pd.DataFrame:
        """Add the fits that the csv lacks.

        A case is described by values of the columns `names`, of which the last is the number of a
        partition; `partition` returns the task and the rows of a case.
        """
        known = METHODS | RAW_METHODS
        there = [name for name in self.methods if find_spec(known[name].library.split(".")[0])]
        for name in sorted(set(self.methods) - set(there)):
            print(f"{name} left out: {known[name].library} is not installed", file=sys.stderr)
        tasks = [(*case, method) for case in cases for method in there]
        with ExitStack() as stack:
            fitter = stack.enter_context(Fitter(sys.executable, self.setting.threads))

            def line(*task: object) -> list[tuple]:
                kind, rows = partition(*task[:-1])
                return [self._measured(fitter, str(task[-1]), kind, rows, int(str(task[-2])))]

            return go_on(path, [*names, "method", *MEASURED], tasks, line)

    def _measured(
        self, fitter: Fitter, method: str, task: str, rows: Partition, number: int
    ) -> tuple:
        setting = Setting(self.setting.trees, self.setting.seed + number, self.setting.threads)
        request = Request(method, task, rows.train, rows.test.drop(columns="y"), setting)
        outcome = fitter.fit(request, self.limit)
        scores: dict[str, float] = {}
        if isinstance(outcome, Answer):
            try:
                scores = measures(task, outcome.prediction, rows.train["y"], rows.test["y"])
            except ValueError as error:
                outcome = Failure("failed", str(error))
        answer = outcome if isinstance(outcome, Answer) else None
        failure = outcome if isinstance(outcome, Failure) else Failure("ok", "")
        classes = task == "classification"
        return (
            failure.status,
            failure.message,
            task,
            scores.get("error_percent", float("nan")) / 100 if classes else scores.get("rpe"),
            scores.get("log_loss"),
            answer.fit_s if answer else None,
            answer.predict_s if answer else None,
            len(rows.train),
            rows.train.shape[1] - 1,
            rows.train["y"].nunique() if classes else 1,
            self.setting.trees,
            answer.version if answer else "",
            commit(),
        )


def partition_of(table: Table, seed: int) -> Partition:
    """Split a table at random, two thirds for training."""
    return next(partitions(table, PROTOCOLS["Z"], 1, seed))


def in_order(lines: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Order lines by their methods; those of other methods come last."""
    place = {name: number for number, name in enumerate(methods)}
    return lines.sort_values(
        "method", key=lambda names: names.map(place).fillna(len(place)), kind="stable"
    )


def case_losses(lines: pd.DataFrame, case: list[str], measure: str = "loss") -> pd.DataFrame:
    """Mean over partitions: a row for each case, a column for each method.

    Missing if a method has no result on one of the partitions.
    """
    if measure == "log_loss":
        lines = lines[lines["classes"] > 1]
    wide = _by_method(lines, case, measure)
    means = wide.groupby(case, sort=False).mean()
    return means.where(wide.notna().groupby(case, sort=False).all())


def rank_table(losses: pd.DataFrame, by: list[str], corner: str) -> str:
    """Mean ranks within each group of cases, and over all; the best in bold."""
    ranks = {
        " ".join(map(str, key if isinstance(key, tuple) else (key,))): (of, len(of))
        for key, of in losses.groupby(by, sort=False)
    }
    if len(ranks) > 1:
        ranks["all"] = losses, len(losses)
    cells = pd.DataFrame({name: mean_ranks(of) for name, (of, _) in ranks.items()}).T
    text = in_bold(cells.map("{:.2f}".format), cells.eq(cells.min(axis=1), axis=0))
    text.insert(0, "cases", [str(number) for _, number in ranks.values()])
    return markdown_table(text, corner)


def seconds_table(lines: pd.DataFrame, case: list[str], base: str) -> str:
    """Training seconds: medians over cases, and median ratios to `base` on the same rows."""
    wide = _by_method(lines, case, "fit_s")
    cells = pd.DataFrame({"median s": wide.median().map("{:.2f}".format)})
    if base in wide:
        ratios = wide.div(wide[base], axis=0)
        cells[f"median ratio to {base}"] = ratios.median().map("{:.2f}".format)
        cells["largest ratio"] = ratios.max().map("{:.2f}".format)
    return markdown_table(cells, "method")


def failures(lines: pd.DataFrame, case: list[str]) -> str:
    """Fits without a result, counted by method, and the first message of each."""
    missed = lines[lines["status"] != "ok"]
    if missed.empty:
        return "Every fit came to its end."
    rows = [
        f"* {method}, {status}, {len(group)} fits, {group[case[0]].nunique()} tables; the first: "
        f"{group['message'].iloc[0]}"
        for (method, status), group in missed.groupby(["method", "status"], sort=False)
    ]
    return "Without a result:\n\n" + "\n".join(rows)


def _by_method(lines: pd.DataFrame, case: list[str], measure: str) -> pd.DataFrame:
    """Return a row for each case and partition, a column for each method, in the lines' order."""
    rows = [*case, "partition"]
    wide = lines.set_index([*rows, "method"])[measure].unstack("method")
    # some versions of pandas give columns wrong names if they unstack without sorting
    there = pd.MultiIndex.from_frame(lines[rows].drop_duplicates())
    return wide.reindex(index=there, columns=pd.unique(lines["method"]))
