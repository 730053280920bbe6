"""Fitting in a separate process, which can be stopped and may use another interpreter.

If a fit takes too long, crashes or exhausts memory, only that process ends.  The process runs
`worker.py`.  Requests and answers are pickled, so both interpreters need the same major version of
pandas.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from multiprocessing import Pipe
from tempfile import TemporaryFile
from types import TracebackType

import pandas as pd
from numpy.typing import NDArray

from benchmarks.methods.methods import Setting

__all__ = ["Answer", "Failure", "Fitter", "Request"]

WORKER = "benchmarks.methods.worker"


@dataclass(frozen=True)
class Request:
    """Fit a method to the training rows and predict the test rows, which have no ``y``."""

    method: str
    task: str
    train: pd.DataFrame
    test: pd.DataFrame
    setting: Setting


@dataclass(frozen=True)
class Answer:
    """Predictions, elapsed seconds, and versions of the library and of the packages it needs."""

    prediction: NDArray
    fit_s: float
    predict_s: float
    version: str
    packages: str


@dataclass(frozen=True)
class Failure:
    """Why there are no predictions; `status` is "failed" or "timed out"."""

    status: str
    message: str


class Fitter:
    """A process that fits; started when it is first needed, and again after it was stopped.

    Parameters
    ----------
    python : str
        The interpreter.
    threads : int
        Threads of libraries that take their number from an environment variable.
    """

    def __init__(self, python: str, threads: int) -> None:
        self.python = python
        self.threads = threads
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Fitter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def fit(self, request: Request, limit: float) -> Answer | Failure:
        """Carry out a request in at most `limit` seconds, including the start of the process."""
        if self.process is None:
            self._start()
        try:
            self.connection.send(request)
            if self.connection.poll(limit):
                return self.connection.recv()
        except (EOFError, OSError):
            return Failure("failed", f"the process ended: {self._last_output()}")
        self.stop()
        return Failure("timed out", f"not done within {limit:g} s")

    def stop(self) -> None:
        """End the process at once."""
        if self.process is None:
            return
        self.process.kill()
        self.process.communicate()
        self.process = None
        self.connection.close()
        self.output.close()

    def _start(self) -> None:
        self.connection, theirs = Pipe()
        self.output = TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self.process = subprocess.Popen(
            [self.python, "-m", WORKER, str(theirs.fileno())],
            stdin=subprocess.PIPE,  # ends with this process, and the worker with it
            stdout=self.output,
            stderr=self.output,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # so that the keyboard does not interrupt the worker
            env={**os.environ, "OMP_NUM_THREADS": str(self.threads)},
        )
        theirs.close()

    def _last_output(self) -> str:
        assert self.process is not None
        status = self.process.wait()
        self.output.seek(0)
        lines = self.output.read().decode(errors="replace").split("\n")
        printed = [line for line in lines if line.strip()]
        self.stop()
        return f"status {status}" + (f", {printed[-1]}" if printed else "")
