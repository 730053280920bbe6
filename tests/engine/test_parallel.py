"""Threads change the time a fit takes and nothing else."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.oob import out_of_bag, permutation_loss
from odrf.engine.resamples import BOOTSTRAP, Draws, Sampling
from odrf.engine.running import (
    ROWS_PER_BLOCK,
    in_order,
    row_blocks,
    with_all_that_follow,
)
from odrf.engine.trees.forest import ARRAYS
from odrf.engine.trees.routing import leaf_nodes, predict
from problems import noisy
from resampled import all_counts


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
