"""Blends: how kinds of trees are evaluated and mixed."""

from __future__ import annotations

import weakref
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import competing_rows
from forests import same_bits
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.numeric import apportion, streams
from odrf.engine.resamples import SUBSAMPLE, Sampling, draw_counts
from odrf.engine.survival.curves import incidence_of_trees, leaf_curves, survival_of_trees
from odrf.fits import blending
from odrf.fits import blending as evaluating
from odrf.fits.blending import (
    Blended,
    Kind,
    Pilots,
    _in_turn,
    grow_blend,
    pilot_evidence,
    pilot_trees,
)
from odrf.fits.growing import evaluator_of_pilots
from odrf.fits.survival.blending import QUANTILES, EvidenceOfCurves
from problems import noisy
from reference.survival import inverse, observed
from survival_rows import grown_survival_trees

quick = settings(deadline=None)


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.integers(0, 1000))
def test_shares_add_up_and_are_within_one_tree(weights, n):
    weights = (np.array(weights) + 1e-9) / np.sum(np.array(weights) + 1e-9)
    counts = apportion(weights, n)
    assert counts.sum() == n
    assert (np.abs(counts - n * weights) < 1).all()


@quick
@given(st.lists(st.integers(0, 40), min_size=1, max_size=5).filter(any))
def test_the_first_trees_are_mixed_as_all_are(counts):
    counts = np.array(counts)
    order = _in_turn(counts)
    assert np.bincount(order, minlength=len(counts)).tolist() == counts.tolist()
    for b in range(1, len(order) + 1):
        expected = b * counts / counts.sum()
        assert (np.abs(np.bincount(order[:b], minlength=len(counts)) - expected) <= 2).all()


@pytest.mark.parametrize(
    ("n", "n_trees", "trees"),
    [(60, 100, 200), (500, 100, 120), (501, 100, 16), (2000, 100, 16), (2000, 500, 30)],
)
def test_pilots_are_large_on_few_rows_and_no_larger_than_the_forest_on_many(n, n_trees, trees):
    assert pilot_trees(n, 6, n_trees) == trees
    assert pilot_trees(10**6, 6, n_trees) == 5


def kind(problem, share):
    recipe = problem.settings
    return Kind(recipe.settings, recipe.mixture, Sampling(SUBSAMPLE, share))


def blend(n_jobs=1, n_trees=30):
    problem = noisy(n=300, n_projections=3)
    kinds = [
        kind(problem, 0.8),
        kind(problem.but(min_leaf=40), 0.7),
    ]
    forest, used, found = grow_blend(
        problem.X, problem.y, problem.weights, problem.feature_groups, kinds, 3, n_trees, n_jobs,
        lambda: None,
    )  # fmt: skip
    return problem, kinds, forest, used, found


def test_each_tree_is_of_its_kind_and_has_its_stream():
    problem, kinds, forest, used, found = blend()
    assert forest.n_trees == len(used) == len(found.of_tree) == 30
    least = np.array([forest.tree(b).count.min() for b in range(30)])
    assert (least[found.of_tree == 1] >= 40).all()
    assert (least[found.of_tree == 0] < 40).all()
    for b in range(30):
        drawn = draw_counts(used[b].copy(), problem.weights, kinds[found.of_tree[b]].sampling).sum()
        assert forest.tree(b).count[0] == drawn
    for kind in range(2):
        of_kind = used[found.of_tree == kind]
        assert of_kind.tolist() == streams(3, 0, len(of_kind)).tolist()
    assert found.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("fewer", [6, 29])
def test_a_blend_that_is_enlarged_is_as_if_it_had_been_grown_at_once(fewer):
    problem, kinds, forest, used, found = blend()
    start = blend(n_trees=fewer)
    grown = []
    larger = grow_blend(
        problem.X, problem.y, problem.weights, problem.feature_groups, kinds, 3, 30, 1,
        lambda: grown.append(1), Blended(*start[2:]),
    )  # fmt: skip
    assert same_bits(larger.forest, forest)
    assert larger.streams.tolist() == used.tolist()
    assert same_bits(larger.blend, found)
    assert len(grown) == 30 - fewer


def test_pilots_that_grow_with_the_forest_take_over_its_trees():
    problem = noisy(n=600, n_projections=3)
    kinds = [kind(problem, 0.8), kind(problem.but(min_leaf=40), 0.7)]
    grown = []

    def of(n_trees, start=None):
        grown.clear()
        return grow_blend(
            problem.X, problem.y, problem.weights, problem.feature_groups, kinds, 3, n_trees, 1,
            lambda: grown.append(1), start,
        )  # fmt: skip

    small = of(20)
    at_once = of(40)
    larger = of(40, small)
    assert pilot_trees(600, 2, 40) == 20
    assert same_bits(larger.forest, at_once.forest)
    assert same_bits(larger.blend, at_once.blend)
    counts = [np.bincount(made.blend.of_tree, minlength=2) for made in (small, at_once)]
    most = np.maximum(counts[1], 20)
    assert len(grown) == np.maximum(most - counts[0], 0).sum() < most.sum()


def test_threads_change_no_bit():
    _, _, one, _, _ = blend()
    _, _, other, _, _ = blend(n_jobs=3)
    assert one.threshold.tobytes() == other.threshold.tobytes()
    assert one.coef.tobytes() == other.coef.tobytes()


def test_large_leaves_win_on_noise_and_small_ones_without():
    rng = np.random.default_rng(0)
    problem = noisy(n=400, n_projections=3, min_leaf=2)
    kinds = [kind(problem.but(min_leaf=least), 0.8) for least in (2, 60)]
    shares = {}
    for name, y in [("noise", rng.normal(size=400)), ("signal", problem.X[0] + problem.X[1])]:
        _, _, found = grow_blend(
            problem.X, y.astype(float), problem.weights, problem.feature_groups, kinds, 1, 30, 1,
            lambda: None,
        )  # fmt: skip
        shares[name] = found.weights[1]
    assert shares["noise"] > 0.8
    assert shares["signal"] < 0.2


def test_trees_are_held_once(monkeypatch):
    """Pilot trees, too, are let go as the forest takes their nodes over."""
    held, grower_of, join = [], blending.TreeGrower, blending.joined

    def tree_grower(*arguments):
        grow = grower_of(*arguments)

        def recorded(stream):
            tree = grow(stream)
            held.append(weakref.ref(tree))
            return tree

        return recorded

    def joined(trees, n_trees):
        copies = [tree.trees(0, 1) for tree in trees]
        alive.append(sum(tree() is not None for tree in held))
        return join(copies, n_trees)

    alive = []
    monkeypatch.setattr(blending, "TreeGrower", tree_grower)
    monkeypatch.setattr(blending, "joined", joined)
    blend()
    assert len(held) > 30
    assert alive == [0]


@pytest.mark.parametrize("classes", [0, 3])
def test_pilots_are_evaluated_in_blocks_of_rows(monkeypatch, classes):
    rng = np.random.default_rng(2)
    m, b, K = 40, 4, max(classes, 1)
    y = rng.integers(K, size=m).astype(float) if classes else rng.normal(size=m)
    trees = [
        [SimpleNamespace(value=rng.random((9, K)), left=range(9), first=t + i) for t in range(b)]
        for i in range(2)
    ]

    def reached(tree, rows, layout):
        return ((rows[:, 0] * 1000).astype(int) + tree.first) % 9

    monkeypatch.setattr(evaluating, "leaves_reached", reached)
    problem = noisy(n=m)
    samplings = [kind(problem, share).sampling for share in (0.8, 0.7)]
    weights = rng.uniform(0.5, 2.0, m)

    def evidence():
        pilots = Pilots(trees, problem.X, weights, samplings, streams(1, 0, b), 1)
        return evaluating.pilot_evidence(pilots, y)

    whole = evidence()
    monkeypatch.setattr(evaluating, "AT_ONCE", 4 * 2 * b * K)
    monkeypatch.setattr(evaluating, "IN_TABLE", 9 * b * K - 1)  # less than the values of a kind
    blocks = evidence()
    for name in ("products", "relations", "errors", "rows"):
        assert np.array_equal(getattr(blocks, name), getattr(whole, name)), name
    assert (whole.log_loss is not None) == (classes > 0)
    for one, other in zip(blocks.log_loss or (), whole.log_loss or (), strict=True):
        assert np.array_equal(one, other)


# ------------------------------------------------------------------------------------------------
# What blends of survival trees are chosen by, against its definition, row by row.
# ------------------------------------------------------------------------------------------------

B = 3


def weight_at(twin, i, t):
    """The inverse probability that the state of row i at t is seen; 0 if it is not."""
    if twin.time[i] > t:
        return inverse(observed(twin, t, True))
    return inverse(observed(twin, twin.time[i], False)) if twin.event[i] else 0.0


@settings(max_examples=30, deadline=None)
@given(rows=competing_rows(), seed=st.integers(0, 99), about=st.sampled_from(["all", "a", "one"]))
def test_errors_are_those_of_different_trees_out_of_bag(rows, seed, about):
    """Of incidences of all causes or of one; or of survival, if there is one cause."""
    table, sampling = rows.table._replace(start=None), Sampling(SUBSAMPLE, 0.6)
    names = ("event",) if about == "one" else tuple("abc"[: rows.n_causes])
    cause = table.event.astype(np.int64) if about == "one" else rows.cause
    times = SurvivalTimes(table.time, cause, None, names)
    X, forest, draws = grown_survival_trees(table, seed, sampling, B)
    evaluate = EvidenceOfCurves(times, table.weights, "a" if about == "a" else None)
    of_kinds = [[forest.tree(b) for b in range(B)]]
    pilots = Pilots(of_kinds, X, np.ones(len(cause)), [sampling], streams(seed, 0, B), 1)
    found = evaluate(pilots, np.zeros(len(cause)))
    at = np.unique(np.quantile(table.time[table.event], QUANTILES, method="lower"))
    grid = np.searchsorted(table.event_times, at, side="right")
    curves, n = leaf_curves(forest, X, times.ranks, draws), len(cause)
    evaluated = {"all": range(rows.n_causes), "a": [0], "one": [None]}[about]
    twin = table.twin(np.arange(n))
    unseen = draws.all_unseen()
    total = pairs = 0.0
    for k in evaluated:
        of_trees = forest, curves, X, grid
        if k is None:
            values, states = survival_of_trees(*of_trees, slice(0, n)), table.time[:, None] > at
        else:
            values = incidence_of_trees(*of_trees, k, slice(0, n))
            states = (table.time[:, None] <= at) & (cause[:, None] == 1 + k)
        for i, case in enumerate(table.weights):
            weights = np.array([weight_at(twin, i, t) for t in at])
            for one, other in permutations(np.flatnonzero(unseen[:, i]), 2):
                errors = (values[one, i] - states[i]) * (values[other, i] - states[i])
                total += case * float(weights @ errors)
                pairs += case / len(evaluated)
    assert found.errors[0] == pytest.approx(total / pairs if pairs else 0.0, abs=1e-10)


# ------------------------------------------------------------------------------------------------
# What evaluates the pilot trees of a blend: errors of the response, or of curves of its causes.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cause", [None, "b"])
def test_curves_are_evaluated_for_the_cause_that_splits_are_about(cause):
    times = SurvivalTimes(np.arange(1.0, 5.0), np.array([1, 2, 0, 1]), None, ("a", "b"))
    weights = np.array([1.0, 2.0, 1.0, 0.5])
    evaluate = evaluator_of_pilots(
        SimpleNamespace(times=times, weights=weights), SimpleNamespace(cause=cause)
    )
    assert evaluate.times is times and evaluate.case_weights is weights and evaluate.cause == cause


def test_other_responses_are_evaluated_by_their_errors():
    assert evaluator_of_pilots(SimpleNamespace(times=None), SimpleNamespace(cause=None)) is (
        pilot_evidence
    )
