"""Running all methods on one table by one protocol; fits that are done are skipped."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.accuracy.results_file import Key, Results, Row
from benchmarks.methods.fitter import Answer, Failure, Fitter, Request
from benchmarks.methods.methods import Setting
from benchmarks.shared.measures import MEASURES, measures
from benchmarks.shared.origin import commit, machine
from benchmarks.shared.protocol import Partition, Protocol, partitions
from benchmarks.shared.tables import Table

__all__ = ["Study", "TableRun"]

Done = Callable[[], object]


@dataclass(frozen=True)
class Study:
    """Methods and settings of a run.

    Attributes
    ----------
    methods : list of str
    setting : Setting
        Its seed is used for the partitions; the seed of a method is that plus the number of the
        partition.
    partitions : int
        Number of partitions of the protocol with random partitions.
    slow_s, slow_partitions
        A table is slow if all methods together take more than `slow_s` seconds on its first
        partition; it gets only `slow_partitions`.  A fit that timed out counts as `limit`.
    limit : float
        Seconds that a fit and its prediction may take, including the start of the process.
    interpreters : dict of str
        Interpreters of the methods that need a separate one.
    """

    methods: list[str]
    setting: Setting
    partitions: int
    slow_s: float
    slow_partitions: int
    limit: float
    interpreters: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TableRun:
    """The methods of a study on one table by one protocol; `results` holds what is done."""

    table: Table
    protocol: Protocol
    study: Study
    results: Results

    def run(self, done: Done) -> None:
        """Run the missing fits, and call `done` after each."""
        seed = self.study.setting.seed
        pythons = {
            method: self.study.interpreters.get(method, sys.executable)
            for method in self.study.methods
        }
        with ExitStack() as stack:
            fitters = {
                python: stack.enter_context(Fitter(python, self.study.setting.threads))
                for python in set(pythons.values())
            }
            most = self.protocol.folds or self.study.partitions
            for number, rows in enumerate(partitions(self.table, self.protocol, most, seed)):
                slow = self.slow() if number else None
                if slow and number >= self.study.slow_partitions:
                    return
                for method in self.study.methods:
                    if self._key(number, method) not in self.results:
                        outcome = self._outcome(fitters[pythons[method]], number, rows, method)
                        self.results.add(self._row(number, rows, method, outcome, slow))
                        done()

    def slow(self) -> bool:
        """Whether the table gets fewer partitions because its first one took long.

        The decision is written with the later partitions, and is kept for methods that are added
        in a later run.
        """
        if self.protocol.folds is not None:
            return False
        lines = self.results.of(self.table.name, self.protocol.name, self.study.setting.seed)
        decided = [line["slow"] for line in lines if int(line["partition"])]
        if decided:
            return str(decided[0]) == "True"
        return sum(self._seconds(line) for line in lines) > self.study.slow_s

    def _seconds(self, line: dict[str, Any]) -> float:
        if line["status"] == "timed out":
            return self.study.limit
        return sum(float(line[name] or 0) for name in ("fit_s", "predict_s"))

    def _key(self, number: int, method: str) -> Key:
        return self.table.name, self.protocol.name, number, method, self.study.setting.seed

    def _outcome(
        self, fitter: Fitter, number: int, partition: Partition, method: str
    ) -> Answer | Failure:
        before = self.results.lines.get(self._key(number - 1, method))
        if before is not None and before["status"] == "timed out":
            return Failure("timed out", "not tried: the partition before timed out")
        setting = self.study.setting
        request = Request(
            method,
            self.table.task,
            partition.train,
            partition.test.drop(columns="y"),
            replace(setting, seed=setting.seed + number),
        )
        return fitter.fit(request, self.study.limit)

    def _row(
        self,
        number: int,
        partition: Partition,
        method: str,
        outcome: Answer | Failure,
        slow: bool | None,
    ) -> Row:
        scores: dict[str, float] = {}
        if isinstance(outcome, Answer):
            try:
                scores = measures(
                    self.table.task, outcome.prediction, partition.train["y"], partition.test["y"]
                )
            except ValueError as error:
                outcome = Failure("failed", str(error))
        answer = outcome if isinstance(outcome, Answer) else None
        failure = outcome if isinstance(outcome, Failure) else Failure("ok", "")
        y = self.table.data["y"]
        classes = self.table.task == "classification"
        return Row(
            table=self.table.name,
            protocol=self.protocol.name,
            partition=number,
            method=method,
            seed=self.study.setting.seed,
            status=failure.status,
            message=failure.message,
            task=self.table.task,
            **{name: scores.get(name) for name in MEASURES},
            fit_s=answer.fit_s if answer else None,
            predict_s=answer.predict_s if answer else None,
            n=len(y),
            n_train=len(partition.train),
            p=self.table.data.shape[1] - 1,
            classes=y.nunique() if classes else 1,
            rarest=y.value_counts(normalize=True).min() if classes else None,
            trees=self.study.setting.trees,
            threads=self.study.setting.threads,
            slow=slow,
            version=answer.version if answer else "",
            packages=answer.packages if answer else "",
            commit=commit(),
            machine=machine(),
        )
