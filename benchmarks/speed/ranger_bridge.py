"""R's ranger in one R process, which evaluates commands line by line.

R evaluates each line that it reads and answers ``done``; rows are exchanged in files of doubles.
Importing this module raises ImportError if R or its package ranger is not installed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import finalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.methods.methods import Setting

__all__ = ["Rows", "fit", "pid", "rows"]

VERSION = 'cat(as.character(packageVersion("ranger")))'
LOOP = """
suppressMessages(library(ranger))
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  eval(parse(text = line), globalenv())
  cat("done\\n")
  flush(stdout())
}
"""
NUMBERS = count()


def _version() -> str:
    if shutil.which("Rscript") is None:
        raise ImportError("R is not installed")
    asked = subprocess.run(["Rscript", "-e", VERSION], capture_output=True, text=True)
    if asked.returncode:
        raise ImportError("R has no package ranger")
    return asked.stdout


__version__ = _version()


class Session:
    """A running R process, which ends when this process does."""

    def __init__(self) -> None:
        self.folder = TemporaryDirectory()
        self.process = subprocess.Popen(
            ["Rscript", "-e", LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def do(self, line: str) -> None:
        """Let R evaluate a line, and wait until it is done."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "done\n":
            raise RuntimeError(f"R failed on: {line}")

    def path(self, name: str) -> Path:
        """Return the path of a file of doubles for both processes."""
        return Path(self.folder.name) / name


@dataclass(frozen=True)
class Rows:
    """Rows in R under a name, matrix and optional response, for the lifetime of this object."""

    name: str
    number: int


@cache
def session() -> Session:
    """Start R on first use."""
    return Session()


def pid() -> int:
    """Process number of R."""
    return session().process.pid


def rows(X: pd.DataFrame, y: NDArray | None = None) -> Rows:
    """Copy rows to R."""
    n, p = X.shape
    held = Rows(f"rows{next(NUMBERS)}", n)
    session().path("X").write_bytes(X.to_numpy(float).tobytes(order="F"))
    parts = [f"X = matrix({_read('X', n * p)}, {n}, dimnames = list(NULL, paste0('x', 1:{p})))"]
    if y is not None:
        session().path("y").write_bytes(y.astype(float).tobytes())
        parts.append(f"y = {_read('y', n)}")
    session().do(f"{held.name} <- list({', '.join(parts)})")
    finalize(held, session().do, f"rm({held.name})").atexit = False
    return held


def fit(data: Rows, task: str, setting: Setting) -> Callable[[Rows], NDArray]:
    """Train a forest with leaves down to one row; return a function that predicts."""
    forest = f"forest{next(NUMBERS)}"
    classes = task == "classification"
    y = f"factor({data.name}$y)" if classes else f"{data.name}$y"
    first_class = 1 if classes else 0  # R counts the levels of a factor from 1
    session().do(
        f"{forest} <- ranger(x = {data.name}$X, y = {y}, num.trees = {setting.trees}, "
        f"num.threads = {setting.threads}, seed = {setting.seed + 1}, min.node.size = 1, "
        "oob.error = FALSE, verbose = FALSE)"
    )

    def predict(new: Rows) -> NDArray:
        predicted = f"predict({forest}, {new.name}$X, num.threads = {setting.threads})$predictions"
        path = session().path("predictions")
        session().do(f"writeBin(as.double({predicted}), '{path}')")
        return np.fromfile(path) - first_class

    finalize(predict, session().do, f"rm({forest})").atexit = False
    return predict


def _read(file: str, number: int) -> str:
    return f"readBin('{session().path(file)}', 'double', {number})"
