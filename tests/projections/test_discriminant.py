"""Canonical directions: which they are, how many, and on which rows."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, ks_2samp

import odrf
import reference.directions
import reference.discriminants as twin
from drawing import directions
from odrf.engine.directions.estimation import RIDGE, class_scatter_for, moments
from odrf.engine.directions.samplers import workspace
from odrf.engine.numeric import spectrum_for
from odrf.engine.splits.impurity import GINI
from odrf.errors import InputError
from odrf.projections import CanonicalCorrelation, PenalisedDiscriminant
from odrf.projections.base import Table
from odrf.projections.discriminant import UNCORRELATED, canonical_directions, penalised_discriminant
from problems import cart, design, noisy, plain
from samples import classed


def estimate(Z, y, a, K=7):
    """Call the kernel as a node does, for K classes; return the directions as rows."""
    m, d = Z.shape
    work, found = workspace(d, m), spectrum_for(d)
    work.Z[:], work.weights[:], work.target[:] = Z.T, a, y == y[0]
    total, _ = moments(work.target, a, m, work.moment)
    n = canonical_directions(d, m, y, K, total, class_scatter_for(K, d), found, work)
    return found.vectors[:n, :d].copy()


@settings(deadline=None)
@given(classed())
def test_directions_are_the_canonical_ones_of_the_twin(sample):
    Z, y, a = sample
    found = estimate(Z, y, a)
    if np.ptp(Z, axis=0).max() == 0:
        assert len(found) == 0
        return
    values, vectors = twin.canonical(Z, y, a)
    most = min(Z.shape[1], len(np.unique(y)) - 1)
    # a value beside the bound, or of rounding, may be on either side of it
    assert np.sum(values[:most] > 10 * UNCORRELATED) <= len(found)
    assert len(found) <= np.sum(values[:most] > UNCORRELATED / 10)
    total = twin.with_ridge(twin.scatter(Z, a), RIDGE)
    between = twin.between(Z, y, a)
    for r, theta in enumerate(found):
        length = theta @ total @ theta
        assert theta @ between @ theta / length == pytest.approx(values[r], rel=1e-6, abs=1e-9)
        for other in found[:r]:
            apart = np.sqrt(length * (other @ total @ other))
            assert abs(theta @ total @ other) < 1e-5 * apart
    if len(found) and (len(values) == 1 or values[0] - values[1] > 1e-2):
        one, other = found[0] / np.linalg.norm(found[0]), vectors[:, 0]
        assert abs(one @ other) == pytest.approx(np.linalg.norm(other), rel=1e-6)


def test_two_classes_of_many_and_a_table_of_two_have_the_direction_of_least_squares():
    rng = np.random.default_rng(1)
    Z, y, a = rng.random((40, 3)), rng.integers(0, 2, 40) * 1.0, rng.uniform(0.5, 2.0, 40)
    expected = reference.directions.least_squares(Z, y, a)
    for K in (2, 5):
        (found,) = estimate(Z, y, a, K)
        assert abs(found @ expected) == pytest.approx(
            np.linalg.norm(found) * np.linalg.norm(expected)
        )


def test_one_row_per_class_and_constant_columns():
    Z = np.array([[0.1, 0.5], [0.4, 0.5], [0.9, 0.5]])
    found = estimate(Z, np.arange(3.0), np.ones(3))
    assert len(found) == 1
    assert abs(found[0, 1]) < 1e-9 * abs(found[0, 0])
    assert len(estimate(np.full((3, 2), 0.3), np.arange(3.0), np.ones(3))) == 0
    assert len(estimate(np.eye(3), np.full(3, 2.0), np.ones(3))) == 0


def four_classes(n=60, p=5):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 4, n)
    X = rng.normal(size=(p, n)) + np.array([[0, 1, 0, 2], [0, 0, 1, 1]])[[0, 1] * 2 + [0]][:, y]
    X = (X - X.min()) / np.ptp(X)
    return plain(X, y.astype(float), criterion=GINI, n_classes=4)


def test_a_draw_gives_all_directions_of_a_subset_and_the_number_counts_directions():
    problem = four_classes()
    for size, number, expected in [(3, 7, [3, 3, 1]), (2, 4, [2, 2]), (5, 3, [3]), (1, 2, [1, 1])]:
        family = CanonicalCorrelation(size=size)
        for node in directions(family, problem, number, 20):
            subsets = [tuple(columns) for columns, _ in node]
            assert all(len(set(subset)) == size for subset in subsets)
            at = np.cumsum([0, *expected])
            assert len(subsets) == at[-1]
            for first, last in pairwise(at):
                assert len(set(subsets[first:last])) == 1
            lengths = [np.linalg.norm(theta) for _, theta in node]
            np.testing.assert_allclose(lengths, 1, rtol=1e-6)


def test_more_directions_than_a_round_holds():
    assert all(
        len(node) == 100
        for node in directions(CanonicalCorrelation(size=3), four_classes(), 100, 3)
    )


def test_all_predictors_give_the_twins_directions_without_a_bootstrap_also_with_two_levels():
    rng = np.random.default_rng(5)
    X, feature_groups = design("pptc", 80, rng)
    y = np.floor(3 * np.clip(X[0] + rng.normal(size=80) / 5, 0, 0.99))
    a = rng.uniform(0.5, 2.0, 80)
    problem = cart(X, y, feature_groups, a, criterion=GINI, n_classes=3)
    _, vectors = twin.canonical(X.T.astype(float), y, a)
    for node in directions(CanonicalCorrelation(size=4), problem, 2, 3):
        for r, (columns, theta) in enumerate(node):
            expected = vectors[columns, r] / np.linalg.norm(vectors[:, r])
            assert abs(theta @ expected) == pytest.approx(1.0, rel=1e-5)


def test_subsets_are_equally_likely_and_without_bootstrap_one_subset_has_one_direction():
    drawn = list(
        chain(*directions(CanonicalCorrelation(size=2, bootstrap=False), noisy(30), 1, 2_000))
    )
    pairs = Counter(tuple(sorted(columns.tolist())) for columns, _ in drawn)
    assert sorted(pairs) == list(combinations(range(5), 2))
    assert chisquare(list(pairs.values())).pvalue > 0.001
    found = {
        tuple(sorted(columns)): theta[np.argsort(columns)] * np.sign(theta[np.argmin(columns)])
        for columns, theta in drawn
    }
    for columns, theta in drawn:
        again = theta[np.argsort(columns)] * np.sign(theta[np.argmin(columns)])
        np.testing.assert_allclose(again, found[tuple(sorted(columns))], atol=1e-5)


def test_bootstrapped_directions_are_distributed_as_numpys():
    problem = noisy(25)
    drawn = [
        theta[np.argsort(columns)]
        for columns, theta in chain(*directions(CanonicalCorrelation(size=2), problem, 1, 8_000))
        if set(columns) == {0, 1}
    ]
    rng, Z, y = np.random.default_rng(6), problem.X[:2].T.astype(float), problem.y
    expected = []
    for _ in range(1_000):
        times = np.bincount(rng.integers(0, 25, 25), minlength=25).astype(float)
        expected.append(reference.directions.least_squares(Z, y, times))
    angles = [[np.arctan2(*theta) for theta in thetas] for thetas in (drawn, expected)]
    assert len(set(angles[0])) > 0.9 * len(drawn)
    assert ks_2samp(*angles).pvalue > 0.001


def test_where_the_sample_has_one_class_all_rows_are_taken():
    y = np.zeros(30)
    y[7] = 1.0
    X = np.random.default_rng(7).random((4, 30))
    problem = plain(X, y, criterion=GINI, n_classes=2)
    assert all(len(node) == 5 for node in directions(CanonicalCorrelation(size=2), problem, 5, 100))


def test_sizes_and_numbers_by_default():
    family = CanonicalCorrelation()
    assert [family.subset(P) for P in (1, 2, 3, 4, 10, 100)] == [1, 2, 2, 3, 5, 8]
    table = Table(P=10, p=12, n_classes=3, single_tree=False)
    assert family.n_default(table) == 2
    assert family.n_default(table._replace(n_classes=26)) == 5
    assert family.n_default(table._replace(n_classes=1)) == 1
    assert CanonicalCorrelation(size=99).subset(10) == 10


def test_any_number_of_threads_grows_the_same_forest():
    data = odrf.load_data("wine")
    fits = [
        odrf.odrf("cultivar ~ .", data, projection="cca", n_trees=6, seed=4, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    ]
    one, other = (fit.predict(data, type="prob") for fit in fits)
    assert (one.to_numpy() == other.to_numpy()).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstrap": 1}, "bootstrap=1: use True or False"),
        ({"size": 0}, "size=0: use a whole number of at least 1"),
        ({"size": "few"}, "size='few': use"),
        ({"size": 1.5}, "size=1.5: use"),
    ],
)
def test_what_cannot_be(options, message):
    with pytest.raises(InputError, match=message):
        CanonicalCorrelation(**options)


# ------------------------------------------------------------------------------------------------
# Penalised discriminants of all classes and of two groups of them.
# ------------------------------------------------------------------------------------------------

penalties = st.sampled_from([0.0, 0.1, 0.5, 1.0])


def estimate_of_pda(Z, y, a, penalty, K=7):
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
    theta = estimate_of_pda(Z, y, a, penalty)
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
    theta = estimate_of_pda(Z, y, a, penalty)
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
    one, other = (unit(estimate_of_pda(Z, y, a, 0.3, K)) for K in (2, 5))
    assert abs(one @ other) == pytest.approx(1.0)


def test_without_penalty_two_classes_have_fishers_discriminant():
    rng = np.random.default_rng(3)
    Z, y, a = rng.random((40, 3)), rng.integers(0, 2, 40) * 1.0, rng.uniform(0.5, 2.0, 40)
    expected = unit(reference.directions.lda(Z, y, a, y))
    assert abs(unit(estimate_of_pda(Z, y, a, 0.0, 2)) @ expected) == pytest.approx(1.0, rel=1e-9)


def test_at_full_penalty_columns_are_weighed_one_by_one():
    rng = np.random.default_rng(4)
    y = np.repeat([0.0, 1.0], 200)
    Z = rng.normal(size=(400, 2)) @ np.array([[1.0, 0.9], [0.0, 0.4]]) + y[:, None] * [1.0, 0.5]
    a = np.ones(400)
    within = np.diag(twin.scatter(Z, a) - twin.between(Z, y, a))
    apart = (Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0)) / within
    theta = unit(estimate_of_pda(Z, y, a, 1.0))
    assert abs(theta @ unit(apart)) > 0.99999
    assert abs(unit(estimate_of_pda(Z, y, a, 0.0)) @ unit(apart)) < 0.95


def test_of_three_classes_the_one_apart_is_told_from_the_others():
    """Two classes near each other on one side, one far off: the direction that parts these."""
    rng = np.random.default_rng(5)
    y = np.repeat([0.0, 1.0, 2.0], 100)
    means = np.array([[0.0, 0.0], [0.0, 3.0], [9.0, 1.5]])
    Z = means[y.astype(int)] + rng.normal(size=(300, 2))
    at = Z @ estimate_of_pda(Z, y, np.ones(300), 0.1)
    sides = [np.sign(at[y == k].mean() - np.median(at)) for k in range(3)]
    assert len(np.unique(at[y == 2] > at[y < 2].max())) == 1
    assert sides[0] == sides[1] == -sides[2]


def test_one_row_per_class_constant_columns_and_one_class():
    Z = np.array([[0.1, 0.5], [0.4, 0.5], [0.9, 0.5]])
    theta = unit(estimate_of_pda(Z, np.arange(3.0), np.ones(3), 0.1))
    np.testing.assert_allclose(np.abs(theta), [1, 0], atol=1e-9)
    assert estimate_of_pda(np.full((3, 2), 0.3), np.arange(3.0), np.ones(3), 0.1) is None


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


def test_any_number_of_threads_grows_the_same_forest_of_pda():
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
