"""The csv of a run, one line for each fit; a later run with the same file continues it.

A line is written as soon as its fit is done.  A line that is incomplete, because the run was
killed, is removed when the file is opened again.
"""

from __future__ import annotations

import csv
import os
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any

__all__ = ["Key", "Results", "Row"]

Key = tuple[str, str, int, str, int]


@dataclass(frozen=True)
class Row:
    """One fit: of a method, on a partition of a table, by a protocol.

    Attributes
    ----------
    table, protocol, partition, method, seed
        The fit.  No two lines agree in all of these, unless the later one is a retry.
    status : {"ok", "failed", "timed out"}
    message : str
        The error, if `status` is not "ok".
    task : {"regression", "classification"}
    rpe, rae, error_percent, log_loss, brier, kappa, auc : float or None
        None if not defined for the task; see `measures.py`.
    fit_s, predict_s : float or None
        Elapsed seconds of training, and of predicting all test rows.
    n, n_train, p, classes : int
        Complete rows, training rows, predictors, classes (1 for a regression).
    rarest : float or None
        Share of the rarest class.
    trees, threads : int
        As in the setting; boosters and single trees ignore `trees`.
    slow : bool or None
        Whether the table is slow and gets fewer partitions; None in the first partition, which
        decides it.
    version, packages, commit, machine : str
        Version of the method's library; versions of the packages it needs; commit of this
        repository; processor.
    """

    table: str
    protocol: str
    partition: int
    method: str
    seed: int
    status: str
    message: str
    task: str
    rpe: float | None
    rae: float | None
    error_percent: float | None
    log_loss: float | None
    brier: float | None
    kappa: float | None
    auc: float | None
    fit_s: float | None
    predict_s: float | None
    n: int
    n_train: int
    p: int
    classes: int
    rarest: float | None
    trees: int
    threads: int
    slow: bool | None
    version: str
    packages: str
    commit: str
    machine: str

    @property
    def key(self) -> Key:
        """Key of the line."""
        return self.table, self.protocol, self.partition, self.method, self.seed


COLUMNS = [field.name for field in fields(Row)]


class Results:
    """Lines of the file, which can be read and added.

    Parameters
    ----------
    path : Path
    retry : bool
        Whether fits that failed or timed out count as not yet done.
    """

    def __init__(self, path: Path, retry: bool = False) -> None:
        self.path = path
        self.retry = retry
        self.lock = Lock()
        self.lines: dict[Key, dict[str, Any]] = {}
        if path.exists():
            _cut_to_whole_lines(path)
        if not path.exists() or not path.stat().st_size:
            self._append(dict(zip(COLUMNS, COLUMNS, strict=True)))
            return
        with path.open(newline="", encoding="utf-8") as file:
            lines = csv.DictReader(file)
            if lines.fieldnames != COLUMNS:
                raise SystemExit(f"{path} was not written by this version: choose another file")
            self.lines = {_key(line): line for line in lines}

    def __contains__(self, key: Key) -> bool:
        line = self.lines.get(key)
        return line is not None and not (self.retry and line["status"] != "ok")

    def of(self, table: str, protocol: str, seed: int) -> list[dict[str, Any]]:
        """Lines of one table by one protocol with one seed."""
        with self.lock:
            return [
                line
                for (its_table, its_protocol, _, _, its_seed), line in self.lines.items()
                if (its_table, its_protocol, its_seed) == (table, protocol, seed)
            ]

    def add(self, row: Row) -> None:
        """Write a line."""
        line = asdict(row)
        with self.lock:
            self._append(line)
            self.lines[row.key] = line

    def _append(self, line: dict[str, Any]) -> None:
        text = StringIO()
        csv.DictWriter(text, COLUMNS, lineterminator="\n").writerow(
            {name: _one_line(value) for name, value in line.items()}
        )
        with self.path.open("a", newline="", encoding="utf-8") as file:
            file.write(text.getvalue())
            file.flush()
            os.fsync(file.fileno())


def _key(line: dict[str, Any]) -> Key:
    return (
        line["table"],
        line["protocol"],
        int(line["partition"]),
        line["method"],
        int(line["seed"]),
    )


def _one_line(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value


def _cut_to_whole_lines(path: Path) -> None:
    """Remove what follows the last line end; no value contains one."""
    written = path.read_bytes()
    whole = written.rfind(b"\n") + 1
    if whole < len(written):
        os.truncate(path, whole)
