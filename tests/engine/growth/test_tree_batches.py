"""Trees that grow in one call are those that grow one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.growth import forest_builder, tree_batches, tree_builder
from odrf.engine.growth.forest_builder import SERIAL, SINGLE, TOGETHER, TreeGrower, strategy
from odrf.engine.growth.tree_batches import TreeBatch, TreeTargets
from odrf.engine.growth.tree_builder import Resample, ScratchPool, TreeBuilder, read_by_growth
from odrf.engine.growth.tree_kernel import NODE
from odrf.engine.numeric import streams
from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, SUBSAMPLE, RowCodes, Sampling
from odrf.engine.running import in_order
from odrf.engine.trees.forest import ARRAYS, joined
from odrf.projections.mixture import Mixture, Share
from odrf.projections.sparse import RandomCombination
from problems import CART, case_weights, design, grow_one, noisy, options, plain, problems

EVERY_ROW = Sampling(ALL_ROWS, 1.0)
TREES = 3


@st.composite
def derived(draw):
    """Rows of mixed predictors, options of growth, and derivatives for three trees."""
    seed, n = draw(st.integers(0, 2**32 - 1)), draw(st.integers(2, 60))
    kinds = draw(st.text("pcftb", min_size=1, max_size=5))
    rng = np.random.default_rng([seed, n])
    X, groups = design(kinds, n, rng)
    recipe = options(len(kinds), 1, rng)._replace(
        surrogates=False, best_first=bool(rng.integers(2)), split_scale=0
    )
    first, second = rng.normal(size=(TREES, n)), rng.random((TREES, n)) + 0.01
    weights = case_weights(n, rng) + 1.0
    if rng.random() < 0.3:  # as for squared error
        second[:], weights[:] = 1.0, 1.0
    return X, groups, recipe, TreeTargets(first, second, weights, streams(seed, 0, TREES))


def builder(X, groups, recipe, copied):
    pool = ScratchPool(groups, recipe.settings, recipe.mixture)
    return TreeBuilder(*read_by_growth(X, groups, recipe.mixture), copied, pool)


def one_by_one(X, groups, recipe, targets, copied):
    """Each tree with its leaves, by the kernels that forests grow by."""
    for first, second, stream in zip(targets.first, targets.second, targets.states, strict=True):
        leaf = np.empty(X.shape[1], dtype=np.int32)
        weights = targets.weights * second
        tree = grow_one(
            X, -first / second, weights, groups, EVERY_ROW, recipe.settings, recipe.mixture,
            stream.copy(), copied, leaf=leaf,
        )  # fmt: skip
        yield tree, leaf


@settings(max_examples=40, deadline=None)
@given(
    given_rows=derived(),
    copied=st.booleans(),
    narrow=st.booleans(),
    room=st.sampled_from([(1, 1), (1, 4096), (1024, 1)]),
)
def test_they_are_those_that_grow_one_by_one(given_rows, copied, narrow, room):
    X, groups, recipe, targets = given_rows
    before = targets.states.copy()
    with pytest.MonkeyPatch.context() as patched:
        if narrow:  # some arrays are too short at first, and a call ends after a node
            patched.setattr(tree_builder, "FIRST_ROOM", 3)
            patched.setattr(tree_batches, "FIRST_NODES", room[0])
            patched.setattr(tree_batches, "FIRST_TERMS", room[1])
            patched.setattr(tree_builder, "BUDGET", 100)
        grower = TreeBatch(builder(X, groups, recipe, copied))
        for _ in range(2):  # the second time with arrays that have been used
            leaf = np.empty((TREES, X.shape[1]), dtype=np.int32)
            grown = grower(targets, leaf)
            expected = one_by_one(X, groups, recipe, targets, copied)
            for t, (tree, reached) in enumerate(expected):
                np.testing.assert_array_equal(leaf[t], reached)
                for name in set(ARRAYS) - {"value"}:
                    np.testing.assert_array_equal(getattr(grown.tree(t), name), getattr(tree, name))
    np.testing.assert_array_equal(targets.states, before)


@pytest.mark.parametrize("unit", [True, False])
def test_indicators_are_split_as_other_numbers(unit):
    """Growth in one call adds up columns of two values by value, growth one by one by bins."""
    rng, n, p = np.random.default_rng(7), 700, 11
    X = (rng.random((p, n)) < rng.random(p)[:, None]).astype(np.float32)
    X[4:6] = rng.random((2, n))
    effects = np.sin(np.arange(p)) @ X
    first, second = effects + rng.normal(size=(TREES, n)), np.ones((TREES, n))
    if not unit:
        second = rng.random((TREES, n)) + 0.01
    targets = TreeTargets(first, second, np.ones(n), streams(3, 0, TREES))
    problem = plain(X, effects, exact_rows=16, max_leaves=24)
    groups, recipe = problem.feature_groups, problem.settings
    grower = TreeBatch(builder(X, groups, recipe, True))
    leaf = np.empty((TREES, n), dtype=np.int32)
    grown = grower(targets, leaf)
    expected = one_by_one(X, groups, recipe, targets, True)
    for t, (tree, reached) in enumerate(expected):
        assert tree.leaves()[0] == 24
        np.testing.assert_array_equal(leaf[t], reached)
        for name in set(ARRAYS) - {"value"}:
            np.testing.assert_array_equal(getattr(grown.tree(t), name), getattr(tree, name))


def test_rows_must_all_be_drawn():
    X, weights = np.random.default_rng(1).random((2, 9)), np.ones(9)
    problem = plain(X, X[0])
    unlimited = CART._replace(max_leaves=2**31)
    some = builder(problem.X, problem.feature_groups, unlimited, True)
    assert strategy(some, weights, Resample(EVERY_ROW)) == TOGETHER
    assert strategy(some, weights, Resample(Sampling(SUBSAMPLE, 0.5))) == SERIAL
    assert strategy(some, np.arange(9.0), Resample(EVERY_ROW)) == SINGLE
    assert strategy(some, np.ones(2**20), Resample(EVERY_ROW)) == SINGLE


# ------------------------------------------------------------------------------------------------
# Trees that grow one after the other in the same arrays are those that grow in new ones.
# ------------------------------------------------------------------------------------------------


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
    monkeypatch.setattr(forest_builder, "MOST_NUMBERS", 100)
    assert "weight" in grower(problem)(stream).in_memory()
