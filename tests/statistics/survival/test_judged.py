"""Concordance and Brier scores, and what rows add to their errors, against the twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifetimes import lifetimes
from odrf.errors import InputError
from odrf.statistics.survival.curves import kaplan_meier
from odrf.statistics.survival.discrimination import (
    concordance_of_cause,
    harrells_c,
    unos_c,
)
from odrf.statistics.survival.observation import censoring_curve
from odrf.statistics.survival.pseudo_values import (
    RowwiseEstimate,
    RowwiseReduction,
    difference_of_estimates,
    share_of_estimates,
)
from odrf.statistics.survival.scores import brier_scores, explained_share
from reference import survival as twin

AT = np.array([1.0, 2.5, 4.0, 5.0])


def equal(found, value, function, rows):
    """An estimate and its influences, where there are pairs."""
    assert found.estimate == pytest.approx(value, nan_ok=True)
    if not np.isnan(value):
        expected = twin.influence(function, rows)
        np.testing.assert_allclose(found.influence, expected, rtol=1e-9, atol=1e-11)
        assert found.std_error == pytest.approx(np.sqrt(np.sum(np.square(expected))), abs=1e-9)


@given(lifetimes())
def test_harrells_c_is_that_of_the_twin(of):
    found = harrells_c(of.time, of.event, of.score, of.weights, of.start)

    def share(rows):
        in_order, _, compared = twin.concordance(rows, of.score)
        return in_order / compared if compared.real > 0 else np.nan

    parts = twin.concordance(of.rows, of.score)
    assert (found.in_order, found.tied, found.compared) == pytest.approx(parts)
    equal(found, share(of.rows), share, of.rows)


@given(lifetimes(entry=False), st.sampled_from([np.inf, 3.0, 4.5]))
def test_unos_c_is_that_of_the_twin(of, tau):
    found = unos_c(of.time, of.event, of.score, tau, of.weights)
    value = twin.unos(of.rows, of.score, tau, None)
    equal(found, value, lambda rows: twin.unos(rows, of.score, tau, None), of.rows)


@given(lifetimes(entry=False), st.sampled_from([np.inf, 3.0, 4.5]))
def test_concordance_of_a_cause_is_that_of_the_twin(of, tau):
    found = concordance_of_cause(of.time, of.event, of.score, 1, tau, of.weights)
    value = twin.wolbers(of.rows, of.score, tau, None)
    equal(found, value, lambda rows: twin.wolbers(rows, of.score, tau, None), of.rows)


@given(lifetimes(entry=False), lifetimes())
def test_a_known_curve_of_censoring_adds_nothing(of, others):
    G = censoring_curve(others.time, others.event, others.weights, others.start)
    known = {"weights": of.weights, "observed": G}
    value = twin.unos(of.rows, of.score, 4.0, others.rows)
    found = unos_c(of.time, of.event, of.score, 4.0, **known)
    equal(found, value, lambda rows: twin.unos(rows, of.score, 4.0, others.rows), of.rows)
    value = twin.wolbers(of.rows, of.score, 4.0, others.rows)
    found = concordance_of_cause(of.time, of.event, of.score, 1, 4.0, **known)
    equal(found, value, lambda rows: twin.wolbers(rows, of.score, 4.0, others.rows), of.rows)
    scores = brier_scores(of.time, of.event, of.score[:, None], AT[:1], **known)
    value = twin.brier(of.rows, of.score, AT[0], (1, 2), others.rows)
    assert scores.score[0] == pytest.approx(value, nan_ok=True)


@given(lifetimes(entry=False), st.sampled_from([None, 1, 2]))
def test_brier_scores_are_those_of_the_twin(of, cause):
    risk = np.linspace(0.5, 1, len(AT)) * of.score[:, None]
    found = brier_scores(of.time, of.event, risk, AT, cause, of.weights)
    causes = (1, 2) if cause is None else (cause,)

    def score(rows, m):
        return twin.brier(rows, risk[:, m], AT[m], causes, None)

    def integral(rows):
        return sum(
            (AT[m + 1] - AT[m]) * (score(rows, m) + score(rows, m + 1)) / 2
            for m in range(len(AT) - 1)
        ) / (AT[-1] - AT[0])

    expected = [score(of.rows, m) for m in range(len(AT))]
    np.testing.assert_allclose(found.score, expected)
    for m, error in enumerate(found.std_error):
        if not np.isnan(expected[m]):
            by_row = twin.influence(lambda rows, m=m: score(rows, m), of.rows)
            assert error == pytest.approx(np.sqrt(np.sum(np.square(by_row))), abs=1e-9)
    equal(found.integrated, integral(of.rows), integral, of.rows)


@given(lifetimes(entry=False))
def test_the_curve_of_all_rows_has_the_least_score(of):
    """So estimating it adds nothing to the error of a reference, to first order."""
    curve = kaplan_meier(of.time, of.event, of.weights).curve
    best = brier_scores(of.time, of.event, 1 - curve(AT)[None], AT, weights=of.weights)
    for shift in (-0.01, 0.01):
        risk = 1 - curve(AT)[None] + shift
        other = brier_scores(of.time, of.event, risk, AT, weights=of.weights).score
        known = ~np.isnan(best.score)
        np.testing.assert_allclose((other - best.score)[known], shift**2, atol=1e-12)


def test_the_explained_share_of_the_reference_is_0_and_of_the_truth_1():
    time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1])
    at = np.array([0.5, 2.5])
    reference = brier_scores(time, event, 1 - kaplan_meier(time, event).curve(at)[None], at)
    nothing = explained_share(reference, reference)
    assert nothing.estimate == 0
    assert nothing.std_error == 0
    truth = brier_scores(time, event, (time[:, None] <= at).astype(float), at)
    assert explained_share(truth, reference).estimate == 1


def test_intervals_of_the_explained_share_end_below_1():
    time, event = np.arange(1.0, 9.0), np.ones(8, dtype=np.int64)
    at = np.array([2.5, 4.5, 6.5])
    reference = brier_scores(time, event, 1 - kaplan_meier(time, event).curve(at)[None], at)
    nearly = np.abs((time[:, None] <= at) - np.where(time[:, None] == 4, 0.6, 0.02))
    found = explained_share(brier_scores(time, event, nearly, at), reference)
    assert found.estimate + 1.96 * found.std_error > 1
    low, high = found.interval()
    assert low < found.estimate < high < 1
    # where errors are small, it is the plain interval
    precise = RowwiseReduction(found.estimate, found.influence / 100)
    plain = 1.959964 * precise.std_error
    np.testing.assert_allclose(
        precise.interval(), (found.estimate - plain, found.estimate + plain), atol=1e-3
    )


def test_the_same_number_in_another_order_of_sums_has_no_error_of_its_share():
    influence = np.array([0.1, -0.3, 0.2])
    whole, part = (
        RowwiseEstimate(0.3, influence),
        RowwiseEstimate(0.1 + 0.2, influence * (1 + 3e-16)),
    )
    share = share_of_estimates(part, whole)
    assert share.estimate == pytest.approx(1) and share.std_error == 0


def test_nothing_is_a_share_of_0():
    nothing = RowwiseEstimate(0.0, np.zeros(3))
    share = share_of_estimates(RowwiseEstimate(0.5, np.ones(3)), nothing)
    assert np.isnan([share.estimate, share.std_error]).all()


def test_one_time_has_no_mean_over_time():
    time, event = np.array([1.0, 2.0]), np.array([1, 1])
    found = brier_scores(time, event, np.array([[0.5]]), np.array([1.5]))
    assert found.score == pytest.approx(0.25)
    assert np.isnan(found.integrated.estimate)
    for at in ([], [2.0, 1.0], [[1.0]]):
        with pytest.raises(InputError, match="ascending"):
            brier_scores(time, event, np.ones((2, 2)), np.array(at))


@given(lifetimes(entry=False))
def test_scores_of_two_models_have_the_error_of_their_difference(of):
    first = harrells_c(of.time, of.event, of.score)
    second = harrells_c(of.time, of.event, -of.score)
    difference = difference_of_estimates(first, second)
    assert difference.estimate == pytest.approx(2 * first.estimate - 1, nan_ok=True)
    assert difference.std_error == pytest.approx(2 * first.std_error, nan_ok=True, abs=1e-12)


def test_errors_of_groups_and_intervals():
    found = RowwiseEstimate(0.6, np.array([0.1, -0.1, 0.2, -0.2]))
    assert found.std_error == pytest.approx(np.sqrt(0.1))
    groups = np.array([0, 1, 1, 0])
    assert found.std_error_of_groups(groups) == pytest.approx(0.2)
    assert found.interval(0.95) == pytest.approx((0.6 - 1.959964 * 0.1**0.5, 1.2198), abs=1e-4)
    low, high = found.interval(0.95, groups)
    assert high - low == pytest.approx(2 * 12.7062 * 0.2, abs=1e-4)
    assert found.p_value(0.6) == 1
    assert found.p_value(0.5) == pytest.approx(0.7518, abs=1e-4)
    assert found.p_value(0.5, groups) == pytest.approx(0.7048, abs=1e-4)
    assert np.isnan(RowwiseEstimate(0.6, np.zeros(4)).p_value())
