"""Rounds of boosting: sums of leaves, draws of rows, and what is kept."""

from __future__ import annotations

import numpy as np
import pytest

from odrf.engine.boosting.adding import added_up, added_up_by_round
from odrf.engine.boosting.growing import boost
from odrf.engine.boosting.losses import LOSSES
from odrf.engine.boosting.plan import Plan
from odrf.engine.boosting.runs import Sample
from odrf.engine.impurity import SQUARED_ERROR
from odrf.engine.proposals import PLAIN, Blocks
from odrf.engine.routing import leaf_nodes
from odrf.engine.sampling import ALL_ROWS, SUBSAMPLE, Sampling
from odrf.engine.settings import NO_PENALTY, Settings
from odrf.projections.axis import Axis
from odrf.projections.estimated import LeastSquares
from odrf.projections.mixture import Mixture, Share

SETTINGS = Settings(SQUARED_ERROR, 1, 2**31, 2, 3, NO_PENALTY, 0, 2, 200, 0, 64)
SOURCE = Mixture((Share(Axis(), 4), Share(LeastSquares(), 3)))
BLOCKS = Blocks(np.arange(5), np.full(4, PLAIN, dtype=np.int8))
EVERY = Sampling(ALL_ROWS, 1.0)


def rows(seed, n=150, classes=0):
    rng = np.random.default_rng(seed)
    X = rng.random((4, n)).astype(np.float32)
    y = X[0] + X[1] * X[2] + rng.normal(size=n) / 10
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    return Sample(X, y.astype(float), rng.integers(0, 3, n).astype(float), np.zeros(n))


def plan(name="squared_error", K=1, **options):
    given = {"n_rounds": 8, "rate": 0.3, "l2": 1.0, "patience": 3, "sampling": EVERY} | options
    return Plan(LOSSES[name](), K, settings=SETTINGS, source=SOURCE, **given)


def grown(own, how, held=None, n_jobs=1, advance=lambda: None):
    return boost(own, held, BLOCKS, how, 7, n_jobs, advance)


@pytest.mark.parametrize(("name", "K"), [("squared_error", 1), ("logistic", 1), ("multinomial", 3)])
def test_scores_are_sums_over_the_trees_of_their_output(name, K):
    own = rows(1, classes=0 if name == "squared_error" else max(2, K))
    found = grown(own, plan(name, K))
    leaves = leaf_nodes(found.forest, own.X, 1)
    expected = np.repeat(found.start[:, None], len(own.y), axis=1)
    by_round = []
    for b in range(found.forest.n_trees):
        expected[b % K] += found.forest.value[leaves[:, b], 0]
        if b % K == K - 1:
            by_round.append(expected.copy())
    for n_jobs in (1, 2):
        np.testing.assert_array_equal(added_up(found.forest, own.X, found.start, n_jobs), expected)
        np.testing.assert_array_equal(
            added_up_by_round(found.forest, own.X, found.start, n_jobs), by_round
        )
    loss = LOSSES[name]()
    after = [
        np.average(loss.losses(own.y, scores, own.weights), weights=own.weights)
        for scores in by_round
    ]
    assert found.training[1:] == pytest.approx(after, rel=1e-12)
    assert (np.diff(found.training) < 0).all()


@pytest.mark.parametrize("sampling", [EVERY, Sampling(SUBSAMPLE, 0.5)])
@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_leaves_say_what_the_rows_drawn_leave_to_explain(sampling, l2):
    own = rows(2)
    found = grown(own, plan(n_rounds=1, rate=1.0, l2=l2, sampling=sampling))
    tree, left = found.forest, own.y - np.average(own.y, weights=own.weights)
    leaf = leaf_nodes(tree, own.X, 1)[:, 0]
    n_drawn = int(tree.count[0])
    alive = (own.weights > 0).sum()
    assert n_drawn == (alive if sampling is EVERY else round(alive / 2))
    differing = 0
    for node in np.flatnonzero(tree.is_leaf()):
        at = (leaf == node) & (own.weights > 0)
        mean = own.weights[at] @ left[at] / (own.weights[at].sum() + l2)
        differing += abs(tree.value[node, 0] - mean) > 1e-12
    # of a subsample, other rows reach the leaves as well
    assert (differing > 0) == (sampling is not EVERY)
    assert (tree.value[~tree.is_leaf()] == 0).all()


def test_rounds_end_when_held_out_rows_gain_nothing():
    own, held = rows(3), rows(4)
    called = []
    how = plan(n_rounds=200)
    found = grown(own, how, held, advance=lambda: called.append(1))
    best = int(np.argmin(found.held))
    assert found.forest.n_trees == best < len(found.held) - 1 < 200
    assert len(found.held) - 1 - best == how.patience
    assert len(called) == len(found.held) - 1
    scores = added_up(found.forest, held.X, found.start, 1)
    kept = np.average(how.loss.losses(held.y, scores, held.weights), weights=held.weights)
    assert found.held[best] == pytest.approx(kept, rel=1e-12)


def test_a_round_is_kept_where_none_helps():
    own = rows(5)
    held = own._replace(y=-own.y + 10)
    found = grown(own, plan(), held)
    assert np.argmin(found.held) == 0
    assert found.forest.n_trees == 1


@pytest.mark.parametrize("sampling", [EVERY, Sampling(SUBSAMPLE, 0.6)])
def test_threads_change_nothing(sampling):
    own = rows(6, n=2500, classes=3)
    one, two = (grown(own, plan("multinomial", 3, sampling=sampling), None, k) for k in (1, 2))
    assert one.forest.value.tobytes() == two.forest.value.tobytes()
    assert one.forest.coef.tobytes() == two.forest.coef.tobytes()
    assert one.training.tobytes() == two.training.tobytes()
