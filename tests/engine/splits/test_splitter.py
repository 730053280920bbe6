"""Gains where rounding could hide them, against the same sums in exact fractions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from engine.splits.test_cuts import binned
from nodes import described
from odrf.engine.kernel_params import BIC, NO_PENALTY
from odrf.engine.numeric import digit_scratch
from odrf.engine.rows import rows_at
from odrf.engine.splits.cuts import exact_cut
from odrf.engine.splits.histograms import TOLERATED
from odrf.engine.splits.impurity import (
    GINI,
    NEGLIGIBLE,
    ORDINAL,
    SQUARED_ERROR,
    Node,
    describe,
    whole_logs,
)
from odrf.engine.trees.forest import ARRAYS
from odrf.projections.regression import LOGISTIC
from problems import grow_one, noisy, plain, problems

ONE_SUM = [SQUARED_ERROR, GINI, ORDINAL]


def exact_gain(y: NDArray, w: NDArray, left: NDArray[np.bool_]) -> float:
    """The decrease of the variance, in fractions: nothing is rounded before the end."""
    sums = []
    for side in (left, ~left):
        pairs = [(Fraction(a), Fraction(b)) for a, b in zip(w[side], y[side], strict=True)]
        sums.append((sum(a for a, _ in pairs), sum(a * b for a, b in pairs)))
    (one, of_one), (other, of_other) = sums
    apart = of_one / one - of_other / other
    return float(one * other / (one + other) ** 2 * apart**2)


def light_rows(m: int, lightest: float, seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """Values, a response of 0 and 1, and weights: the rows of the last bin are light."""
    rng = np.random.default_rng(seed)
    values, y, w = rng.random(m) * 0.9, (rng.random(m) < 0.3).astype(float), np.ones(m)
    values[-20:], w[-20:] = 1.0, lightest
    return values.astype(np.float32), y, w


@pytest.mark.parametrize("criterion", ONE_SUM)
@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("lightest", [1e-6, 1e-8])
def test_light_rows_in_the_last_or_the_first_bin_do_not_look_like_a_perfect_cut(
    lightest, flipped, criterion
):
    values, y, w = light_rows(40_000, lightest, 3)
    values = -values if flipped else values
    node = described(y, w, np.ones(len(y), dtype=int), criterion, 2)
    bins, found, at = binned(values, node, 32, 1)
    expected = exact_gain(y, w, bins <= at) * (2 if criterion == GINI else 1)
    noise = TOLERATED * node.impurity
    assert found == pytest.approx(expected, abs=2.1 * np.sqrt(noise * expected) + 1.1 * noise)


def node_of(y: NDArray, w: NDArray) -> Node:
    """A node as growth describes it."""
    n = len(y)
    X, once = np.zeros((1, n), dtype=np.float32), np.ones(n, dtype=np.int64)
    rows = rows_at(np.arange(n), X, y, w, once, True)
    logs = whole_logs(SQUARED_ERROR, n)
    return describe(rows, 0, n, np.empty(1), np.empty(n), logs, SQUARED_ERROR, 0.0)


def best_cut(values: NDArray[np.float32], node: Node) -> tuple[float, NDArray[np.bool_]]:
    """The gain of the best cut, and the rows on its left."""
    keys = np.empty((2, len(values)), dtype=np.uint64)
    found, threshold = exact_cut(values, digit_scratch(*keys), None, node, 1)
    return found, values <= threshold


def rounding(w: NDArray, left: NDArray[np.bool_]) -> float:
    """How far off a gain may be, as a share: the weight of one side is a difference."""
    lighter = min(w[left].sum(), w[~left].sum())
    return 4 * len(w) * 2.0**-53 * w.sum() / lighter


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(3, 40), st.sampled_from([0, 3, 12]))
def test_a_response_far_from_0_with_weights_of_any_ratio(seed, n, ratio):
    rng = np.random.default_rng(seed)
    values, y = rng.random(n, dtype=np.float32), 1e9 + rng.integers(-1, 2, n)
    w = 10.0 ** rng.uniform(-ratio, ratio, n)
    node = node_of(y, w)
    if node.impurity == 0:
        return
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(w, y, strict=True)) / sum(
        map(Fraction, w)
    )
    assert abs(node.value[0] - exact) <= n * 2.0**-52 * 1e9
    shares = np.cumsum(w[np.argsort(values)])[:-1] / w.sum()
    if (np.minimum(shares, 1 - shares) <= 2 * NEGLIGIBLE).any():  # such cuts need not be made
        return
    found, left = best_cut(values, node)
    assert found > 0
    assert found == pytest.approx(exact_gain(y, w, left), rel=rounding(w, left) + 1e-9)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(3, 30), st.booleans())
def test_of_cuts_that_are_nearly_equal_one_of_the_best_is_made(seed, n, weighted):
    rng = np.random.default_rng(seed)
    values, y = rng.permutation(n).astype(np.float32), rng.integers(0, 2, n) * 1.0
    # the gains of two cuts differ by about as much as the weights do
    w = 1.0 + weighted * rng.integers(0, 3, n) * 2.0**-45
    node = node_of(y, w)
    if node.impurity == 0:
        return
    found, left = best_cut(values, node)
    gains = [exact_gain(y, w, values <= at) for at in range(n - 1)]
    assert exact_gain(y, w, left) >= max(gains) * (1 - 1e-13 * n)
    assert found == pytest.approx(max(gains), rel=1e-13 * n)


@pytest.mark.parametrize("offset", [0.0, 1e6, 2.0**24 - 700])
@pytest.mark.parametrize("n_bins", [32, 256])
def test_whole_numbers_far_from_0_are_binned_and_cut_as_those_near_it(n_bins, offset):
    rng = np.random.default_rng(4)
    near = rng.integers(0, 700, 600).astype(float)
    y = (near > 300) + rng.normal(size=600)
    node = node_of(y, np.ones(600))
    here, far = (binned((near + by).astype(np.float32), node, n_bins, 5) for by in (0.0, offset))
    assert here[0].tolist() == far[0].tolist()
    assert here[1:] == far[1:]
    assert (best_cut((near + offset).astype(np.float32), node)[1] == best_cut(
        near.astype(np.float32), node
    )[1]).all()  # fmt: skip


# ------------------------------------------------------------------------------------------------
# The search of a split: what bins cost, when it ends, and how ties fall.
# ------------------------------------------------------------------------------------------------

DEFAULT = {"exact_rows": 64, "direction_rows": 200}


def contents(forest):
    return [getattr(forest, name).tobytes() for name in ARRAYS]


def stream_after(problem):
    """The random stream when the tree is grown."""
    state = problem.streams()[0]
    grow_one(*problem.growth, state, True)
    return state.tolist()


def smooth(n, n_classes, seed):
    """Six predictors, a response or classes that follow four of them smoothly, with noise."""
    rng = np.random.default_rng([n, n_classes, seed])
    X = rng.random((6, n))
    y = np.sin(3 * X[0]) + X[1] * X[2] + X[3] + rng.normal(size=n) / 2
    if n_classes > 1:
        y = np.argsort(np.argsort(y)) * n_classes // n
    criterion = GINI if n_classes > 1 else SQUARED_ERROR
    problem = plain(
        X, y, n_classes=n_classes, criterion=criterion, family=LOGISTIC, n_projections=5,
        max_leaves=2, **DEFAULT,
    )  # fmt: skip
    return replace(problem, seed=seed)


@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("n", [200, 500, 1000, 2000, 5000])
def test_the_default_search_gives_away_little_of_the_best_gain(n, n_classes):
    share = []
    for seed in range(30):
        problem = smooth(n, n_classes, seed)
        exact = problem.but(exact_rows=n)
        share.append(problem.grow().gain[0] / exact.grow().gain[0])
    assert np.mean(share) > 0.985
    assert np.quantile(share, 0.1) > 0.95
    assert min(share) > 0.85
    assert max(share) < 1 + 1e-9


@settings(max_examples=150, deadline=None)
@given(
    problems(max_rows=72),
    st.sampled_from([1, 4, 16]),
    st.sampled_from([0, 0, 1, 3]),
)
def test_every_search_keeps_the_terms_of_a_split(problem, exact_rows, n_thresholds):
    """The gain is that of the sides it makes, and each side has the rows it needs."""
    forest = problem.but(exact_rows=exact_rows, n_thresholds=n_thresholds).grow()
    split = np.flatnonzero(forest.left >= 0)
    left, least = forest.left[split], problem.settings.min_leaf
    assert (forest.count[left] + forest.count[left + 1] == forest.count[split]).all()
    assert (forest.count[1:] >= least).all()
    total = forest.weight * forest.impurity
    np.testing.assert_allclose(
        forest.weight[split] * forest.gain[split],
        total[split] - total[left] - total[left + 1],
        atol=1e-9,
    )


def test_small_nodes_are_searched_exactly():
    for seed in range(10):
        problem = replace(noisy(n=64, n_projections=4), seed=seed)
        assert contents(problem.but(**DEFAULT).grow()) == contents(problem.grow())


def test_a_rare_class_is_split_off():
    X = np.random.default_rng(0).random((3, 4096))
    y = np.zeros(4096)
    y[:2] = X[1, :2] = 1.0
    problem = plain(X, y, n_classes=2, criterion=GINI, exact_rows=16)
    for seed in range(10):
        tree = replace(problem, seed=seed).grow()
        assert tree.leaves()[0] > 1
        assert tree.impurity[tree.is_leaf()].max() == 0


def test_large_leaves_are_made():
    tree = noisy(n=6000, min_leaf=600, n_projections=2, **DEFAULT).grow()
    assert 4 < tree.leaves()[0] <= 10
    assert tree.count.min() >= 600


@pytest.mark.parametrize("n", [16, 60])
def test_a_perfect_split_ends_the_search(n):
    """With a penalty a split on fewer columns may still be better, and the search goes on."""
    x = np.linspace(0, 1, n)
    problem = plain(x[None], x > 0.4, n_classes=2, criterion=GINI, **DEFAULT)
    alone = stream_after(problem)
    assert stream_after(problem.but(n_projections=5, penalty=NO_PENALTY)) == alone
    assert stream_after(problem.but(n_projections=5, penalty=BIC)) != alone


def test_no_predictor_wins_ties_by_its_place():
    x = np.random.default_rng(1).random(40)
    problem = plain(np.array([x, x, x, x]), np.sin(9 * x), max_leaves=2)
    winners = Counter(problem.grow(2000).index.tolist())
    assert sorted(winners) == [0, 1, 2, 3]
    assert chisquare(list(winners.values())).pvalue > 0.001
