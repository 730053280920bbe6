"""Stages of growth against trees cut to each size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.errors import error_estimates
from following import grows_as_the_twin
from odrf import odrf, odt
from odrf.engine.directions.candidates import PLAIN, FeatureGroups
from odrf.engine.splits.impurity import POISSON
from odrf.engine.splits.splitter import SORTED_TOGETHER
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.fits.scores import out_of_bag_loss
from odrf.pruning.growth_stages import (
    ALONG,
    ALPHA_RATES,
    DEPTH,
    LEAF_RATES,
    evaluated_stages,
    stage_alphas,
    stages_of,
)
from odrf.pruning.validation import losses_of
from problems import MANY_ROWS, cart, noisy, plain, problems
from reference.growing import FirstBest, grow
from reference.holes import placements, with_column
from reference.honesty import filled
from reference.impurity import gain
from reference.randomness import Stream
from reference.randomness import filling_counts as twin_counts

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


# ------------------------------------------------------------------------------------------------
# Trees of rates, which are grown by the Poisson deviance: all kinds of tables and of cuts.
# ------------------------------------------------------------------------------------------------

HOLES = FeatureGroups(np.array([0, 2]), np.array([PLAIN], dtype=np.int8), np.array([True]))
unhurried = settings(deadline=None, max_examples=60)


def as_rates(problem):
    """The same predictors; rows have 0 or 1 event, the more the larger y, in some exposure."""
    rng = np.random.default_rng([problem.seed, 3])
    rank = np.argsort(np.argsort(problem.y)) / len(problem.y)
    event, exposure = rng.random(len(rank)) < rank, rng.exponential(size=len(rank)) + 1e-3
    recipe = problem.settings._replace(criterion=POISSON, n_classes=1)
    weights = problem.weights * exposure
    return replace(problem, y=event / exposure, weights=weights, settings=recipe)


numbers = problems(max_rows=72).filter(lambda problem: problem.settings.n_classes == 1)
rates = numbers.map(as_rates)


@settings(max_examples=100, deadline=None)
@given(rates)
def test_every_split_is_the_best_of_the_same_candidates(problem):
    grows_as_the_twin(problem)


@unhurried
@given(rates)
def test_what_a_split_divides_is_conserved(problem):
    forest = problem.grow()
    split = np.flatnonzero(forest.left >= 0)
    left, events = forest.left[split], forest.weight * forest.value[:, 0]
    loss = forest.weight * forest.impurity
    removed = forest.weight[split] * forest.gain[split]
    np.testing.assert_allclose(events[left] + events[left + 1], events[split], atol=1e-9)
    np.testing.assert_allclose(loss[left] + loss[left + 1] + removed, loss[split], atol=1e-9)
    assert (forest.impurity >= 0).all()


@unhurried
@given(rates)
def test_nodes_of_honest_trees_are_those_of_the_filling_rows(problem):
    problem = replace(problem, sampling=problem.sampling._replace(honest=True))
    tree = problem.grow()
    counts = twin_counts(Stream(problem.streams()[0]), problem.weights, problem.sampling)
    expected = filled(tree, problem.X, problem.y, problem.weights, counts, POISSON, 1)
    nodes = [expected[i] for i in range(tree.n_nodes)]
    for name in ("weight", "value", "impurity", "gain"):
        numbers_of = np.array([getattr(node, name) for node in nodes])
        np.testing.assert_allclose(getattr(tree, name), numbers_of, rtol=1e-9, atol=1e-12)


def test_without_ties_the_twin_grows_the_same_tree_alone():
    problem = as_rates(noisy(n=150, n_projections=3, max_leaves=15, min_leaf=5, n_singles=2))
    forest = problem.grow()
    nodes = grow(
        problem.X, problem.y, problem.weights, problem.feature_groups, problem.sampling,
        problem.settings, Stream(problem.streams()[0]), FirstBest(problem.X, problem.settings),
    )  # fmt: skip
    assert len(nodes) > 20
    assert forest.left.tolist() == [node.left for node in nodes]
    value = [np.average(node.y, weights=node.w) for node in nodes]
    np.testing.assert_allclose(forest.value[:, 0], value, rtol=1e-12)


@pytest.mark.parametrize("exact_rows", [SORTED_TOGETHER, MANY_ROWS])
@unhurried
@given(
    x=st.lists(st.sampled_from([np.nan, 0.0, 0.25, 0.5, 1.0]), min_size=4, max_size=30),
    seed=st.integers(0, 2**32 - 1),
    min_leaf=st.integers(1, 3),
    many=st.booleans(),
)
def test_empty_cells_are_on_the_better_side_of_each_cut(exact_rows, x, seed, min_leaf, many):
    x, rng = np.array(x * 40 if many else x), np.random.default_rng(seed)
    exposure = rng.exponential(size=len(x)) + 1e-3
    y = (rng.random(len(x)) < 0.5) / exposure
    tree = cart(
        with_column(x), y, HOLES, exposure, max_leaves=2, min_leaf=min_leaf, criterion=POISSON,
        exact_rows=exact_rows,
    ).grow()  # fmt: skip
    gains = [gain(y, exposure, left, POISSON) for left in placements(x, min_leaf)]
    assert tree.gain[0] == pytest.approx(max([0.0, *gains]), rel=1e-7, abs=1e-9)


def test_a_leaf_has_rows_and_exposure_enough():
    rng = np.random.default_rng(5)
    X, exposure = rng.random((2, 400)), rng.exponential(size=400) + 1e-3
    y = (rng.random(400) < X[0]) / exposure
    problem = plain(X, y, exposure, criterion=POISSON, min_leaf=3)
    free, held = problem.grow(), problem.but(min_weight=8.0).grow()
    for tree, least in ((free, 0.0), (held, 8.0)):
        leaf = leaf_nodes(tree, problem.X, 1)[:, 0]
        in_leaf = np.bincount(leaf, exposure, tree.n_nodes)[np.unique(leaf)]
        assert np.bincount(leaf)[np.unique(leaf)].min() >= 3
        assert in_leaf.min() >= least
    assert free.weight[free.is_leaf()].min() < 8.0 and held.n_nodes > 9


# ------------------------------------------------------------------------------------------------
# Errors of stages of growth where trees draw groups: these are the units of standard errors.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", error_estimates.KINDS)
def test_the_last_stage_has_the_standard_error_of_the_forest(kind):
    data = error_estimates.draw(kind, "groups", 120, np.random.default_rng(1))
    forest = odrf(
        "y ~ a + b", data, n_trees=30, projection="axis", groups="group", blend=False, seed=1
    )
    last = forest.growth_path().table.iloc[-1]
    assert (last["test"], last["std_error"]) == pytest.approx(out_of_bag_loss(forest.fit), rel=1e-9)


def test_groups_are_units_for_one_tree_on_all_rows_too():
    data = error_estimates.draw("regression", "groups", 120, np.random.default_rng(1))
    fit = odt("y ~ a + b", data, projection="axis", alpha=None, max_depth=3, seed=1).fit
    stages, groups = stages_of(fit.forest, DEPTH), np.arange(120) // 4
    rows = fit.forest, stages, fit.data.X, fit.data.y, fit.data.weights, 1
    of_groups = evaluated_stages(*rows, groups=groups)
    by_masks = evaluated_stages(*rows, np.ones((1, 120), dtype=bool), groups=groups)
    assert of_groups.standard_error == pytest.approx(by_masks.standard_error)
    assert not np.allclose(of_groups.standard_error, evaluated_stages(*rows).standard_error)


# ------------------------------------------------------------------------------------------------
# Named rates, against their formulas in plain numbers.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rates", "name", "at_1000", "at_1"),
    [
        (ALPHA_RATES, "log6/n", 6.907755279**6 / 1000, 0.6931471806**6),
        (ALPHA_RATES, "1/sqrt(n)", 1 / 31.6227766, 1.0),
        (LEAF_RATES, "sqrt", 31.6227766, 1.0),
        (LEAF_RATES, "n/log5", 1000 / 6.907755279**5, 1 / 0.6931471806**5),
    ],
)
def test_a_rate_is_its_formula(rates, name, at_1000, at_1):
    assert rates[name](1000.0) == pytest.approx(at_1000)
    assert rates[name](1) == pytest.approx(at_1)
