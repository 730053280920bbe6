"""Forests on the workers of a cluster: the bits of forests on rows in chunks, whatever happens."""

from __future__ import annotations

import os
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import odrf
from odrf.engine import running
from odrf.engine.trees.forest import ARRAYS
from odrf.errors import InputError

pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
clusters = pytest.importorskip("clusters")

TREES = 4


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small tables have several."""
    monkeypatch.setattr("odrf.design.blocks.ROWS_PER_BLOCK", 32)


@pytest.fixture(scope="module")
def client():
    with clusters.cluster(2, threads=2) as (client, _):
        yield client


def table(seed: int = 1, n: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    data["f"] = pd.Categorical(rng.choice([f"level {i}" for i in range(8)], n))
    score = data["a"] + data["b"] * (data["f"].cat.codes > 3) + rng.normal(size=n) / 2
    data["y"] = score
    data["k"] = pd.cut(score, [-np.inf, -0.5, 0.5, np.inf], labels=["low", "mid", "high"])
    data["w"] = rng.integers(0, 4, n)
    data.loc[::11, "a"] = np.nan
    return data


def parted(data: pd.DataFrame, cuts: list[int]):
    """Return a data frame of Dask with partitions that end at these rows."""
    parts = [data[a:b] for a, b in pairwise([0, *sorted(cuts), len(data)])]
    return dd.from_map(lambda i: parts[i], range(len(parts)), meta=data.iloc[:0])


def assert_same(one, other) -> None:
    for name in ARRAYS:
        a, b = getattr(one.forest, name), getattr(other.forest, name)
        assert np.array_equal(a, b, equal_nan=True), name
    assert one.error_path.equals(other.error_path)
    assert one.oob_scores.equals(other.oob_scores)
    assert one.importance().equals(other.importance())
    assert one.design.columns == other.design.columns
    assert np.array_equal(one.design.scaling.low, other.design.scaling.low)


OPTIONS = [
    {},
    {"honest": True, "alpha": 0.01},
    {"sample_fraction": 0.3, "weights": "w"},
    {"missing": "drop", "projection": "sparse"},
]


@pytest.mark.usefixtures("small_blocks")
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cuts=st.lists(st.integers(0, 150), max_size=6),
    memory=st.sampled_from([1.0, None]),
    response=st.sampled_from(["y", "k"]),
    options=st.sampled_from(OPTIONS),
)
def test_partitions_and_memory_change_no_bit(client, cuts, memory, response, options):
    data, formula = table(), f"{response} ~ a + np.exp(b) + c + f"
    here = odrf.odrf(formula, [data], n_trees=TREES, seed=2, **options)
    source = odrf.Chunks(parted(data, cuts), memory=memory)
    assert_same(odrf.odrf(formula, source, n_trees=TREES, seed=2, **options), here)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_workers", [1, 7])
def test_workers_change_no_bit(n_workers):
    data = table()
    options = {"n_trees": TREES, "seed": 2, "class_weights": "balanced"}
    here = odrf.odrf("k ~ a + b + f", [data], **options)
    with clusters.cluster(n_workers):
        fit = odrf.odrf("k ~ a + b + f", parted(data, [40, 60, 61, 120]), **options)
    assert_same(fit, here)


@pytest.mark.usefixtures("small_blocks")
def test_backends_and_sources_that_do_not_go_together(client):
    data = table()
    with pytest.raises(InputError, match="needs a data frame of Dask"):
        odrf.odrf("y ~ a", [data], backend="dask")
    with pytest.raises(InputError, match="for a data frame in memory"):
        odrf.odrf("y ~ a", [data], backend="joblib")
    with pytest.raises(InputError, match="is not known"):
        odrf.odrf("y ~ a", data, backend="mpi")
    tasks = set(client.nthreads())
    fit = odrf.odrf("y ~ a", parted(data, [70]), backend="threads", n_trees=2, seed=1)
    assert tasks == set(client.nthreads())
    assert_same(fit, odrf.odrf("y ~ a", [data], n_trees=2, seed=1))


@pytest.mark.usefixtures("small_blocks")
def test_errors_of_tasks_are_those_of_rows_in_chunks(client):
    data = table()
    with pytest.raises(InputError, match="rows have missing values"):
        odrf.odrf("y ~ a + b", parted(data, [70]), missing="raise")
    with pytest.raises(InputError, match="depends on other rows"):
        odrf.odrf("y ~ I(b - b.mean())", parted(data, [70]))
    with pytest.raises(InputError, match="samples no row"):
        odrf.odrf("y ~ b", parted(data, [70]), sample_fraction=1e-9, seed=1)
    parts = [data, data.drop(columns="b")]
    broken = dd.from_map(lambda i: parts[i], range(2), meta=data.iloc[:0])
    with pytest.raises((InputError, KeyError), match="b"):
        odrf.odrf("y ~ b", broken)


@pytest.mark.usefixtures("small_blocks")
def test_rows_that_change_between_passes_are_noticed(client, tmp_path):
    data, walks = table(), tmp_path / "walks"
    walks.write_text("")

    def read(number):
        walks.write_text(walks.read_text() + "x")
        return data if len(walks.read_text()) < 4 else data[::-1]

    frame = dd.from_map(read, [0], meta=data.iloc[:0])
    with pytest.raises(InputError, match="another order"):
        odrf.odrf("y ~ b + c", frame, n_trees=TREES, seed=1)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_rows", [100, 151])
def test_partitions_that_change_after_they_were_counted_are_noticed(client, tmp_path, n_rows):
    data, walks = table(n=151), tmp_path / "walks"
    walks.write_text("")

    def read(number):
        walks.write_text(walks.read_text() + "x")
        return data[: 150 if len(walks.read_text()) == 1 else n_rows]

    frame = dd.from_map(read, [0], meta=data.iloc[:0])
    with pytest.raises(InputError, match="give other rows"):
        odrf.odrf("y ~ b + c", frame, n_trees=TREES, seed=1)


@pytest.mark.usefixtures("small_blocks")
def test_a_tree_that_no_worker_can_hold_is_refused(client, monkeypatch):
    monkeypatch.setattr(
        "odrf.fits.partitions._workers", lambda _: [{"nthreads": 1, "memory_limit": 1000}]
    )
    with pytest.raises(MemoryError, match="the largest worker has"):
        odrf.odrf("y ~ b", parted(table(), [70]))


@pytest.mark.usefixtures("small_blocks")
def test_the_dashboard_and_the_bar_show_what_is_done(client, capsys):
    odrf.odrf("y ~ a + b", parted(table(), [70]), n_trees=TREES, seed=1, progress=True)
    shown = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert {"count rows", "see rows", "sum columns", "draw rows", "pick rows"} <= set(shown)
    assert {"grow tree", "evaluate rows", "add leaf sums"} <= set(shown)
    assert f"{TREES}/{TREES}" in capsys.readouterr().err


@pytest.mark.usefixtures("small_blocks")
def test_an_interrupted_fit_leaves_no_task(client, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("odrf.fits.chunks.joined", interrupted)
    with pytest.raises(KeyboardInterrupt):
        odrf.odrf("y ~ a + b", parted(table(), [70]), n_trees=TREES, seed=1)
    for _ in range(50):
        if not any(
            "grow tree" in str(key) for keys in client.processing().values() for key in keys
        ):
            return
        time.sleep(0.1)
    pytest.fail("tasks are left")


@pytest.mark.usefixtures("small_blocks")
def test_tasks_start_no_threads_of_their_own(client, monkeypatch):
    """A worker runs as many tasks as it has threads: each of them has one."""
    started, asking = running._started, []

    def noted(waiting):
        asking.append(threading.current_thread().name)
        return started(waiting)

    monkeypatch.setattr(running, "_started", noted)
    data = table()
    frame = parted(data, [40, 60])
    fit = odrf.odrf("y ~ a + b + f", frame, n_trees=TREES, seed=2, n_jobs=2)
    fit.predict(frame).compute()
    odrf.odrf("y ~ a + b + f", data, n_trees=TREES, seed=2, n_jobs=2, backend="dask")
    assert not [name for name in asking if name.startswith("Dask")]


@pytest.mark.usefixtures("small_blocks")
def test_predictions_stay_in_partitions(client):
    data = table()
    frame = parted(data, [40, 60])
    for response, type in (("y", "response"), ("k", "response"), ("k", "prob"), ("y", "leaf")):
        fit = odrf.odrf(f"{response} ~ a + b + f", frame, n_trees=TREES, seed=2)
        found = fit.predict(frame, type)
        assert found.npartitions == 3
        expected = fit.predict(data, type)
        pd.testing.assert_index_equal(found.compute().index, expected.index)
        assert found.compute().equals(expected)
    with pytest.raises(InputError, match="lacks column"):
        fit.predict(frame[["a", "b"]])
    with pytest.raises(InputError, match="not for one of Dask"):
        fit.predict(frame, interval="prediction")
    with pytest.raises(InputError, match="training='in-bag' says how training rows"):
        fit.predict(frame, training="in-bag")


def when_trees_grow(started, strike) -> threading.Thread:
    """Start a thread that strikes as soon as a tree is grown."""

    def wait_and_strike():
        while not any(
            "grow tree" in str(key) and task.state == "processing"
            for key, task in list(started.scheduler.tasks.items())
        ):
            time.sleep(0.01)
        strike()

    thread = threading.Thread(target=wait_and_strike, daemon=True)
    thread.start()
    return thread


@pytest.mark.usefixtures("small_blocks")
def test_a_lost_worker_costs_only_time():
    data = table(n=1000)
    here = odrf.odrf("y ~ b + c", [data], n_trees=40, seed=2)
    with clusters.cluster(2) as (_, started):

        def lose():
            started.loop.add_callback(next(iter(started.workers.values())).close)

        thread = when_trees_grow(started, lose)
        fit = odrf.odrf("y ~ b + c", parted(data, [300, 700]), n_trees=40, seed=2)
        thread.join()
    assert_same(fit, here)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.weekly
@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_killed_worker_costs_only_time(monkeypatch, n_workers):
    """With one worker, what was sent to it is lost, too."""
    monkeypatch.undo()
    data = table(n=3000)
    here = odrf.odrf("y ~ b + c", [data], n_trees=12, seed=2)
    with clusters.cluster(n_workers, processes=True) as (_, started):

        def kill():
            os.kill(next(iter(started.workers.values())).pid, signal.SIGKILL)

        thread = when_trees_grow(started, kill)
        fit = odrf.odrf("y ~ b + c", dd.from_pandas(data, npartitions=3), n_trees=12, seed=2)
        thread.join()
    assert_same(fit, here)


@pytest.mark.usefixtures("small_blocks")
def test_a_lost_scheduler_is_told():
    with clusters.cluster(1) as (_, started):

        def close():
            started.loop.add_callback(started.scheduler.close)

        when_trees_grow(started, close)
        with pytest.raises(ConnectionError, match="start a new cluster"):
            odrf.odrf("y ~ b + c", parted(table(n=3000), [70]), n_trees=200, seed=2)
