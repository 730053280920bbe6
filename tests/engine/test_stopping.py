"""An interrupt by Ctrl-C is noticed within a second, and threads end soon after."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.running import AHEAD, LARGE, Stopped, end_if_stopped, in_order
from odrf.fits.growing import permutation_rises
from odrf.reports.importance import held_out_table

ROOT = Path(__file__).parents[2]
# Beside another worker of the tests, a thread may wait for a core.
WITHIN = 2.5 if "PYTEST_XDIST_WORKER" in os.environ else 1.0
posix = pytest.mark.skipif(sys.platform == "win32", reason="timers of POSIX")


@contextmanager
def interrupted(after):
    """Interrupt what is done inside after so many seconds; it must end within `WITHIN`."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    due = time.perf_counter() + after  # Python calls the handler later, if a kernel is running
    # again after a second: Python loses an exception that a handler raises while it frees objects
    signal.setitimer(signal.ITIMER_REAL, after, 1.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
        assert time.perf_counter() - due < WITHIN
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def threads_end(within):
    """Whether all threads that work end within so many seconds."""
    end = time.perf_counter() + within
    workers = [thread for thread in threading.enumerate() if thread.name == "odrf worker"]
    while any(thread.is_alive() for thread in workers) and time.perf_counter() < end:
        time.sleep(0.01)  # no join: an interrupted start leaves a thread that never began
    return not any(thread.is_alive() for thread in workers)


@posix
@pytest.mark.parametrize(("n_jobs", "size"), [(2, 0), (1, LARGE + 1)])
def test_nobody_waits_for_a_task_that_has_begun(n_jobs, size):
    begun, released = [], threading.Event()

    def long(task):
        begun.append(task)
        released.wait(10)

    with interrupted(0.2):
        list(in_order(long, range(200), n_jobs, size))
    released.set()
    assert threads_end(5)
    assert len(begun) == n_jobs


@posix
def test_tasks_within_tasks_end_too():
    ended = []

    def inner(task):
        try:
            while True:
                time.sleep(0.01)
                end_if_stopped()
        except Stopped:
            ended.append(task)
            raise

    def outer(task):
        return list(in_order(inner, range(2), task))

    with interrupted(0.3):
        list(in_order(outer, [1, 2], 2))
    assert threads_end(5)
    assert len(ended) == 3


def test_no_task_begins_when_the_caller_has_ended():
    begun = []
    for first in in_order(lambda task: begun.append(task) or task, range(10_000), 2):
        assert first == 0
        break
    assert threads_end(5)
    assert len(begun) <= 2 * AHEAD


def test_an_error_does_not_wait_for_other_tasks():
    released, start = threading.Event(), time.perf_counter()
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda task: 1 // task if task == 0 else released.wait(10), [0, 1], 2))
    assert time.perf_counter() - start < 1
    released.set()
    assert threads_end(5)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 20))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)])
    return frame.assign(y=X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=len(X)))


FITS = {
    "forest": partial(odrf.odrf, n_trees=200),
    "one thread": partial(odrf.odrf, n_trees=200, n_jobs=1),
    "tree": odrf.odt,
    "guided": partial(odrf.graf, n_trees=100),
    "boosted": partial(odrf.odbt, n_trees=2000),
}
FEW = partial(odrf.odrf, n_trees=20)
OF_AXES = partial(FEW, "y ~ .", max_leaves=300, projection="axis", blend=False, seed=1)


@pytest.fixture(scope="module")
def forest(table):
    return OF_AXES(table)


@posix
@pytest.mark.parametrize("name", FITS)
def test_a_fit_can_be_interrupted(table, name):
    fit = FITS[name]
    fit("y ~ .", table[:200], **({} if name == "tree" else {"n_trees": 2}), seed=1)  # compiled
    with interrupted(0.25):
        for _ in range(100):
            fit("y ~ .", table, seed=1)
    assert threads_end(3)


@posix
@pytest.mark.parametrize(
    "work",
    [
        lambda forest, table: permutation_rises(forest.fit),
        lambda forest, table: forest.predict(table),
        lambda forest, table: forest.select_variables(),
        lambda forest, table: odrf.compare("y ~ .", table, {"a": odrf.odt, "b": FEW}, cv=2),
        lambda forest, table: odrf.tune("y ~ .", table, {"min_leaf": [5, 50]}, n_trees=20),
        lambda forest, table: odrf.odt("y ~ .", table, alpha="cv"),
        lambda forest, table: held_out_table(forest.tree(0).prune(0.0).fit),
        lambda forest, table: odrf.odbt("y ~ .", table, n_trees=3, seed=1).importance(),
    ],
)
def test_what_follows_a_fit_can_be_interrupted(table, forest, work):
    work(OF_AXES(table[:150]), table[:150])  # compiled
    with interrupted(0.25):
        for _ in range(1000):
            work(forest, table)
    assert threads_end(3)


@posix
def test_the_command_ends_with_130_and_without_a_traceback(table, tmp_path):
    path = tmp_path / "table.csv"
    table[:3000].to_csv(path, index=False)
    command = [sys.executable, "-m", "odrf", "y ~ .", str(path), "--trees", "5000", "--progress"]
    # where the tests run behind a shell, they ignore interrupts, and so would the command
    plain = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, preexec_fn=plain) as process:
        seen = b""
        while b"tree" not in seen:
            seen += process.stderr.read(1)
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        rest = process.stderr.read()
        assert process.wait(10) == 130
        assert time.perf_counter() - start < 3
    assert rest.endswith(b"odrf: interrupted\n")
    assert b"Traceback" not in rest
