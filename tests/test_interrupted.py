"""Ctrl-C stops long work within a second, and leaves nothing half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
AFTER = 0.15
# Beside another worker of the tests, a thread may wait for a core.
WITHIN = 2.5 if "PYTEST_XDIST_WORKER" in os.environ else 1.0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_stops_long_work_and_leaves_nothing_half_done():
    command = [sys.executable, str(TESTS / "interrupted.py")]
    search = os.pathsep.join([str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": search.rstrip(os.pathsep), "ODRF_QUIET": "1"}
    seconds, wrong = {}, []
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            word, _, name = line.strip().partition(" ")
            if word == "begin":
                time.sleep(AFTER)
                process.send_signal(signal.SIGINT)
                sent = time.perf_counter()
            elif word == "stopped":
                seconds[name] = time.perf_counter() - sent
            elif word != "fine":
                wrong.append(line)
    print({name: round(stop, 3) for name, stop in seconds.items()})
    assert process.returncode == 0 and not wrong
    assert len(seconds) >= 12
    assert max(seconds.values()) < WITHIN
