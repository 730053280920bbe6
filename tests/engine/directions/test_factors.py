"""The order of a factor's levels for more than two classes: its twin, and all partitions."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf import odrf, odt
from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import FEW_LEVELS, INDICATORS, feature_groups_of
from odrf.engine.directions.estimation import moments
from odrf.engine.directions.factors import (
    beyond_chance,
    class_shares_for,
    estimate_effects,
    load_levels,
    note_factors,
    principal_scores,
    principal_target,
    reliability,
    score_levels,
)
from odrf.engine.directions.samplers import workspace
from odrf.engine.factors import factors_of
from odrf.engine.numeric import streams
from odrf.engine.rows import gather_rows
from odrf.engine.splits.impurity import ENTROPY, GINI, ORDINAL, SQUARED_ERROR
from odrf.simulate import friedman1
from problems import CART, cart, case_weights, indicators
from reference import level_scores as twin
from reference.class_shares import principal_component
from reference.directions import level_means
from reference.impurity import gain
from reference.indicator_noise import beyond_chance as twin_of_indicator_noise
from reference.random_effects import random_effects


def factor(n_levels):
    return feature_groups_of(np.array([0, n_levels]), np.array([INDICATORS], dtype=np.int8))


def prepared(level, n_levels, y, a, K, criterion, copied=True):
    """The rows of a node with the factor alone, and the scratch."""
    n, groups, X = len(y), factor(n_levels), indicators(level - 1, n_levels)
    rows = gather_rows(
        streams(1, 0, 1)[0], X, y, a, np.ones(n, dtype=np.int64), copied, factors_of(X, groups)
    )
    options = CART._replace(criterion=criterion, n_classes=K).settings
    shares, work = class_shares_for(groups, options), workspace(n_levels, n)
    assert shares is not None
    return rows, shares, work


def target_of(level, y, a, rows, shares, work):
    """The target of the rows, or None."""
    n = len(y)
    total, mean, varies = principal_target(rows, 0, n, 0, shares, work)
    assert not shares.row.any()
    if not varies:
        return None
    target = np.empty(n)
    target[rows.at] = work.target
    assert (total, mean) == pytest.approx((a.sum(), np.average(target, weights=a)))
    np.testing.assert_allclose(work.moment, rows.weights * (work.target - mean), atol=1e-12)
    return target


def scores_of(n_levels, y, rows, shares, work):
    """The scores of the levels, NaN where none is written, or None."""
    if not principal_scores(rows, 0, len(y), 0, n_levels, shares, work):
        return None
    scores, number = np.full(n_levels, np.nan), work.size[0]
    assert (work.theta[0], work.size[1], work.term[:number].any()) == (1, 0, False)
    scores[work.column[:number]] = work.scores[:number]
    return scores


@st.composite
def cases(draw):
    n, n_levels, K = draw(st.integers(2, 60)), draw(st.integers(2, 12)), draw(st.integers(3, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    level = rng.integers(draw(st.integers(0, 1)), n_levels + 1, n)
    follows = rng.random(n) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    y = np.where(follows, level % K, rng.integers(0, draw(st.integers(1, K)), n)).astype(float)
    return level, n_levels, y, case_weights(n, rng), K


@settings(max_examples=300, deadline=None)
@given(cases(), st.sampled_from([GINI, ENTROPY]), st.booleans())
def test_levels_are_ordered_as_by_the_twin(case, criterion, copied):
    level, n_levels, y, a, K = case
    rows, shares, work = prepared(level, n_levels, y, a, K, criterion, copied)
    expected = principal_component(level, y, a, criterion == ENTROPY)
    many = n_levels > FEW_LEVELS
    found = (
        target_of(level, y, a, rows, shares, work)
        if many
        else scores_of(n_levels, y, rows, shares, work)
    )
    assert (found is None) == (expected is None)
    if found is None or not expected.determined:
        return
    if many:
        assert work.levels.freedom[0] == expected.others
        np.testing.assert_allclose(found[a > 0], expected.target[a > 0], atol=1e-6)
        return
    weight = np.array([a[level == k].sum() for k in range(1, n_levels + 1)])
    assert ((weight > 0) == ~np.isnan(found)).all()
    means = level_means(indicators(level - 1, n_levels).T[a > 0], expected.target[a > 0], a[a > 0])
    scale = np.nanmax(np.abs(found)) / np.abs(means[weight > 0]).max()
    np.testing.assert_allclose(found[weight > 0], scale * means[weight > 0], atol=1e-6 * scale)


def test_two_classes_that_are_left_have_the_targets_0_and_1():
    level, y, a = np.array([1, 1, 2, 2, 7, 7, 0]), np.array([1.0, 3, 3, 3, 1, 1, 1]), np.ones(7)
    rows, shares, work = prepared(level, 7, y, a, 5, GINI)
    np.testing.assert_allclose(target_of(level, y, a, rows, shares, work), y == 3, atol=1e-12)
    assert work.levels.freedom[0] == 0


@pytest.mark.parametrize("n_levels", [3, 7])
def test_levels_of_the_same_shares_have_no_order(n_levels):
    level, y, a = np.repeat([1, 2, 3], 6), np.tile([0.0, 1, 2], 6), np.ones(18)
    rows, shares, work = prepared(level, n_levels, y, a, 3, GINI)
    assert (
        target_of(level, y, a, rows, shares, work) is None
        if n_levels > 6
        else (scores_of(n_levels, y, rows, shares, work) is None)
    )


@pytest.mark.parametrize("criterion, K", [(GINI, 2), (ORDINAL, 4), (SQUARED_ERROR, 1)])
def test_other_responses_need_no_table(criterion, K):
    shares = class_shares_for(factor(4), CART._replace(criterion=criterion, n_classes=K).settings)
    assert shares is None


def shortfalls(n_levels, K, criterion, n=300, number=40):
    """By which share the gain falls short of the best of all partitions, for random tables."""
    rng = np.random.default_rng([n_levels, K, criterion])
    others = list(product([False, True], repeat=n_levels - 1))
    short = []
    for _ in range(number):
        shares = rng.dirichlet(np.full(K, 1.0), n_levels)
        level = rng.choice(n_levels, n, p=rng.dirichlet(np.full(n_levels, 2.0)))
        y = np.array([rng.choice(K, p=shares[k]) for k in level]).astype(float)
        sides = [np.array([False, *side])[level] for side in others]
        gains = [gain(y, np.ones(n), side, criterion) for side in sides if 0 < side.sum() < n]
        problem = cart(
            indicators(level, n_levels), y, factor(n_levels),
            criterion=criterion, n_classes=K, max_leaves=2,
        )  # fmt: skip
        short.append(1 - problem.grow().gain[0] / max(gains))
    return np.array(short)


@pytest.mark.parametrize("n_levels", [3, 5, 8])
@pytest.mark.parametrize("K", [3, 10])
@pytest.mark.parametrize("criterion", [GINI, ENTROPY])
def test_the_best_of_all_partitions_is_nearly_reached(n_levels, K, criterion):
    """The order of the mean of a class drawn at random falls 2 to 16 % short on average."""
    short = shortfalls(n_levels, K, criterion)
    assert (short > -1e-9).all()
    assert (short < 1e-9).mean() >= (0.7 if criterion == ENTROPY else 0.9)
    assert short.mean() < (0.02 if criterion == ENTROPY else 0.006)


# ------------------------------------------------------------------------------------------------
# Scores of the levels of a factor against their plain twin, and what they promise.
# ------------------------------------------------------------------------------------------------


@kernel
def share(terms, work):
    return reliability(terms, work)


def scored(level, n_levels, t, a, copied=True, others=0):
    """The workspace after scoring the levels (1, 2, …; 0 for none) of all rows; the scores.

    The target was chosen among as many `others`.
    """
    n = len(t)
    X = indicators(level - 1, n_levels)
    groups = feature_groups_of(np.array([0, n_levels]), np.array([INDICATORS], dtype=np.int8))
    rows = gather_rows(
        streams(1, 0, 1)[0], X, t, a, np.ones(n, dtype=np.int64), copied, factors_of(X, groups)
    )
    work = workspace(1, n, n_levels)
    work.weights[:] = rows.weights
    work.target[:] = rows.y
    _, mean = moments(rows.y, rows.weights, n, work.moment)
    work.Z[0], work.covariance[0], work.excess[0], work.levels.freedom[0] = 0.0, 0.0, 0.0, others
    present = score_levels(rows, 0, n, n, 0, mean, 0, 0, work)
    of_rows, of_levels = np.empty(n), np.zeros(n_levels)
    of_rows[rows.at] = work.Z[0]
    of_levels[work.levels.present[:present] - 1] = work.scores[:present]
    assert (np.diff(work.levels.present[:present]) > 0).all()
    return work, of_levels, of_rows


@st.composite
def cases_of_level_scores(draw):
    n, n_levels = draw(st.integers(2, 60)), draw(st.integers(7, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    level = rng.integers(draw(st.integers(0, 1)), n_levels + 1, n)
    t = np.round(rng.random(n) + draw(st.sampled_from([0, 1, 5])) * level, 2)
    return level, n_levels, t, case_weights(n, rng) + 0.5


@settings(max_examples=200, deadline=None)
@given(cases_of_level_scores(), st.booleans(), st.sampled_from([0, 1, 4]))
def test_scores_are_those_of_the_twin(case, copied, others):
    level, n_levels, t, a = case
    work, of_levels, of_rows = scored(level, n_levels, t, a, copied, others)
    expected = twin.score_levels(level, n_levels, t, a, others)
    np.testing.assert_allclose(of_levels, expected.of_levels, atol=1e-9)
    np.testing.assert_allclose(of_rows, expected.of_rows, atol=1e-9)
    scale = max(1.0, abs(expected.covariance) + expected.excess)
    assert work.covariance[0] == pytest.approx(expected.covariance, abs=1e-9 * scale)
    assert work.excess[0] == pytest.approx(expected.excess, abs=1e-9 * scale)
    work.theta[0] = 1.0
    trusted = twin.reliability(np.ones(1), work.covariance[:1], work.excess[:1])
    assert share(1, work) == pytest.approx(trusted, abs=1e-9)


def test_levels_that_differ_by_chance_are_hardly_trusted():
    rng = np.random.default_rng(3)
    trusted = []
    for _ in range(50):
        work, of_levels, _ = scored(
            rng.integers(1, 51, 200), 50, rng.normal(size=200), np.ones(200)
        )
        work.theta[0] = 1.0
        trusted.append(share(1, work) if of_levels.any() else 0.0)
    assert np.median(trusted) == 0.0
    assert np.mean(trusted) < 0.15


def test_levels_that_matter_are_trusted():
    rng = np.random.default_rng(4)
    level = rng.integers(1, 51, 2000)
    work, of_levels, _ = scored(level, 50, level / 10 + rng.normal(size=2000), np.ones(2000))
    work.theta[0] = 1.0
    assert share(1, work) > 0.97
    assert np.corrcoef(of_levels, np.arange(50))[0, 1] > 0.97


@pytest.mark.parametrize("S", [5.0, 20.0, 300.0])
@pytest.mark.parametrize("freedom, others", [(10, 1), (10, 8), (49, 3)])
def test_what_a_choice_adds_to_a_sum_of_squares_is_known(S, freedom, others):
    largest = (S + freedom) * (S + others) / S
    if np.sqrt(freedom * others) < S:
        assert largest > twin.edge(freedom, others)
        assert twin.strength(largest, freedom, others) == pytest.approx(S)
    assert twin.edge(freedom, others) == pytest.approx(
        min((s + freedom) * (s + others) / s for s in np.linspace(0.01, 200, 10**5)), rel=1e-3
    )


def test_no_term_scored_is_fully_trusted():
    assert share(0, workspace(1, 2)) == 1.0


# ------------------------------------------------------------------------------------------------
# What chance adds to the fit of indicators, which the gain of a split is reduced by.
# ------------------------------------------------------------------------------------------------


@kernel
def call(work):
    """Call what only kernels can call."""
    return beyond_chance(work, work.levels)


def share_of_indicator_noise(Z, theta, t, a, free):
    m, terms = Z.shape
    work = workspace(terms, m)
    work.Z[:, :m], work.target[:m], work.weights[:m] = Z.T, t, a
    work.theta[:terms] = theta
    work.size[2:] = free, terms, m
    moments(work.target, work.weights, m, work.moment)
    return call(work)


@settings(deadline=None)
@given(st.integers(3, 40), st.integers(1, 5), st.integers(0, 12), st.integers(0, 2**32))
def test_it_is_that_of_the_twin(m, terms, free, seed):
    rng = np.random.default_rng(seed)
    Z, theta, a = rng.random((m, terms)), rng.normal(size=terms), rng.uniform(0.1, 2, m)
    t = Z @ theta + rng.uniform(0, 2) * rng.normal(size=m)
    found, expected = (
        share_of_indicator_noise(Z, theta, t, a, free),
        twin_of_indicator_noise(Z @ theta, t, a, free),
    )
    assert found**2 == pytest.approx(expected**2, abs=1e-9)


def test_it_is_1_without_factors_and_for_a_perfect_fit_but_0_if_nothing_is_left():
    rng = np.random.default_rng(1)
    Z, theta, a = rng.random((9, 2)), np.array([1.0, -2.0]), np.ones(9)
    assert share_of_indicator_noise(Z, theta, rng.random(9), a, 0) == 1.0
    assert share_of_indicator_noise(Z, theta, Z @ theta, a, 7) == pytest.approx(1.0)
    assert share_of_indicator_noise(Z, theta, Z @ theta, a, 8) == 0.0


def test_a_fit_of_noise_counts_for_little():
    rng, shares, levels = np.random.default_rng(2), [], 5
    for _ in range(200):
        level, t = rng.integers(0, levels, 60), rng.random(60)
        Z = (level[:, None] == np.arange(levels)).astype(float)
        means = np.array([t[level == k].mean() if (level == k).any() else 0 for k in range(levels)])
        shares.append(share_of_indicator_noise(Z, means, t, np.ones(60), levels - 1) ** 2)
    assert np.mean(shares) < 0.1


def test_factors_of_noise_cost_a_forest_little():
    known = friedman1(p=5, noise=0.5).sample(300, seed=3)
    rng = np.random.default_rng(4)
    noisy = known.assign(**{f"f{j}": rng.choice(list("abcde"), len(known)) for j in range(3)})
    errors = [odrf("y ~ .", data, n_trees=60, seed=5).oob_error for data in (known, noisy)]
    # 1.7 to 2 if the fit of their coefficients counted in full
    assert errors[1] < 1.35 * errors[0]


# ------------------------------------------------------------------------------------------------
# Factors as random effects of a direction.
# ------------------------------------------------------------------------------------------------


@kernel
def loaded(rows, m, first, at, j, slots, work):
    return load_levels(rows, 0, m, first, j, slots, work.levels)


@kernel
def noted(number, slots, work):
    note_factors(number, slots, work.levels)


def effects_of(Z, levels, widths, t, a):
    """β, the effects of each factor's levels, and ρ; None if there are no effects."""
    m, p = Z.shape
    X = np.vstack([indicators(level - 1, w) for level, w in zip(levels, widths, strict=True)])
    first = np.concatenate([[0], np.cumsum(widths)])
    groups = feature_groups_of(first, np.full(len(widths), INDICATORS, dtype=np.int8))
    rows = gather_rows(
        streams(1, 0, 1)[0], X, t, a, np.ones(m, dtype=np.int64), True, factors_of(X, groups)
    )
    work, slots = workspace(p + len(widths), m, first[-1], m, len(widths), max(widths)), 0
    work.Z[:p], work.weights[:], work.target[:] = Z[rows.at].T, rows.weights, rows.y
    total, _ = moments(work.target, work.weights, m, work.moment)
    for j in range(len(widths)):
        slots += loaded(rows, m, first[j], 0, j, slots, work)
    noted(len(widths), slots, work)
    reliability = estimate_effects(p, m, total, work, work.levels)
    if reliability < 0:
        return None
    of_columns, effects = np.zeros(first[-1]), work.levels.effects
    of_columns[effects.column[1 : slots + 1]] = effects.effect[1 : slots + 1]
    return work.theta[:p], np.split(of_columns, first[1:-1]), reliability


def drawn_effects(rng, m, p, widths, size):
    levels = [rng.integers(0, width + 1, m) for width in widths]
    Z, t = rng.normal(size=(m, p)), rng.normal(size=m)
    t = t + Z.sum(axis=1)
    for level, width in zip(levels, widths, strict=True):
        t = t + (size * rng.normal(size=width + 1))[level]
    return Z, levels, (t - t.min()) / np.ptp(t)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(3, 50), st.integers(0, 3), st.lists(st.integers(3, 9), min_size=1, max_size=3),
    st.sampled_from([0.0, 1.0, 5.0]), st.integers(0, 2**32),
)  # fmt: skip
def test_random_effects_are_those_of_the_twin(m, p, widths, size, seed):
    rng = np.random.default_rng(seed)
    Z, levels, t = drawn_effects(rng, m, p, widths, size)
    a = case_weights(m, rng) + 0.5
    expected, found = random_effects(Z, levels, t, a), effects_of(Z, levels, widths, t, a)
    assert (found is None) == (expected is None)
    if found is None:
        return
    beta, of_levels, reliability = found
    np.testing.assert_allclose(beta, expected.beta, atol=1e-6)
    for some, others in zip(of_levels, expected.of_levels, strict=True):
        np.testing.assert_allclose(some[: len(others) - 1], others[1:], atol=1e-6)
    assert reliability**2 == pytest.approx(expected.reliability**2, abs=1e-6)


def test_effects_of_noise_vanish_and_those_of_few_rows_are_shrunk_not_dropped():
    rng, vanished, near = np.random.default_rng(5), [], []
    for _ in range(40):
        Z, levels, t = drawn_effects(rng, 60, 2, [30], 0.0)
        found = effects_of(Z, levels, [30], t, np.ones(60))
        # beside a noise of about the square of a coefficient
        vanished.append(
            0.0 if found is None else np.mean(found[1][0] ** 2) / np.mean(found[0]) ** 2
        )
        Z, levels, t = drawn_effects(rng, 60, 2, [30], 4.0)
        _, (effects,), reliability = effects_of(Z, levels, [30], t, np.ones(60))
        known = np.unique(levels[0][levels[0] > 0])
        means = np.array([(t - Z @ [1, 1] / 20)[levels[0] == k].mean() for k in known])
        near.append((np.corrcoef(effects[known - 1], means)[0, 1], reliability))
    assert np.median(vanished) < 0.02
    assert np.mean(vanished) < 0.15
    assert np.mean(near, axis=0)[0] > 0.9 and np.mean(near, axis=0)[1] > 0.85


def test_a_forest_uses_levels_of_few_rows_that_matter():
    rng = np.random.default_rng(6)
    level, x = rng.integers(0, 30, 160), rng.normal(size=(160, 2))
    y = x.sum(axis=1) + 2 * rng.normal(size=30)[level] + rng.normal(size=160) / 3
    data = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "f": [f"l{k}" for k in level], "y": y})
    train, test = data[:80], data[80:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # levels without training rows
        error = [
            np.mean((odrf(formula, train, n_trees=60, seed=1).predict(test) - test["y"]) ** 2)
            for formula in ("y ~ .", "y ~ a + b")
        ]
    assert error[0] < 0.7 * error[1]


def test_axis_trees_of_every_cut_take_the_best_split_of_a_factor_as_it_is():
    rng = np.random.default_rng(7)
    level, x = rng.integers(0, 40, 300), rng.normal(size=300)
    y = x / 4 + rng.normal(size=300)
    data = pd.DataFrame({"f": [f"l{k:02d}" for k in level], "x": x, "y": y})
    tree = odt("y ~ .", data, projection="axis", split_search="exact", max_leaves=2, alpha=0)
    means = np.array([y[level == k].mean() for k in range(40)])
    gains = [
        gain(y, np.ones(300), np.isin(level, np.argsort(means)[: k + 1]), SQUARED_ERROR)
        for k in range(39)
    ]
    of_x = [gain(y, np.ones(300), x <= at, SQUARED_ERROR) for at in np.sort(x)[:-1]]
    assert max(gains) > max(of_x)
    fitted = tree.predict(data)
    low = set(level[fitted == fitted.min()])
    assert low == set(np.argsort(means)[: int(np.argmax(gains)) + 1])
