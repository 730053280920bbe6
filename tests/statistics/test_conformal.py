"""Intervals from out-of-bag residuals against their definition, and what they cover."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import odrf
from odrf.engine import memory
from odrf.engine.oob import out_of_bag
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Draws
from odrf.engine.trees.quantiles import leaf_members
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.errors import InputError
from odrf.statistics.conformal import (
    calibrating,
    conditional_quantiles,
    fewest_rows,
    jackknife_plus,
    leave_one_out,
    residual_quantiles,
    shares_below,
    upper_bounds,
)
from problems import noisy
from reference import inference as twin
from resampled import forests


@settings(max_examples=60, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)), st.sampled_from(["0.5", "0.8", "0.9"]))
def test_ends_are_those_of_the_definition(grown, level):
    problem = grown.problem
    unseen = grown.draws(2).all_unseen()
    rows = calibrating(unseen, problem.weights)
    assume(len(rows))
    value = out_of_bag(grown.forest, problem.X, problem.y, grown.draws()).value[:, 0]
    given = (
        grown.forest, grown.new, unseen[:, rows], np.abs(problem.y - value)[rows],
        problem.weights[rows], float(level),
    )  # fmt: skip
    ends = np.array(jackknife_plus(*given, n_jobs=1))
    assert np.array_equal(ends, np.array(jackknife_plus(*given, n_jobs=2)))
    counts = twin.draws(*grown.draws()[:3])
    for x, found in zip(grown.new.T, ends.T, strict=True):
        by_definition = twin.conformal(
            grown.forest, counts, problem.X, problem.y, problem.weights, x, Fraction(level)
        )
        np.testing.assert_allclose(found, by_definition, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)), st.sampled_from(["0.5", "0.8", "0.9"]))
def test_ends_for_training_rows_are_those_of_a_forest_without_the_row(grown, level):
    problem, draws = grown.problem, grown.draws()
    unseen = draws.all_unseen()
    rows = calibrating(unseen, problem.weights)
    assume(len(rows))
    given = (
        grown.forest, problem.X, problem.y, problem.weights, unseen, rows, float(level),
    )  # fmt: skip
    ends = np.array(leave_one_out(*given, n_jobs=1))
    assert np.array_equal(ends, np.array(leave_one_out(*given, n_jobs=2)), equal_nan=True)
    counts = twin.draws(*draws[:3])
    for i, found in enumerate(ends.T):
        by_definition = twin.conformal_of_training_row(
            grown.forest, counts, problem.X, problem.y, problem.weights, i, Fraction(level)
        )
        np.testing.assert_allclose(found, by_definition, rtol=1e-9, atol=1e-9)


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 99), st.integers(0, 99))
@example(24, 28, 0)  # .28 × 25 is a little more than 7
def test_bounds_are_order_statistics_rounded_up(m, percent, seed):
    values = np.random.default_rng(seed).permutation(m)[None].astype(float)
    k = -(-(m + 1) * percent // 100)
    wanted = k - 1 if k <= m else np.inf
    for weights in (np.ones(m), np.full(m, 0.3)):
        assert upper_bounds(values, weights, percent / 100)[0] == wanted
    assert (m >= fewest_rows(percent / 100)) == (k <= m)


def test_a_weight_of_three_is_three_rows_but_for_the_new_one():
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=(4, 300)), rng.integers(1, 4, 300)
    tripled = np.repeat(values, weights, axis=1)
    weighted = upper_bounds(values, weights.astype(float), 0.9)
    np.testing.assert_allclose(
        weighted, upper_bounds(tripled, np.ones(weights.sum()), 0.9), atol=0.1
    )


def test_very_many_rows_are_thinned_out_evenly():
    unseen, weights = np.ones((2, 50_000), dtype=bool), np.ones(50_000)
    unseen[:, :10_000], weights[-10_000:] = False, 0.0
    rows = calibrating(unseen, weights)
    assert len(rows) == 10_000
    assert (rows[0], rows[-1]) == (10_000, 39_999)
    assert np.diff(rows).min() >= 2


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_the_next_of_exchangeable_values_is_covered(level):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(4000, 40))
    bounds = upper_bounds(values[:, 1:], np.ones(39), level)
    assert np.mean(values[:, 0] <= bounds) == pytest.approx(level, abs=0.02)


# ------------------------------------------------------------------------------------------------
# Prediction intervals where trees draw whole groups: residuals are those of new groups.
# ------------------------------------------------------------------------------------------------


def bound_by_definition(values, weights, groups, level):
    """The least value with a large enough share; a group has the mean weight of its rows."""
    known = [i for i, weight in enumerate(weights) if weight > 0]
    of_group = {g: [i for i in known if groups[i] == g] for g in {groups[i] for i in known}}
    share = {i: Fraction(float(weights[i])) for i in known}
    G = len(of_group)
    wanted = level * sum(share.values()) * Fraction(G + 1, max(G, 1))
    reached = [
        v for v in sorted(values[known]) if sum(share[i] for i in known if values[i] <= v) >= wanted
    ]
    return min(reached, default=np.inf)


@settings(deadline=None)
@given(st.integers(1, 30), st.sampled_from(["0.5", "0.8", "0.9"]), st.integers(0, 2**32))
def test_bounds_are_those_of_the_definition(m, level, seed):
    rng = np.random.default_rng(seed)
    values, groups = rng.normal(size=(3, m)), rng.integers(0, 8, m)
    weights = rng.integers(0, 3, (3, m)).astype(float)
    weights[:, 0] = 1.0
    found = upper_bounds(values, weights, float(level), groups)
    expected = [
        bound_by_definition(v, w, groups, Fraction(level))
        for v, w in zip(values, weights, strict=True)
    ]
    assert found.tolist() == expected


def recordings(n_groups, seed, rows=6):
    """Rows of subjects; no predictor shows their own level, but three tell them apart."""
    rng = np.random.default_rng(seed)
    id_ = np.repeat(np.arange(n_groups), rng.integers(2, 2 * rows - 1, n_groups))
    own, *marks = rng.normal(size=(4, n_groups))
    x = rng.normal(size=len(id_))
    y = x + 2 * own[id_] + 0.3 * rng.normal(size=len(id_))
    marked = {f"mark{k}": mark[id_] for k, mark in enumerate(marks)}
    return pd.DataFrame({"y": y, "x": x, **marked, "id": id_})


@pytest.fixture(scope="module")
def forests_of_conformal_of_groups():
    data = recordings(60, 1)
    with_groups = odrf.odrf("y ~ .", data, groups="id", n_trees=60, blend=False, seed=1)
    return data, with_groups, odrf.odrf("y ~ . - id", data, n_trees=60, blend=False, seed=1)


def test_intervals_cover_new_groups_and_rows_drawn_alone_do_not(forests_of_conformal_of_groups):
    new = recordings(300, 2)
    data, with_groups, alone = forests_of_conformal_of_groups

    def coverage(fit):
        found = fit.predict(new, interval="prediction", level=0.9)
        inside = (found["conf_low"] <= new["y"]) & (new["y"] <= found["conf_high"])
        return inside.groupby(new["id"]).mean().mean()

    assert 0.84 < coverage(with_groups) < 0.96
    assert coverage(alone) < 0.7
    # out of bag, each subject is new to the trees that predict it
    own = with_groups.predict(interval="prediction", level=0.9)
    inside = (own["conf_low"] <= data["y"]) & (data["y"] <= own["conf_high"])
    assert 0.84 < inside.groupby(data["id"]).mean().mean() < 0.97
    assert with_groups.oob_error > 2 * alone.oob_error


def test_intervals_of_training_rows_use_no_residual_of_their_group(forests_of_conformal_of_groups):
    data, fit, _ = forests_of_conformal_of_groups
    changed = data.assign(y=data["y"].where(data["id"] != 7, data["y"] + 1e6))
    other = odrf.odrf("y ~ .", changed, groups="id", n_trees=60, blend=False, seed=1)
    one, two = (each.predict(interval="prediction", level=0.8) for each in (fit, other))
    rows = data["id"] == 7
    np.testing.assert_allclose(one[rows], two[rows])
    assert not np.allclose(one[~rows], two[~rows])


def test_the_number_of_groups_limits_the_level():
    few = odrf.odrf("y ~ .", recordings(12, 1), groups="id", n_trees=20, seed=1)
    with pytest.raises(InputError, match=r"level=0.95 needs 19 groups .* and there are 12"):
        few.predict(interval="prediction")


# ------------------------------------------------------------------------------------------------
# Quantile regression forests against exact sums of Meinshausen's weights.
# ------------------------------------------------------------------------------------------------

LEVELS = ["0.5", "0.05", "0.9", "0.1", "0.25"]


@settings(max_examples=60, deadline=None)
@given(forests())
def test_quantiles_are_those_of_the_twin(grown):
    problem = grown.problem
    levels = np.array(LEVELS, dtype=float)
    found = conditional_quantiles(
        grown.forest, grown.new, levels, problem.X, problem.y, grown.draws()
    )
    again = conditional_quantiles(
        grown.forest, grown.new, levels, problem.X, problem.y, grown.draws(3)
    )
    assert found.tolist() == again.tolist()
    counts = twin.fillings(*grown.draws()[:3])
    trees = list(range(grown.forest.n_trees))
    for x, ends in zip(grown.new.T, found, strict=True):
        weights = twin.row_weights(grown.forest, counts, problem.X, problem.weights, x, trees)
        assert sum(weights) == 1
        exact = [twin.quantile(problem.y, weights, Fraction(level)) for level in LEVELS]
        assert ends.tolist() == exact


@settings(max_examples=40, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)))
def test_some_of_the_trees_give_the_quantiles_of_the_twin(grown):
    problem, draws = grown.problem, grown.draws()
    unseen = draws.all_unseen()
    found = conditional_quantiles(
        grown.forest, problem.X, np.array(LEVELS, dtype=float), problem.X, problem.y, draws, unseen
    )
    counts = twin.fillings(*draws[:3])
    for x, trees, ends in zip(problem.X.T, unseen.T, found, strict=True):
        if not trees.any():
            assert np.isnan(ends).all()
            continue
        by = np.flatnonzero(trees).tolist()
        weights = twin.row_weights(grown.forest, counts, problem.X, problem.weights, x, by)
        exact = [twin.quantile(problem.y, weights, Fraction(level)) for level in LEVELS]
        assert ends.tolist() == exact


@settings(max_examples=30, deadline=None)
@given(forests())
def test_the_mean_of_the_distribution_is_the_prediction(grown):
    problem, forest = grown.problem, grown.forest
    members = leaf_members(forest, problem.X, grown.draws())
    leaves = leaf_nodes(forest, grown.new, 1)
    for i, expected in enumerate(predict(forest, grown.new, 1)[:, 0]):
        entries = [slice(members.start[leaf], members.end[leaf]) for leaf in leaves[i]]
        means = [
            np.average(problem.y[members.row[rows]], weights=members.weight[rows])
            for rows in entries
        ]
        assert np.mean(means) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_it_is_refused_where_the_rows_of_all_leaves_do_not_fit(monkeypatch):
    problem = noisy(n=60)
    draws = Draws(problem.weights, [problem.sampling] * 2, problem.streams(2), 1)
    forest = problem.grow(2)
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * 60 * 12 - 1.0)
    with pytest.raises(MemoryError, match="which of 60 rows are in which leaf of 2 trees"):
        leaf_members(forest, problem.X, draws)


# ------------------------------------------------------------------------------------------------
# Quantiles of a new residual: against their definition, and their chances.
# ------------------------------------------------------------------------------------------------

SIZES = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=12, unique=True)


def slow_quantile(residual, weights, level):
    """Go through the residuals in their order until enough of the weight is reached."""
    pairs = sorted(zip(residual, weights, strict=True))
    total = sum(weights) + sum(weights) / len(weights)
    before, share = None, 0.0
    for size, weight in pairs:
        reached = share + weight / total
        if reached >= level - 1e-12:
            if before is None:
                return size if level > reached - 1e-12 else -np.inf
            return before + (size - before) * (level - share) / (reached - share)
        before, share = size, reached
    return np.inf


@given(SIZES, st.integers(0, 99), st.floats(0.01, 0.99))
def test_quantiles_are_those_of_the_definition(residual, seed, level):
    weights = np.random.default_rng(seed).integers(1, 4, len(residual)).astype(float)
    found = residual_quantiles(np.array(residual), weights, np.array([level]))[0]
    assert found == pytest.approx(slow_quantile(residual, weights.tolist(), level), abs=1e-6)


@given(SIZES, st.integers(0, 99))
def test_unknown_residuals_and_those_of_weight_0_do_not_count(residual, seed):
    rng = np.random.default_rng(seed)
    levels = rng.uniform(size=3)
    more = np.append(residual, [np.nan, 7.0])
    weights = np.append(np.ones(len(residual)), [1.0, 0.0])
    expected = residual_quantiles(np.array(residual), np.ones(len(residual)), levels)
    np.testing.assert_array_equal(residual_quantiles(more, weights, levels), expected)
    observed = rng.integers(-20, 20, 4).astype(float)
    slow = [np.mean([(r < o) + (r == o) / 2 for r in residual]) for o in observed]
    np.testing.assert_allclose(shares_below(more, weights, observed), slow)
    assert np.isnan(shares_below(more, weights, np.array([np.nan]))).all()


def test_a_new_residual_is_below_with_the_chance_that_is_asked():
    rng = np.random.default_rng(1)
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    below = np.zeros(5)
    for _ in range(4000):
        *known, new = rng.standard_exponential(20)
        below += new <= residual_quantiles(np.array(known), np.ones(19), levels)
    np.testing.assert_allclose(below / 4000, levels, atol=4 * np.sqrt(0.25 / 4000))


def test_without_residuals_nothing_is_known():
    none = residual_quantiles(np.array([np.nan]), np.ones(1), np.array([0.1, 0.9]))
    assert none.tolist() == [-np.inf, np.inf]
