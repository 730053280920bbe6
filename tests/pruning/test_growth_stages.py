"""Stages of growth against trees cut to each size."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.trees.routing import predict
from odrf.pruning.growth_stages import ALONG, evaluated_stages, stage_alphas, stages_of
from odrf.pruning.validation import losses_of
from problems import noisy, problems

along = st.sampled_from(ALONG)


def stopped(forest, along, size):
    """The forest whose trees stop at the size, by the definitions."""
    if along == "depth":
        return forest.keeping(forest.depth() < size)
    return forest.keeping((forest.order > 0) & (forest.order < size))


@settings(deadline=None, max_examples=60)
@given(problems(max_rows=24), along, st.integers(1, 3))
def test_critical_values_and_leaves_are_those_of_the_stopped_trees(problem, along, n_trees):
    forest = problem.grow(n_trees)
    stages = stages_of(forest, along)
    assert (np.diff(stages.sizes) > 0).all()
    assert stages.sizes[0] == {"leaves": 1, "depth": 0}[along]
    for size, leaves in zip(stages.sizes, stages.leaves, strict=True):
        expected = stopped(forest, along, size)
        cut = forest.keeping(stages.critical > -size)
        np.testing.assert_array_equal(cut.is_split(), expected.is_split())
        assert leaves == expected.leaves().mean()
    largest = {"leaves": forest.leaves().max(), "depth": forest.depth().max()}[along]
    assert stages.sizes[-1] == largest


@settings(deadline=None, max_examples=60)
@given(problems(max_rows=24), along, st.integers(1, 3))
def test_losses_are_those_of_the_stopped_trees(problem, along, n_trees):
    forest = problem.grow(n_trees)
    X, y, w = problem.X, problem.y, problem.weights
    stages = stages_of(forest, along)
    evaluated = evaluated_stages(forest, stages, X, y, w, 1)
    for size, mean, std_error in zip(
        stages.sizes[::-1], evaluated.mean, evaluated.standard_error, strict=True
    ):
        loss = losses_of(predict(stopped(forest, along, size), X, 1), y)
        expected = np.average(loss, weights=w)
        np.testing.assert_allclose(mean, expected, rtol=1e-9, atol=1e-10)
        off = np.sum((w * (loss - expected)) ** 2)
        error = np.sqrt(off) / w.sum() if (w > 0).sum() > 1 else np.nan
        np.testing.assert_allclose(std_error, error, rtol=1e-5, atol=1e-6)


def test_pruned_trees_count_only_remaining_splits():
    tree = noisy(n=60).grow()
    without = tree.keeping((tree.order > 0) & (tree.order != 3))
    stages = stages_of(without, "leaves")
    assert stages.sizes[-1] == without.leaves()[0] < tree.leaves()[0]
    assert np.isneginf(stage_alphas(without, "leaves")[~without.is_split()]).all()


def test_large_forests_are_evaluated_at_some_sizes_and_at_the_last():
    sizes = stages_of(noisy(n=900).grow(2), "leaves").sizes
    assert sizes[:30].tolist() == list(range(1, 31))
    assert sizes[-1] > 700
    ratio = sizes[30:] / sizes[29:-1]
    assert (ratio < 1.25).all()
    assert (ratio > 1.1).all()
    # four steps for each doubling, rounded up
    assert len(ratio) == np.ceil(4 * np.log2(sizes[-1] / 30))
    assert len(stages_of(noisy(n=900).grow(), "leaves").sizes) > 700
