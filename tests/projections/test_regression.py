"""Ridge regression whose penalty is chosen at the node."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import odrf
import reference.discriminants as twin
import reference.pursuit as twin_of_projection_pursuit
from drawing import directions
from odrf.engine.directions.estimation import covariances, moments
from odrf.engine.directions.samplers import workspace
from odrf.engine.splits.impurity import GINI
from odrf.errors import InputError
from odrf.projections import LeastSquares, ProjectionPursuit, Ridge
from odrf.projections.regression import PENALTIES, SMOOTH_ROWS, cross_validated_ridge
from problems import cart, design, noisy
from samples import classed


def estimate(Z, t, a):
    """Call the kernel as a node does; return the penalty and the direction, None without one."""
    m, d = Z.shape
    work = workspace(d, m)
    total, _ = moments(t, a, m, work.moment)
    if not covariances(np.ascontiguousarray(Z.T), d, m, a, work.moment, total, work, work.theta):
        return None
    L, trial, chosen = np.empty((d, d)), np.empty(d), np.empty(d)
    total_squares = work.moment @ t
    return cross_validated_ridge(
        d, m, total_squares, L, trial, chosen, work, work.theta
    ), work.theta[:d]


@settings(deadline=None)
@given(classed(), st.booleans())
def test_the_penalty_is_the_best_by_the_twins_criterion_and_the_direction_that_of_the_twin(
    sample, numeric
):
    Z, y, a = sample
    t = y / y.max() if numeric else (y == y[0]).astype(float)
    found = estimate(Z, t, a)
    assume(found is not None)
    penalty, theta = found
    np.testing.assert_allclose(theta, twin.ridge(Z, t, a, penalty), rtol=1e-7, atol=1e-9)
    criteria = [twin.ridge_criterion(Z, t, a, share) for share in PENALTIES]
    if np.isfinite(criteria).any():
        chosen = criteria[PENALTIES.index(penalty)]
        assert chosen <= min(criteria) * (1 + 1e-6) + 1e-9 * a.sum()
    else:
        assert penalty == PENALTIES[-1]


def test_noise_is_penalised_more_than_signal():
    rng = np.random.default_rng(1)
    Z, a = rng.random((60, 8)), np.ones(60)
    clear = Z @ rng.normal(size=8)
    assert estimate(Z, clear, a)[0] == PENALTIES[0]
    assert estimate(Z, clear + 20 * rng.normal(size=60), a)[0] >= 1.0


@pytest.mark.parametrize("shift", [-60, 30])
def test_weights_matter_only_in_proportion(shift):
    rng = np.random.default_rng(2)
    Z, a = rng.random((50, 4)), rng.uniform(0.5, 2.0, 50)
    t = Z[:, 0] + rng.random(50)
    penalty, theta = estimate(Z, t, a)
    other, again = estimate(Z, t, a * 2.0**shift)
    assert penalty == other
    np.testing.assert_allclose(again, theta, rtol=1e-9)


def test_a_penalty_of_a_thousandth_is_least_squares_of_this_package():
    problem = noisy(40).but(subset_size=3)
    drawn = directions(Ridge(penalty=1e-3), problem, 5, 4)
    for one, other in zip(
        chain(*drawn), chain(*directions(LeastSquares(), problem, 5, 4)), strict=True
    ):
        assert (one[0] == other[0]).all()
        np.testing.assert_allclose(one[1], other[1], rtol=1e-6)


def test_directions_at_a_node_are_those_of_the_twin_also_with_two_levels_and_constant_columns():
    rng = np.random.default_rng(3)
    X, feature_groups = design("ptcp", 50, rng)
    y = X[0] + X[-1] / 2 + rng.normal(size=50) / 5
    drawn = directions(Ridge(), cart(X, y, feature_groups, subset_size=4), 1, 3)
    t, a, Z = (y - y.min()) / np.ptp(y), np.ones(50), X.T.astype(float)
    best = min(PENALTIES, key=lambda share: twin.ridge_criterion(Z, t, a, share))
    expected = twin.ridge(Z, t, a, best)
    for columns, theta in chain(*drawn):
        np.testing.assert_allclose(theta, (expected / np.linalg.norm(expected))[columns], atol=1e-6)


def test_any_number_of_threads_grows_the_same_forest():
    data = odrf.load_data("wine")
    fits = [
        odrf.odrf("cultivar ~ .", data, projection="ridge", n_trees=6, seed=4, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    ]
    one, other = (fit.predict(data, type="prob") for fit in fits)
    assert (one.to_numpy() == other.to_numpy()).all()


@pytest.mark.parametrize("penalty", [0, -1, "few", True, None, float("inf"), float("nan")])
def test_no_other_penalty(penalty):
    with pytest.raises(InputError, match=r'penalty=.*: use "auto" or a number above 0'):
        Ridge(penalty=penalty)


# ------------------------------------------------------------------------------------------------
# The directions of projection pursuit at a node, and forests of them.
# ------------------------------------------------------------------------------------------------


def test_a_direction_is_that_of_the_twin_on_the_rows_of_the_node():
    problem = noisy(120, subset_size=5)
    expected = twin_of_projection_pursuit.pursue(
        problem.X.T.astype(float), problem.y, problem.weights, 2, 24
    )
    for columns, theta in chain(*directions(ProjectionPursuit(2, 0.4), problem, 3, 2)):
        found = np.zeros(5)
        found[columns] = theta
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_few_rows_keep_least_squares():
    problem = noisy(SMOOTH_ROWS - 1, subset_size=5)
    expected = twin_of_projection_pursuit.pursue(
        problem.X.T.astype(float), problem.y, problem.weights, 0, 1
    )
    for columns, theta in chain(*directions(ProjectionPursuit(), problem, 2, 1)):
        np.testing.assert_allclose(theta, expected[columns], atol=1e-5)


def test_subsets_have_directions_of_length_1():
    problem = noisy(100, criterion=GINI, n_classes=3)
    problem.y[:] = np.digitize(problem.y, [0.6, 0.9])
    drawn = list(chain(*directions(ProjectionPursuit(), problem, 20, 10)))
    assert {len(columns) for columns, _ in drawn} == {1, 2, 3, 4, 5}
    for columns, theta in drawn:
        assert len(set(columns.tolist())) == len(columns)
        assert np.linalg.norm(theta) == pytest.approx(1, abs=1e-6)


def test_it_finds_what_is_not_monotone():
    problem = odrf.simulate.single_index()
    data, test = problem.sample(300, seed=1), problem.sample(1000, seed=2)
    errors = {}
    for name in ("ppr", "logistic"):
        fit = odrf.odrf("y ~ .", data, projection=name, n_trees=30, blend=False, seed=1)
        errors[name] = np.mean((fit.predict(test) - test["y"]) ** 2)
    assert errors["ppr"] < 0.8 * errors["logistic"]


def test_it_blends_and_takes_classes_and_factors():
    data = odrf.load_data("wine")
    data["grade"] = np.where(data["alcohol"] > 13, "high", "low")
    data["grade"] = data["grade"].astype("category")
    options = {"projection": "ppr", "n_trees": 100, "seed": 1}
    fit = odrf.odrf("cultivar ~ .", data, n_jobs=2, **options)
    assert fit.oob_error < 0.05
    names = {name: control.mixture.name for name, control in fit.fit.kinds.items()}
    assert names.pop("sparse") == "sparse + ppr"
    assert set(names.values()) == {"ppr"}
    again = odrf.odrf("cultivar ~ .", data, n_jobs=1, **options)
    assert again.forest.coef.tobytes() == fit.forest.coef.tobytes()


@pytest.mark.parametrize("steps", [0, 1.5, "few", True])
def test_no_other_number_of_steps(steps):
    with pytest.raises(InputError, match=r"steps=.*: use"):
        ProjectionPursuit(steps=steps)


@pytest.mark.parametrize("span", [0, 1.5, "all", True])
def test_no_other_span(span):
    with pytest.raises(InputError, match=r"span=.*: use a number above 0, up to 1"):
        ProjectionPursuit(span=span)
