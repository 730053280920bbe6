"""What does a forest on the workers of a Dask cluster take, beside the same forest in one process?

    python -m benchmarks.many_rows.dask_workers --out distributed.csv --tasks distributed_tasks.csv
    python -m benchmarks.many_rows.dask_workers --report distributed.csv

Rows are those of ``streamed.py``: 20 uniform predictors, of which Friedman's first function uses
five, and normal noise.  They are a persisted data frame of Dask in ``--partitions`` partitions; in
one process they are a list of the same data frames.  Workers are processes with one thread each.
In one of the fits a worker is killed when half of the trees are grown.  All fits are the same, bit
by bit; ``same`` compares them with the first one.  Seconds are those of the clock, ``processor``
those of the processors of all processes, because other work may run beside the fits, and ``work``
are the seconds of the tasks of all workers, by the clock.  Megabytes (2^20 bytes) are ``moved``
between workers, and ``returned`` are the trees that the client has gathered.

``--tasks`` gets number, seconds and bytes of the tasks of each kind, by the clock, with the share
of it that processors worked on them.  Its lines ``scheduling`` are of tasks that do nothing, in a
graph like that of a wave of trees: the processor seconds, and the bytes of memory, that scheduler
and client take for a task.  ``thousand_workers.py`` reads them.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.many_rows.streamed import LEAF, NAMES, predictors, truth
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from odrf import odrf
from odrf.engine.trees.forest import ARRAYS
from odrf.results.forest import ODRFResults

MEASURES = ("seconds", "processor", "work", "moved", "returned", "tasks", "oob_mse", "same")
COLUMNS = ["method", "workers", "rows", "trees", "partitions", *MEASURES]
OF_TASKS = ["what", "tasks", "seconds", "largest_seconds", "bytes", "processor_share"]
CHUNKS, DASK, KILLED = "in chunks", "Dask", "Dask, a worker killed"
RUNS = [(CHUNKS, 1), (CHUNKS, 2), (DASK, 1), (DASK, 2), (KILLED, 2)]
MEGABYTE = 2**20
# Stretches and trees of the graph whose tasks do nothing.
IDLE = 50, 60


def part_of_rows(number: int, rows: int, seed: int) -> pd.DataFrame:
    """Draw the rows of a partition."""
    X = predictors(rows, number, seed)
    noise = np.random.default_rng([seed, number, 1]).normal(size=rows)
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(0, "y", (truth(X) + noise).astype(np.float32))
    return frame


@contextmanager
def started(workers: int) -> Iterator[tuple[Any, Any]]:
    """Start a cluster on this machine; yield the client and the cluster."""
    from distributed import Client, LocalCluster  # noqa: PLC0415  # optional

    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    )
    with cluster, Client(cluster) as client:
        yield client, cluster


def moved_bytes(client: Any) -> float:
    """Return the bytes that workers have got from each other so far."""
    of_workers = client.run(
        lambda dask_worker: sum(each["total"] for each in dask_worker.transfer_incoming_log)
    )
    return float(sum(of_workers.values()))


def times_of_tasks(stream: Any) -> pd.DataFrame:
    """Return number, seconds and bytes of the tasks of each kind in a stream of tasks."""
    from dask.utils import key_split  # noqa: PLC0415  # optional

    found = [
        (key_split(task["key"]), step["stop"] - step["start"], task["nbytes"])
        for task in stream.data
        for step in task["startstops"]
        if step["action"] == "compute"
    ]
    lines = pd.DataFrame(found, columns=["what", "seconds", "bytes"]).groupby("what")
    return pd.DataFrame(
        {
            "tasks": lines.size(),
            "seconds": lines["seconds"].mean(),
            "largest_seconds": lines["seconds"].max(),
            "bytes": lines["bytes"].mean(),
        }
    ).reset_index()


def idle_times(client: Any) -> pd.DataFrame:
    """Return the seconds that a scheduler takes for a task, in a graph like that of a wave."""
    import psutil  # noqa: PLC0415  # comes with Dask

    stretches, trees = IDLE
    graph: dict[Any, Any] = {("draw", s): (list, [s]) for s in range(stretches)}
    for t in range(trees):
        graph.update({("pick", s, t): (len, ("draw", s)) for s in range(stretches)})
        graph["grow", t] = (sum, [("pick", s, t) for s in range(stretches)])
    n, before, began = len(graph), psutil.Process().memory_info().rss, time.process_time()
    futures = client.get(graph, [("grow", t) for t in range(trees)], sync=False)
    assert client.gather(futures) == [stretches] * trees
    seconds = (time.process_time() - began) / n
    held = (psutil.Process().memory_info().rss - before) / n
    return pd.DataFrame([("scheduling", n, seconds, seconds, held, 1.0)], columns=OF_TASKS)


def seconds_of_workers(client: Any) -> float:
    """Return the seconds that processors have worked for the workers."""
    return float(sum(client.run(time.process_time).values()))


def fitted(source: Any, trees: int, seed: int, n_jobs: int, **how: Any) -> ODRFResults:
    """Fit the rows of a source."""
    return odrf("y ~ .", source, n_trees=trees, min_leaf=LEAF, seed=seed, n_jobs=n_jobs, **how)


def same(one: ODRFResults, other: ODRFResults) -> bool:
    """Return whether two forests have the same bits."""
    arrays = ((getattr(one.forest, name), getattr(other.forest, name)) for name in ARRAYS)
    return all(np.array_equal(a, b, equal_nan=True) for a, b in arrays) and bool(
        one.error_path.equals(other.error_path)
    )


def kill_when_half_is_grown(cluster: Any, trees: int) -> Callable[[], None]:
    """Kill a worker when half of the trees are grown; return what waits for that."""

    def wait_and_kill() -> None:
        grown = 0
        while grown < trees // 2:
            time.sleep(0.05)
            tasks = list(cluster.scheduler.tasks.items())
            grown = sum("grow tree" in str(key) and task.state == "memory" for key, task in tasks)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    thread = threading.Thread(target=wait_and_kill, daemon=True)
    thread.start()
    return thread.join


class Measuring:
    """Fits the same rows by several methods, and compares them with the first fit."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self._first: ODRFResults | None = None

    def lines_of(
        self, method: str, workers: int, rows: int, trees: int, partitions: int
    ) -> list[tuple]:
        """Return the line of a method."""
        make = partial(part_of_rows, rows=rows // partitions, seed=self.options.seed)
        if method == CHUNKS:
            frames = [make(number) for number in range(partitions)]
            fitted([frame[:2000] for frame in frames[:1]], 2, 0, workers)
            began, here = time.perf_counter(), time.process_time()
            fit = fitted(frames, trees, self.options.seed, workers)
            seconds, worked = time.perf_counter() - began, time.process_time() - here
            found = worked, np.nan, np.nan, np.nan, 0
        else:
            fit, seconds, found = self._on_workers(method, workers, trees, make, partitions)
        self._first = fit if self._first is None else self._first
        return [(seconds, *found, fit.oob_error, same(fit, self._first))]

    def _on_workers(
        self, method: str, workers: int, trees: int, make: Callable[..., Any], partitions: int
    ) -> tuple[ODRFResults, float, tuple[float, float, float, float, int]]:
        import dask.dataframe as dd  # noqa: PLC0415  # optional
        from distributed import get_task_stream, wait  # noqa: PLC0415

        with started(workers) as (client, cluster):
            frame = dd.from_map(make, range(partitions), meta=make(0)[:0]).persist()
            wait(frame)
            small = dd.from_map(make, range(2 * workers), rows=2000, meta=make(0)[:0])
            fitted(small, 2 * workers, 0, workers)
            moved = moved_bytes(client)
            finish = kill_when_half_is_grown(cluster, trees) if method == KILLED else lambda: None
            before, began, here = (
                seconds_of_workers(client),
                time.perf_counter(),
                time.process_time(),
            )
            with get_task_stream(client) as stream:
                fit = fitted(frame, trees, self.options.seed, workers)
            seconds, here = time.perf_counter() - began, time.process_time() - here
            finish()
            tasks = times_of_tasks(stream)
            n_tasks = int(tasks["tasks"].sum())
            work = float((tasks["tasks"] * tasks["seconds"]).sum())
            worked = seconds_of_workers(client) - before if method == DASK else np.nan
            tasks["processor_share"] = min(1.0, worked / work)
            if method == DASK:
                tasks = pd.concat([tasks, idle_times(client)])
                tasks.insert(0, "workers", workers)
                known = [pd.read_csv(self.options.tasks)] if self.options.tasks.exists() else []
                pd.concat([*known, tasks]).to_csv(
                    self.options.tasks, index=False, float_format="%.6g"
                )
            between = (moved_bytes(client) - moved) / MEGABYTE if method == DASK else np.nan
        returned = fit.forest.nbytes / MEGABYTE
        return fit, seconds, (here + worked, work, between, returned, n_tasks)


def report(lines: pd.DataFrame) -> str:
    """Write the measures as markdown."""
    shown = {}
    for line in lines.to_dict("records"):
        shown[f"{line['method']}, {line['workers']}"] = {
            "seconds": f"{line['seconds']:.1f}",
            "of processors": f"{line['processor']:.1f}",
            "of the tasks": f"{line['work']:.1f}",
            "moved between workers (MiB)": f"{line['moved']:.0f}",
            "trees returned (MiB)": f"{line['returned']:.0f}",
            "tasks": str(line["tasks"]),
            "out-of-bag error": f"{line['oob_mse']:.4f}",
            "same bits": str(line["same"]),
        }
    return markdown_table(pd.DataFrame(shown).T, "method, workers or threads")


def main() -> int:
    """Measure the fits, or report an existing csv."""
    arguments = parser(__doc__ or "", "distributed.csv", repeats=1, trees=32)
    arguments.add_argument("--tasks", type=Path, default=Path("distributed_tasks.csv"))
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--partitions", type=int, default=16)
    options = arguments.parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    size = options.rows, options.trees, options.partitions
    tasks = [(*run, *size) for run in RUNS]
    print(report(go_on(options.out, COLUMNS, tasks, Measuring(options).lines_of)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
