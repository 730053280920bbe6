"""Work done in a process of its own: a fault in it does not end the tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from forked import Forked

__all__ = ["begun", "command", "python", "script", "started"]

ROOT = Path(__file__).parents[1]


def started(arguments, **options):
    """Start Python with these arguments, as a user would: a closed pipe and signals are plain."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg", "ODRF_QUIET": "1"}
    env |= options.pop("env", {})  # None takes a variable away
    env = {name: value for name, value in env.items() if value is not None}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *arguments], env=env, **{**pipes, **options})


def begun(arguments, **options):
    """Start Python as `started` does, but on Linux where the package has been imported already."""
    return (Forked if sys.platform == "linux" else started)(arguments, **options)


def _ended(process):
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        raise
    return subprocess.CompletedProcess(None, process.returncode, out, err)


def python(code, *arguments, **options):
    """Run code to its end; return status, stdout and stderr."""
    return _ended(started(["-c", code, *map(str, arguments)], **options))


def command(*arguments, **options):
    """Run the command ``odrf`` to its end; return status, stdout and stderr."""
    return _ended(begun(["-m", "odrf", *map(str, arguments)], **options))


def script(path, *arguments, **options):
    """Run a file of Python to its end; return status, stdout and stderr."""
    return _ended(started(map(str, [path, *arguments]), **options))
