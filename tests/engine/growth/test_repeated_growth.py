"""Trees that grow one after the other in the same arrays are those that grow in new ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.growth import tree_batches, tree_builder
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.growth.tree_builder import grow_one
from odrf.engine.growth.tree_kernel import NODE
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, RowCodes, Sampling
from odrf.engine.running import in_order
from odrf.engine.trees.forest import ARRAYS, joined
from odrf.projections.mixture import Mixture, Share
from odrf.projections.sparse import RandomCombination
from problems import noisy, problems

TREES = 3


def bits(tree):
    return [getattr(tree, name).tobytes() for name in ARRAYS]


def grower(problem, **options):
    return TreeGrower(*problem.growth, TREES, options.pop("n_jobs", 1), **options)


@settings(max_examples=40, deadline=None)
@given(problems(max_rows=72), st.floats(0.1, 1.0), st.booleans())
def test_trees_are_those_of_new_arrays(problem, fraction, copied):
    weights = np.ones_like(problem.weights)
    problem = replace(problem, weights=weights, sampling=Sampling(SUBSAMPLE, fraction))
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("odrf.engine.growth.forest_builder.pays_to_copy", lambda *_: copied)
        grow = grower(problem)
    for stream in problem.streams(TREES):
        before = stream.tolist()
        tree = grow(stream)
        assert stream.tolist() == before
        assert bits(tree) == bits(grow_one(*problem.growth, stream.copy(), copied))


def test_what_follows_from_the_rest_is_left_out():
    problem = noisy(n=80)
    problem = replace(problem, sampling=Sampling(SUBSAMPLE, 0.8))
    grow = grower(problem)
    trees = [grow(stream) for stream in problem.streams(TREES)]
    assert all(not {"weight", "order"} & set(tree.in_memory()) for tree in trees)
    alone = [grow_one(*problem.growth, stream.copy(), True) for stream in problem.streams(TREES)]
    assert bits(joined(trees, TREES)) == bits(joined(alone, TREES))


def test_threads_have_arrays_of_their_own():
    problem = replace(noisy(n=200), sampling=Sampling(SUBSAMPLE, 0.8))
    grow, together = grower(problem), grower(problem, n_jobs=4)
    streams = problem.streams(24)
    for tree, stream in zip(in_order(together, streams, 4), streams, strict=True):
        assert bits(tree) == bits(grow(stream))


@pytest.mark.parametrize("budget", [NODE, 1])
def test_trees_may_end_and_go_on(monkeypatch, budget):
    problem = replace(noisy(n=300), sampling=Sampling(SUBSAMPLE, 0.8))
    stream = problem.streams()[0]
    once = grower(problem)(stream)
    monkeypatch.setattr(tree_builder, "BUDGET", budget)
    grow = grower(problem)
    assert bits(grow(stream)) == bits(grow(stream)) == bits(once)


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({"sampling": Sampling(BOOTSTRAP, 1.0)}, {}),
        ({"sampling": Sampling(SUBSAMPLE, 0.8, honest=True)}, {}),
        ({"weights": np.linspace(1.0, 2.0, 60)}, {}),
        ({}, {"codes": RowCodes(groups=np.arange(60) // 2)}),
    ],
)
def test_other_trees_have_new_arrays(changes, options):
    problem = replace(noisy(n=60), **{"sampling": Sampling(SUBSAMPLE, 0.8), **changes})
    grow, stream = grower(problem, **options), problem.streams()[0]
    alone = grow_one(*problem.growth, stream.copy(), True, **options)
    assert bits(grow(stream)) == bits(alone)
    assert "weight" in grow(stream).in_memory()


def test_large_tables_and_samplers_that_go_on_have_new_arrays(monkeypatch):
    problem = replace(noisy(n=60), sampling=Sampling(SUBSAMPLE, 0.8))
    stream = problem.streams()[0]
    assert "weight" not in grower(problem)(stream).in_memory()
    X, y, weights, groups, sampling, options, _ = problem.growth
    mixture = Mixture((Share(RandomCombination(), 3),))
    going_on = TreeGrower(X, y, weights, groups, sampling, options, mixture, TREES, 1)
    assert "weight" in going_on(stream).in_memory()
    monkeypatch.setattr(tree_batches, "MOST_NUMBERS", 100)
    assert "weight" in grower(problem)(stream).in_memory()
