"""Penalised discriminants of all classes and of two groups of them."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
import reference.directions
import reference.discriminants as twin
from drawing import directions
from odrf.engine.directions.estimation import class_scatter_for, moments
from odrf.engine.directions.samplers import workspace
from odrf.engine.numeric import spectrum_for
from odrf.engine.splits.impurity import GINI
from odrf.errors import InputError
from odrf.projections import PenalisedDiscriminant
from odrf.projections.discriminant import penalised_discriminant
from problems import cart, design
from samples import classed

penalties = st.sampled_from([0.0, 0.1, 0.5, 1.0])


def estimate(Z, y, a, penalty, K=7):
    """Call the kernel as a node does, for K classes; None without a direction."""
    m, d = Z.shape
    work = workspace(d, m)
    work.Z[:], work.weights[:], work.target[:] = Z.T, a, y == y[0]
    total, mean = moments(work.target, a, m, work.moment)
    found = penalised_discriminant(
        d, m, y, K, total, mean, penalty, class_scatter_for(K, d), spectrum_for(d), work
    )
    return work.theta[:d] if found else None


def unit(theta):
    return theta / np.linalg.norm(theta)


@settings(deadline=None)
@given(classed(), penalties)
def test_directions_are_those_of_the_twin(sample, penalty):
    Z, y, a = sample
    theta = estimate(Z, y, a, penalty)
    if twin.between(Z, y, a).max() < 1e-9:
        assert theta is None or np.ptp(Z, axis=0).max() > 0
        return
    _, clear = twin.two_groups(Z, y, a, penalty)
    B, W = twin.between(Z, y, a), twin.penalised_within(Z, y, a, penalty)
    values = twin.eigh(B, W)[0][::-1]
    # with equal indices, or gaps, any of the directions is as good
    if len(values) > 1 and len(np.unique(y)) > 2 and values[0] < 1.01 * values[1]:
        return
    if clear < 1e-3:
        return
    assert abs(unit(theta) @ unit(twin.penalised(Z, y, a, penalty))) == pytest.approx(1, abs=1e-6)


@settings(deadline=None)
@given(classed(most_classes=2), penalties)
def test_no_other_direction_has_a_larger_index(sample, penalty):
    Z, y, a = sample
    theta = estimate(Z, y, a, penalty)
    if theta is None:
        assert twin.between(Z, y, a).max() < 1e-6
        return
    best = twin.index(theta, Z, y, a, penalty)
    rng = np.random.default_rng(1)
    for other in [*np.eye(Z.shape[1]), *rng.normal(size=(20, Z.shape[1]))]:
        assert twin.index(other, Z, y, a, penalty) <= best + 1e-9


def test_a_table_of_two_classes_has_the_same_direction_as_two_classes_of_many():
    rng = np.random.default_rng(2)
    Z, y, a = rng.random((40, 3)), rng.integers(0, 2, 40) * 1.0, rng.uniform(0.5, 2.0, 40)
    one, other = (unit(estimate(Z, y, a, 0.3, K)) for K in (2, 5))
    assert abs(one @ other) == pytest.approx(1.0)


def test_without_penalty_two_classes_have_fishers_discriminant():
    rng = np.random.default_rng(3)
    Z, y, a = rng.random((40, 3)), rng.integers(0, 2, 40) * 1.0, rng.uniform(0.5, 2.0, 40)
    expected = unit(reference.directions.lda(Z, y, a, y))
    assert abs(unit(estimate(Z, y, a, 0.0, 2)) @ expected) == pytest.approx(1.0, rel=1e-9)


def test_at_full_penalty_columns_are_weighed_one_by_one():
    rng = np.random.default_rng(4)
    y = np.repeat([0.0, 1.0], 200)
    Z = rng.normal(size=(400, 2)) @ np.array([[1.0, 0.9], [0.0, 0.4]]) + y[:, None] * [1.0, 0.5]
    a = np.ones(400)
    within = np.diag(twin.scatter(Z, a) - twin.between(Z, y, a))
    apart = (Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0)) / within
    theta = unit(estimate(Z, y, a, 1.0))
    assert abs(theta @ unit(apart)) > 0.99999
    assert abs(unit(estimate(Z, y, a, 0.0)) @ unit(apart)) < 0.95


def test_of_three_classes_the_one_apart_is_told_from_the_others():
    """Two classes near each other on one side, one far off: the direction that parts these."""
    rng = np.random.default_rng(5)
    y = np.repeat([0.0, 1.0, 2.0], 100)
    means = np.array([[0.0, 0.0], [0.0, 3.0], [9.0, 1.5]])
    Z = means[y.astype(int)] + rng.normal(size=(300, 2))
    at = Z @ estimate(Z, y, np.ones(300), 0.1)
    sides = [np.sign(at[y == k].mean() - np.median(at)) for k in range(3)]
    assert len(np.unique(at[y == 2] > at[y < 2].max())) == 1
    assert sides[0] == sides[1] == -sides[2]


def test_one_row_per_class_constant_columns_and_one_class():
    Z = np.array([[0.1, 0.5], [0.4, 0.5], [0.9, 0.5]])
    theta = unit(estimate(Z, np.arange(3.0), np.ones(3), 0.1))
    np.testing.assert_allclose(np.abs(theta), [1, 0], atol=1e-9)
    assert estimate(np.full((3, 2), 0.3), np.arange(3.0), np.ones(3), 0.1) is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_directions_at_a_node_are_those_of_the_twin_also_with_factors(n_classes):
    rng = np.random.default_rng(6)
    X, feature_groups = design("pfcp", 80, rng)
    y = np.floor(n_classes * np.clip(X[0] + rng.normal(size=80) / 5, 0, 0.99))
    a = rng.uniform(0.5, 2.0, 80)
    problem = cart(X, y, feature_groups, a, criterion=GINI, n_classes=n_classes, subset_size=4)
    expected = unit(twin.penalised(X.T.astype(float), y, a, 0.2))
    for columns, theta in chain(*directions(PenalisedDiscriminant(0.2), problem, 3, 2)):
        assert abs(theta @ expected[columns]) == pytest.approx(1.0, rel=1e-5)


def test_any_number_of_threads_grows_the_same_forest():
    data = odrf.load_data("wine")
    fits = [
        odrf.odrf("cultivar ~ .", data, projection="pda", n_trees=6, seed=4, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    ]
    one, other = (fit.predict(data, type="prob") for fit in fits)
    assert (one.to_numpy() == other.to_numpy()).all()


def test_it_is_for_classes():
    data = odrf.load_data("wine")
    with pytest.raises(InputError, match='projection="pda" is for classification'):
        odrf.odrf("alcohol ~ .", data, projection="pda")


@pytest.mark.parametrize("penalty", [-0.1, 1.1, "auto", True, None, float("nan")])
def test_no_other_penalty(penalty):
    with pytest.raises(InputError, match=r"penalty=.*: use a number between 0 and 1"):
        PenalisedDiscriminant(penalty=penalty)
