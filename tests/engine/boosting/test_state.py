"""Rounds of boosting: sums of leaves, draws of rows, and what is kept."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from odrf.engine.boosting.leaf_values import BoostingParams, refitted
from odrf.engine.boosting.losses import LOSSES
from odrf.engine.boosting.runs import Sample, added_up, added_up_by_round, added_up_by_run
from odrf.engine.boosting.state import boost
from odrf.engine.directions.candidates import PLAIN, FeatureGroups
from odrf.engine.kernel_params import NO_PENALTY, KernelParams
from odrf.engine.resamples import ALL_ROWS, SUBSAMPLE, Sampling
from odrf.engine.splits.impurity import SQUARED_ERROR
from odrf.engine.trees.routing import leaf_nodes, leaves_reached
from odrf.projections.axis import Axis
from odrf.projections.mixture import Mixture, Share
from odrf.projections.regression import LeastSquares
from reference import boosting as twin

SETTINGS = KernelParams(SQUARED_ERROR, 1, 2**31, 2, 3, NO_PENALTY, 0, 2, 200, 0, 64)
BLOCKS = FeatureGroups(np.arange(5), np.full(4, PLAIN, dtype=np.int8))
EVERY = Sampling(ALL_ROWS, 1.0)


def rows(seed, n=150, classes=0):
    rng = np.random.default_rng(seed)
    X = rng.random((4, n)).astype(np.float32)
    y = X[0] + X[1] * X[2] + rng.normal(size=n) / 10
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    return Sample(X, y.astype(float), rng.integers(0, 3, n).astype(float), np.zeros(n))


def plan(name="squared_error", K=1, **options):
    given = {
        "n_runs": 1, "n_rounds": 8, "rate": 0.3, "l2": 1.0, "refit": False, "patience": None,
        "run_predictors": 4, "tree_predictors": 4, "sampling": EVERY,
    }  # fmt: skip
    given |= options
    # no more predictors singly than a tree has
    singles = min(given["run_predictors"], given["tree_predictors"])
    mixture = Mixture((Share(Axis(), singles), Share(LeastSquares(), 3)))
    return BoostingParams(LOSSES[name](), K, settings=SETTINGS, mixture=mixture, **given)


def grown(sample, options, held=None, n_jobs=1, advance=lambda: None):
    return boost(sample, held, BLOCKS, options, 7, n_jobs, advance)


@pytest.mark.parametrize(("name", "K"), [("squared_error", 1), ("logistic", 1), ("multinomial", 3)])
def test_scores_are_sums_over_the_trees_of_their_output(name, K):
    sample = rows(1, classes=0 if name == "squared_error" else max(2, K))
    found = grown(sample, plan(name, K))
    leaves = leaf_nodes(found.forest, sample.X, 1)
    expected = np.repeat(found.starts.T, len(sample.y), axis=1)
    by_round = []
    for b in range(found.forest.n_trees):
        expected[b % K] += found.forest.value[leaves[:, b], 0]
        if b % K == K - 1:
            by_round.append(expected.copy())
    for n_jobs in (1, 2):
        np.testing.assert_array_equal(
            added_up(found.forest, sample.X, found.starts, n_jobs), expected
        )
        np.testing.assert_array_equal(
            added_up_by_round(found.forest, (), sample.X, found.starts, n_jobs), by_round
        )
    loss = LOSSES[name]()
    after = [
        np.average(loss.losses(sample.y, scores, sample.weights), weights=sample.weights)
        for scores in by_round
    ]
    assert found.training[1:] == pytest.approx(after, rel=1e-12)
    assert (np.diff(found.training) < 0).all()


@pytest.mark.parametrize("sampling", [EVERY, Sampling(SUBSAMPLE, 0.5)])
@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_leaf_values_are_mean_residuals_of_the_rows_drawn(sampling, l2):
    sample = rows(2)
    found = grown(sample, plan(n_rounds=1, rate=1.0, l2=l2, sampling=sampling))
    tree, left = found.forest, sample.y - np.average(sample.y, weights=sample.weights)
    leaf = leaf_nodes(tree, sample.X, 1)[:, 0]
    n_drawn = int(tree.count[0])
    alive = (sample.weights > 0).sum()
    assert n_drawn == (alive if sampling is EVERY else round(alive / 2))
    differing = 0
    for node in np.flatnonzero(tree.is_leaf()):
        at = (leaf == node) & (sample.weights > 0)
        mean = sample.weights[at] @ left[at] / (sample.weights[at].sum() + l2)
        differing += abs(tree.value[node, 0] - mean) > 1e-12
    # of a subsample, other rows reach the leaves as well
    assert (differing > 0) == (sampling is not EVERY)
    assert (tree.value[~tree.is_leaf()] == 0).all()


def test_rounds_end_when_held_out_rows_gain_nothing():
    sample, held = rows(3), rows(4)
    called = []
    options = plan(n_rounds=200, patience=3)
    found = grown(sample, options, held, advance=lambda: called.append(1))
    best = int(np.argmin(found.held_out))
    assert found.forest.n_trees == best < len(found.held_out) - 1 < 200
    assert len(found.held_out) - 1 - best == options.patience
    assert len(called) == len(found.held_out) - 1
    scores = added_up(found.forest, held.X, found.starts, 1)
    kept = np.average(options.loss.losses(held.y, scores, held.weights), weights=held.weights)
    assert found.held_out[best] == pytest.approx(kept, rel=1e-12)


def test_a_round_is_kept_where_none_helps():
    sample = rows(5)
    held = sample._replace(y=-sample.y + 10)
    found = grown(sample, plan(patience=3), held)
    assert np.argmin(found.held_out) == 0
    assert found.forest.n_trees == 1


@pytest.mark.parametrize("options", [plan("ordinal", 2), plan(n_runs=2, refit=True, n_rounds=3)])
def test_more_rounds_are_those_that_come_next(options):
    sample = rows(7, classes=3 if options.n_outputs > 1 else 0)
    first = grown(sample, options._replace(n_rounds=2))
    both = boost(sample, None, BLOCKS, options, 7, 1, lambda: None, first)
    once = grown(sample, options)
    assert both.forest.value.tobytes() == once.forest.value.tobytes()
    assert both.training.tobytes() == once.training.tobytes()
    assert both.held_out.tobytes() == once.held_out.tobytes()
    assert [s.tobytes() for s in both.stages] == [s.tobytes() for s in once.stages]


def test_rows_go_down_a_tree_as_routing_sends_them():
    sample = rows(12, n=400)
    found = grown(sample, plan(n_rounds=6)).forest
    leaf = leaf_nodes(found, sample.X, 1)
    for b in range(6):
        reached = leaves_reached(found.tree(b), np.array(sample.X.T, order="C"))
        assert (reached + found.root[b]).tolist() == leaf[:, b].tolist()
    lone = found.tree(0).keeping(np.zeros(found.tree(0).n_nodes, dtype=bool))
    assert not leaves_reached(lone, np.array(sample.X.T, order="C")).any()


@pytest.mark.parametrize("refit", [False, True])
def test_runs_are_boosted_on_their_own_rows_and_averaged(refit):
    sample = rows(8)
    options = plan(n_runs=3, n_rounds=4, run_predictors=3, refit=refit)
    found = grown(sample, options)
    by_run = added_up_by_run(found.forest, sample.X, found.starts, 1)
    np.testing.assert_allclose(
        added_up(found.forest, sample.X, found.starts, 2), by_run.mean(axis=0), rtol=1e-12
    )
    missed = np.array([drawn.counts == 0 for drawn in found.drawn])
    expected, known = [], (missed.any(axis=0)) & (sample.weights > 0)
    for i in np.flatnonzero(known):
        expected.append(np.mean([by_run[m, 0, i] for m in range(3) if missed[m, i]]))
    losses = (sample.y[known] - expected) ** 2 / 2
    assert found.held_out[-1] == pytest.approx(np.average(losses, weights=sample.weights[known]))
    leaf = leaf_nodes(found.forest, sample.X, 1)
    for b in range(found.forest.n_trees):
        drawn, tree = found.drawn[b % 3], found.forest.tree(b)
        assert set(tree.index) <= set(drawn.predictors)
        # what a root counts are the run's rows, each as often as it was drawn
        weights = sample.weights * drawn.counts
        assert tree.weight[0] == pytest.approx(weights.sum())
        assert len(np.unique(leaf[weights > 0, b])) == tree.leaves()[0]


def test_refitted_leaves_are_the_ridge_solution_of_all_trees_so_far():
    sample = rows(9)
    found = grown(sample, plan(n_rounds=5, refit=True, l2=0.7))
    leaf = leaf_nodes(found.forest, sample.X, 1)
    for r, stage in enumerate(found.stages):
        expected = twin.refitted(
            leaf[:, : r + 1],
            found.forest.root[r + 1],
            sample.y - found.starts[0, 0],
            sample.weights,
            0.7,
        )
        np.testing.assert_allclose(stage, expected, atol=1e-6)
    assert found.forest.value[:, 0].tolist() == found.stages[-1].tolist()
    by_round = added_up_by_round(found.forest, found.stages, sample.X, found.starts, 1)
    after = [np.average((sample.y - s[0]) ** 2 / 2, weights=sample.weights) for s in by_round]
    assert found.training[1:] == pytest.approx(after, rel=1e-9)
    assert (np.diff(found.training) < 0).all()


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_conjugate_gradients_find_the_least_squares(l2):
    rng = np.random.default_rng(10)
    leaves = np.column_stack([rng.integers(0, 4, 60), 4 + rng.integers(0, 3, 60)])
    reached = csr_array((np.ones(120), leaves.ravel(), np.arange(0, 121, 2)), shape=(60, 7))
    target, weights = rng.normal(size=60), rng.integers(0, 3, 60).astype(float)
    found = refitted(reached, target, weights, l2, np.zeros(7))
    # without a penalty many solutions give the same fitted values
    expected = twin.refitted(leaves, 7, target, weights, max(l2, 1e-9))
    np.testing.assert_allclose(reached @ found, reached @ expected, atol=1e-5)


def test_each_tree_draws_predictors_of_its_own():
    sample = rows(11)
    found = grown(sample, plan(n_rounds=12, tree_predictors=2))
    used = [frozenset(found.forest.tree(b).index.tolist()) for b in range(12)]
    assert max(map(len, used)) == 2
    assert len(set(used)) > 3


@pytest.mark.parametrize("sampling", [EVERY, Sampling(SUBSAMPLE, 0.6)])
def test_threads_change_nothing(sampling):
    sample = rows(6, n=2500, classes=3)
    options = plan("multinomial", 3, sampling=sampling, n_runs=2, n_rounds=3, tree_predictors=3)
    one, two = (grown(sample, options, None, k) for k in (1, 2))
    assert one.forest.value.tobytes() == two.forest.value.tobytes()
    assert one.forest.coef.tobytes() == two.forest.coef.tobytes()
    assert one.training.tobytes() == two.training.tobytes()
