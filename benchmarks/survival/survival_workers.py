"""Processes that fit survival models: of R, and of interpreters of Python.

A process answers a line with a line (``survival_worker.R``, ``survival_worker.py``); rows and
predictions are in files.  One that takes too long is killed, and started again when it is needed.
Forests that keep a curve in each leaf ask for more memory than there is if many times differ; they
get 12 GiB, so that they fail, and nothing else does.
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
from pathlib import Path
from tempfile import TemporaryFile

__all__ = ["SurvivalWorker"]

OF_R = (str(Path(__file__).with_name("survival_worker.R")),)
OF_PYTHON = ("-m", "benchmarks.survival.survival_worker")
ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")
ANSWERS = ("ok", "failed")
MEMORY = 12 * 2**30


class SurvivalWorker:
    """A process that answers requests, started when it is first needed.

    Parameters
    ----------
    program : str
        ``Rscript``, or an interpreter of Python.
    """

    def __init__(self, program: str) -> None:
        self.command = [program, *(OF_R if Path(program).name == "Rscript" else OF_PYTHON)]
        self.process: subprocess.Popen[str] | None = None

    def ask(self, system: str, folder: Path, seed: int, limit: float) -> list[str]:
        """Return the answer: "ok" and what it found, or "failed" or "timed out" and words."""
        if self.process is None:
            self._start()
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(f"{system}\t{folder}\t{seed}\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], limit)
            line = self.process.stdout.readline() if ready else None
        except BrokenPipeError:
            line = ""
        if line:
            words = line.rstrip("\n").split("\t")
            if words[0] in ANSWERS:
                return words
            self.stop()
            return ["failed", f"this is no answer: {' '.join(line.split())}"]
        if line is None:
            self.stop()
            return ["timed out", f"not done within {limit:g} s"]
        return ["failed", f"the process ended: {self._last_words()}"]

    def stop(self) -> None:
        """End the process at once."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
            self.errors.close()

    def _start(self) -> None:
        self.errors = TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, **ONE_THREAD},
            preexec_fn=_limit_memory,
        )

    def _last_words(self) -> str:
        assert self.process is not None
        status = self.process.wait()
        self.errors.seek(0)
        lines = [line for line in self.errors.read().decode(errors="replace").split("\n") if line]
        self.stop()
        return f"status {status}" + (f", {' '.join(lines[-1].split())}" if lines else "")


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
