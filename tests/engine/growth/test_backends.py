"""Trees grown in other processes, or by other libraries, have the bits of trees grown here."""

from __future__ import annotations

import asyncio
import pickle
import sys

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.growth.backends import (
    GROUPS,
    TOGETHER,
    JoblibTrees,
    groups_for_threads,
    groups_of_tasks,
    scattered,
    trees_in_order,
)
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.trees.forest import ARRAYS
from odrf.errors import InputError

joblib = pytest.importorskip("joblib")


def same(one, other) -> bool:
    names = ARRAYS
    return all(np.array_equal(getattr(one, n), getattr(other, n), equal_nan=True) for n in names)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    data["f"] = rng.choice([f"level {i}" for i in range(8)], 150)
    data["y"] = data["a"] + data["b"] + rng.normal(size=150)
    data.loc[::9, "c"] = np.nan
    return data


@pytest.mark.parametrize("n_trees", [8, 100])
def test_joblib_changes_no_bit(n_trees):
    options = {"n_trees": n_trees, "seed": 1}
    here = odrf.odrf("y ~ a + b + c + f", table(), **options)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        fit = odrf.odrf("y ~ a + b + c + f", table(), backend="joblib", **options)
    assert same(fit.forest, here.forest)
    assert fit.oob_error == here.oob_error
    assert fit.summary().as_text() == here.summary().as_text()


@pytest.mark.parametrize(
    ("given", "configured", "wanted"), [(None, 1, 1), (None, 2, 2), (3, 2, 3), (None, None, -1)]
)
def test_joblib_has_as_many_processes_as_it_was_told(monkeypatch, given, configured, wanted):
    asked, parallel = [], joblib.Parallel

    def noted(n_jobs, **options):
        asked.append(n_jobs)
        return parallel(n_jobs=n_jobs, **options)

    monkeypatch.setattr(joblib, "Parallel", noted)
    tasks = [(0, np.full(4, b, dtype=np.uint64)) for b in range(3)]
    with joblib.parallel_config(backend="threading", n_jobs=configured):
        groups = list(JoblibTrees(joblib, given)([lambda stream: int(stream[0])], tasks))
    assert asked == [wanted]
    assert [tree for group in groups for tree in group] == [0, 1, 2]


@pytest.mark.weekly
@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_processes_change_no_bit(backend):
    here = odrf.odrf("y ~ a + b + c + f", table(), n_trees=100, seed=1)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        fit = odrf.odrf("y ~ a + b + c + f", table(), n_trees=100, seed=1, backend="joblib")
    assert same(fit.forest, here.forest)


def test_a_cluster_of_dask_changes_no_bit():
    pytest.importorskip("distributed")
    clusters = pytest.importorskip("clusters")
    options = {"n_trees": 8, "seed": 1}
    here = odrf.odrf("y ~ a + b + c + f", table(), **options)
    with clusters.cluster(2) as (client, _):
        fit = odrf.odrf("y ~ a + b + c + f", table(), backend="dask", **options)
        shown = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert "grow trees" in shown
    assert same(fit.forest, here.forest)


def test_errors_of_trees_are_raised_as_they_are():
    def fail(stream):
        raise KeyError("a tree")

    with pytest.raises(KeyError, match="a tree"):
        list(trees_in_order([fail], [(0, np.zeros(4, np.uint64))], 1, 0))


def test_a_grower_can_be_pickled():
    fit = odrf.odrf("y ~ a + b + c + f", table(), n_trees=2, blend=False, seed=1).fit
    control, data = fit.control, fit.data
    grow = TreeGrower(
        data.X, data.y, data.weights, fit.design.feature_groups, control.sampling,
        control.settings, control.mixture, 2, 2,
    )  # fmt: skip
    sent = pickle.loads(pickle.dumps(grow))
    for b, stream in enumerate(fit.streams):
        assert same(sent(stream), fit.forest.tree(b))


@pytest.mark.parametrize("n", [0, 1, 7, 100])
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_groups_hold_each_task_once(n, workers):
    groups = groups_of_tasks(list(range(n)), workers)
    assert [task for group in groups for task in group] == list(range(n))
    assert len(groups) <= 4 * max(1, workers)


@pytest.mark.parametrize(("backend", "module"), [("joblib", "joblib"), ("dask", "distributed")])
def test_an_absent_library_is_named(monkeypatch, backend, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=f'backend="{backend}" needs .*: install it'):
        odrf.odrf("y ~ a", table(), backend=backend)


@pytest.mark.parametrize("n_jobs", [2, 3, 16])
def test_threads_get_several_small_trees_at_a_time_and_single_ones_in_the_end(n_jobs):
    tasks = [(0, np.array([b], dtype=np.uint64)) for b in range(300)]
    groups = groups_for_threads(tasks, n_jobs, TOGETHER // 10)
    assert [task for group in groups for task in group] == tasks
    sizes = [len(group) for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == min(10, 300 // (GROUPS * n_jobs))
    assert sizes[-GROUPS * n_jobs :] == [1] * (GROUPS * n_jobs)


@pytest.mark.parametrize(("n_jobs", "size"), [(1, 10), (2, TOGETHER), (2, 10 * TOGETHER)])
def test_a_thread_alone_and_large_trees_are_handed_over_singly(n_jobs, size):
    groups = groups_for_threads([(0, np.zeros(4, np.uint64))] * 9, n_jobs, size)
    assert [len(group) for group in groups] == [1] * 9
    assert groups_for_threads([], n_jobs, size) == []


# ------------------------------------------------------------------------------------------------
# What the workers of Dask are asked for, by a client that stands for that of Dask.
# ------------------------------------------------------------------------------------------------


class WithoutWorkers:
    """A client whose cluster has no worker."""

    status = "running"

    def scatter(self, values, **options):
        raise asyncio.TimeoutError("No valid workers found")


def test_a_cluster_without_workers_is_told_from_a_broken_one():
    with pytest.raises(RuntimeError, match="the cluster of Dask has no worker: start one"):
        scattered(WithoutWorkers(), 1)
