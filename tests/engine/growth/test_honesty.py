"""Trees whose node values come from rows that had no part in choosing the splits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.growth.tree_builder import grow_one
from odrf.engine.resamples import (
    ALL_ROWS,
    BOOTSTRAP,
    SUBSAMPLE,
    Sampling,
    draw_counts,
    estimation_counts,
)
from odrf.engine.trees.forest import ARRAYS
from problems import noisy, problems
from reference.honesty import filled
from reference.randomness import Stream
from reference.randomness import filling_counts as twin_counts

SHAPE = ("root", "left", "threshold", "start", "index", "coef", "order")


def honest(problem):
    return replace(problem, sampling=problem.sampling._replace(honest=True))


def shape(forest):
    return [getattr(forest, name).astype(np.float64).tobytes() for name in SHAPE]


@settings(max_examples=150, deadline=None)
@given(problems(max_rows=72))
def test_node_values_come_from_the_filling_rows_that_reach_them(problem):
    problem = honest(problem)
    options, tree = problem.settings, problem.grow()
    counts = twin_counts(Stream(problem.streams()[0]), problem.weights, problem.sampling)
    expected = filled(
        tree, problem.X, problem.y, problem.weights, counts, options.criterion, options.n_classes
    )
    nodes = [expected[i] for i in range(tree.n_nodes)]
    assert tree.count.tolist() == [node.count for node in nodes]
    np.testing.assert_allclose(tree.weight, [node.weight for node in nodes], rtol=1e-12)
    np.testing.assert_allclose(tree.value, [node.value for node in nodes], rtol=1e-12, atol=1e-14)
    impurities = [node.impurity for node in nodes]
    np.testing.assert_allclose(tree.impurity, impurities, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(tree.gain, [node.gain for node in nodes], rtol=1e-9, atol=1e-12)
    assert (tree.gain >= 0).all()


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72), st.integers(0, 2**32))
def test_responses_of_the_filling_rows_have_no_part_in_the_shape(problem, seed):
    problem = honest(problem)
    filling = estimation_counts(problem.streams()[0], problem.weights, problem.sampling) > 0
    drawn = draw_counts(problem.streams()[0], problem.weights, problem.sampling) > 0
    if drawn.sum() == 1:
        assert filling.tolist() == drawn.tolist()
        return
    other = problem.y.copy()
    other[filling | ~drawn] = np.random.default_rng(seed).permutation(other[filling | ~drawn])
    assert shape(replace(problem, y=other).grow()) == shape(problem.grow())


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72))
def test_shaping_rows_alone_grow_the_same_shape(problem):
    """With the other rows' weights at 0 and the shaping rows drawn as often."""
    problem = honest(replace(problem, sampling=Sampling(ALL_ROWS, 1.0)))
    state = problem.streams()[0]
    filling = estimation_counts(state, problem.weights, problem.sampling) > 0
    if filling.sum() == (problem.weights > 0).sum():
        return
    alone = replace(
        problem,
        weights=np.where(filling, 0.0, problem.weights),
        sampling=Sampling(ALL_ROWS, 1.0),
    )
    assert shape(grow_one(*alone.growth, state, True)) == shape(problem.grow())


@pytest.mark.parametrize("resample", [ALL_ROWS, BOOTSTRAP, SUBSAMPLE])
def test_halves_are_disjoint_and_make_up_the_draw(resample):
    sampling, weights = Sampling(resample, 0.7, honest=True), np.ones(301)
    filled_by = np.zeros(301)
    for seed in range(200):
        state = noisy(n=2).streams()[0] + np.uint64(seed)
        drawn = draw_counts(state.copy(), weights, sampling)
        filling = estimation_counts(state.copy(), weights, sampling)
        assert ((filling == drawn) | (filling == 0)).all()
        assert (filling > 0).sum() == (drawn > 0).sum() // 2
        filled_by += filling > 0
    share = {ALL_ROWS: 150 / 301, BOOTSTRAP: (1 - np.exp(-0.7)) / 2, SUBSAMPLE: 0.35}[resample]
    assert filled_by.mean() / 200 == pytest.approx(share, abs=0.01)
    assert filled_by.std() < 3 * np.sqrt(200 * share * (1 - share))


def test_a_copy_of_the_rows_changes_no_bit():
    problem = honest(replace(noisy(n=300, n_projections=3), sampling=Sampling(BOOTSTRAP, 1.0)))
    state = problem.streams()[0]
    one, other = (grow_one(*problem.growth, state.copy(), copied) for copied in (False, True))
    for name in ARRAYS:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def test_noise_gains_nothing_on_rows_that_did_not_choose_it():
    """Splits of pure noise lower the impurity of the rows that chose them by a fifth, say."""
    rng = np.random.default_rng(5)
    problem = replace(noisy(n=400, n_singles=5), y=rng.normal(size=400))
    problem = replace(problem.but(max_leaves=8, min_leaf=10), sampling=Sampling(ALL_ROWS, 1.0))
    removed = {}
    for name, some in {"plain": problem, "honest": honest(problem)}.items():
        forest = some.grow(30)
        root = forest.root[:-1]
        owned = np.add.reduceat(forest.weight * forest.gain, root) / forest.weight[root]
        removed[name] = np.mean(owned / forest.impurity[root])
    # seven splits of 200 rows take 7/200 of the variance by chance
    assert removed["honest"] < 2 * 7 / 200 < removed["plain"]
