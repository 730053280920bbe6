"""An interrupt by Ctrl-C is noticed within a second, and threads end soon after."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.oob import out_of_bag, permutation_loss
from odrf.engine.resamples import BOOTSTRAP, Draws, Sampling
from odrf.engine.running import (
    AHEAD,
    LARGE,
    ROWS_PER_BLOCK,
    Stopped,
    available_cores,
    end_if_stopped,
    in_order,
    row_blocks,
    usual_threads,
    with_all_that_follow,
)
from odrf.engine.trees.forest import ARRAYS
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.fits.growing import permutation_rises
from odrf.reports.importance import held_out_table
from problems import noisy
from resampled import all_counts

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
def table_of_stopping():
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
def forest(table_of_stopping):
    return OF_AXES(table_of_stopping)


@posix
@pytest.mark.parametrize("name", FITS)
def test_a_fit_can_be_interrupted(table_of_stopping, name):
    fit = FITS[name]
    fit(
        "y ~ .", table_of_stopping[:200], **({} if name == "tree" else {"n_trees": 2}), seed=1
    )  # compiled
    with interrupted(0.25):
        for _ in range(100):
            fit("y ~ .", table_of_stopping, seed=1)
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
def test_what_follows_a_fit_can_be_interrupted(table_of_stopping, forest, work):
    work(OF_AXES(table_of_stopping[:150]), table_of_stopping[:150])  # compiled
    with interrupted(0.25):
        for _ in range(1000):
            work(forest, table_of_stopping)
    assert threads_end(3)


@posix
def test_the_command_ends_with_130_and_without_a_traceback(table_of_stopping, tmp_path):
    path = tmp_path / "table.csv"
    table_of_stopping[:3000].to_csv(path, index=False)
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


# ------------------------------------------------------------------------------------------------
# Threads change the time a fit takes and nothing else.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    first_may_end = threading.Event()
    if n_jobs == 1:
        first_may_end.set()

    def work(task):
        if task == 0:
            assert first_may_end.wait(5)
        elif task == 1:
            first_may_end.set()
        return 10 * task

    assert list(in_order(work, range(20), n_jobs)) == list(range(0, 200, 10))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_reaches_the_caller(n_jobs):
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda task: 1 // task, [1, 0, 1], n_jobs))


@pytest.mark.parametrize("n", [0, 1, ROWS_PER_BLOCK, 3 * ROWS_PER_BLOCK + 1])
def test_blocks_cover_each_row_once(n):
    rows = [row for block in row_blocks(n) for row in range(block.start, block.stop)]
    assert rows == list(range(n))


@pytest.mark.parametrize(("n", "size"), [(1, 1), (10, 3), (9, 3), (2, 5)])
def test_blocks_of_a_size(n, size):
    blocks = row_blocks(n, size)
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(range(n))
    assert all(block.stop - block.start == size for block in blocks[:-1])


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_the_same_bits_for_any_number_of_threads(n_jobs):
    problem = replace(
        noisy(n=ROWS_PER_BLOCK + 500, n_projections=2, max_leaves=20),
        sampling=Sampling(BOOTSTRAP, 1.0),
    )
    streams = problem.streams(7)
    data = (problem.X, problem.y)

    def everything(n_jobs):
        forest = problem.grow(7, n_jobs)
        yield from (getattr(forest, name) for name in ARRAYS)
        yield leaf_nodes(forest, problem.X, n_jobs)
        yield predict(forest, problem.X, n_jobs)
        draws = Draws(problem.weights, [problem.sampling] * 7, streams, n_jobs)
        yield from (all_counts(draws), draws.all_unseen())
        yield from out_of_bag(forest, *data, draws)
        yield from permutation_loss(forest, *data, problem.feature_groups.first, draws)

    for one, other in zip(everything(1), everything(n_jobs), strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_forest_is_the_beginning_of_a_longer_one_and_leaves_its_streams_alone():
    problem = noisy(n=60, n_projections=2)
    streams = problem.streams(5)
    steps = []
    forest = grow_forest(*problem.growth, streams, 2, lambda: steps.append(None))
    assert len(steps) == 5
    assert (streams == problem.streams(5)).all()
    for b, tree in enumerate(map(forest.tree, range(5))):
        np.testing.assert_array_equal(tree.coef, problem.grow(b + 1).tree(b).coef)


def halves(task):
    """The length of an interval, and its halves, down to one number."""
    low, high = task
    middle = (low + high) // 2
    return (low, high), [(low, middle), (middle, high)] if high - low > 1 else []


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_tasks_that_follow_from_tasks_are_done_once(n_jobs):
    found = sorted(with_all_that_follow(halves, (0, 64), n_jobs))
    assert len(found) == 127
    assert [low for low, high in found if high - low == 1] == list(range(64))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_exception_of_a_task_that_follows_reaches_the_caller(n_jobs):
    def fails(task):
        return halves(task) if task != (8, 16) else 1 // 0

    with pytest.raises(ZeroDivisionError):
        list(with_all_that_follow(fails, (0, 64), n_jobs))


# ------------------------------------------------------------------------------------------------
# Cores that the process may use, and threads by default.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A root folder of a machine of eight cores, without control groups."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    (tmp_path / "proc/self").mkdir(parents=True)
    return tmp_path


def group(root, line, files):
    """Put the process into a control group, whose folder has these files."""
    with (root / "proc/self/cgroup").open("a") as lines:
        lines.write(f"{line}\n")
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


def test_without_groups_the_cores_are_those_the_process_is_bound_to(machine):
    assert available_cores(machine) == usual_threads(machine) == 8


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("200000 100000", 2), ("250000 100000", 3), ("50000 100000", 1), ("max 100000", 8),
     ("9900000 100000", 8)],
)  # fmt: skip
def test_groups_of_version_2(machine, quota, cores):
    group(machine, "0::/a/b", {"a/b/cpu.max": quota})
    assert available_cores(machine) == cores


def test_the_smallest_quota_of_the_groups_around_counts(machine):
    files = {"a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000", "cpu.max": "700000 100000"}
    group(machine, "0::/a/b", files)
    assert available_cores(machine) == 3


@pytest.mark.parametrize(("quota", "cores"), [("400000", 4), ("-1", 8)])
def test_groups_of_version_1(machine, quota, cores):
    group(machine, "3:memory:/a", {})
    files = {"cpu/a/cpu.cfs_quota_us": quota, "cpu/a/cpu.cfs_period_us": "100000"}
    group(machine, "4:cpu,cpuacct:/a", files)
    assert available_cores(machine) == cores


@pytest.mark.parametrize(
    ("words", "threads"),
    [("2", 2), ("4,2", 4), (" 3 ", 3), ("100", 8), ("0", 8), ("", 8), ("many", 8), ("-2", 8)],
)
def test_the_variable_of_threads(machine, monkeypatch, words, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", words)
    assert usual_threads(machine) == threads
    assert available_cores(machine) == 8
