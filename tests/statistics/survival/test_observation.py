"""Scores of rows that enter late, against the twins, and near those of all rows in the long run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifetimes import lifetimes
from odrf.statistics.survival.discrimination import (
    concordance_of_cause,
    dynamic_areas,
    roc_at,
    unos_c,
)
from odrf.statistics.survival.observation import censoring_curve, observation_curve
from odrf.statistics.survival.scores import brier_scores, calibration_at
from reference import survival as twin

AT = np.array([1.0, 2.5, 4.0])
CAUSES = {None: (1, 2), 1: (1,), 2: (2,)}


def equal(found, influence, function, rows):
    value = function(rows)
    assert found == pytest.approx(value, nan_ok=True)
    if not np.isnan(value):
        expected = twin.influence(function, rows)
        np.testing.assert_allclose(influence, expected, rtol=1e-9, atol=1e-10)


@given(lifetimes())
def test_the_curve_is_that_of_the_twin(of):
    K = observation_curve(of.time, of.event, of.weights, of.start)
    at = np.arange(0.0, 7.0, 0.5)
    for place, at_it in ((K.passed(at), False), (K.passed_with(at), True)):
        found = np.where(np.isinf(K.values), 0.0, K.values)[place]
        np.testing.assert_allclose(found, [twin.seen(of.rows, t, at_it) for t in at], atol=1e-12)


@given(lifetimes(entry=False))
def test_without_late_entry_it_is_the_curve_of_censoring(of):
    K = observation_curve(of.time, of.event, of.weights, of.start)
    G = censoring_curve(of.time, of.event, of.weights)
    at = np.arange(0.5, 7.0, 0.5)
    for place, other in ((K.passed(at), G.passed(at)), (K.passed_with(at), G.passed_with(at))):
        known = np.isfinite(K.values[place]) & (K.values[place] > 0)
        np.testing.assert_allclose(K.values[place][known], G.values[other][known])
        parts = np.linspace(-1, 1, known.sum())
        np.testing.assert_allclose(
            K.influence(place[known], parts), G.influence(other[known], parts), atol=1e-12
        )


@given(lifetimes(), st.sampled_from([np.inf, 3.0, 4.5]))
def test_concordances_are_those_of_the_twins(of, tau):
    given = {"weights": of.weights, "start": of.start}
    found = unos_c(of.time, of.event, of.score, tau, **given)
    equal(
        found.estimate,
        found.influence,
        lambda rows: twin.unos(rows, of.score, tau, None, twin.seen),
        of.rows,
    )
    found = concordance_of_cause(of.time, of.event, of.score, 1, tau, **given)
    equal(
        found.estimate,
        found.influence,
        lambda rows: twin.wolbers(rows, of.score, tau, None, twin.seen),
        of.rows,
    )


@given(lifetimes(), st.sampled_from([None, 1, 2]))
def test_brier_scores_are_those_of_the_twin(of, cause):
    risk = np.linspace(0.5, 1, len(AT)) * of.score[:, None]
    for m, t in enumerate(AT):
        found = brier_scores(
            of.time, of.event, risk[:, [m]], AT[[m]], cause, of.weights, start=of.start
        )

        def score(rows, m=m, t=t):
            return twin.brier(rows, risk[:, m], t, CAUSES[cause], None, twin.seen)

        value = score(of.rows)
        assert found.score[0] == pytest.approx(value, nan_ok=True)
        if not np.isnan(value):
            by_row = twin.influence(score, of.rows)
            expected = np.sqrt(np.sum(np.square(by_row)))
            assert found.std_error[0] == pytest.approx(expected, abs=1e-9)


@given(lifetimes(), st.sampled_from([None, 1]))
def test_areas_are_those_of_the_twin(of, cause):
    found = dynamic_areas(of.time, of.event, of.score, AT, cause, of.weights, start=of.start)
    for t, area in zip(AT, found.area, strict=True):
        expected = twin.area(of.rows, of.score, t, CAUSES[cause], None, twin.seen)
        assert area == pytest.approx(expected, nan_ok=True)
    equal(
        found.mean.estimate,
        found.mean.influence,
        lambda rows: twin.mean_area(rows, of.score, AT.tolist(), CAUSES[cause], twin.seen),
        of.rows,
    )
    curve = roc_at(of.time, of.event, of.score, 2.5, cause, of.weights, start=of.start)
    under = np.trapezoid(curve.sensitivity, 1 - curve.specificity)
    assert under == pytest.approx(found.area[1], nan_ok=True)


@given(lifetimes(), lifetimes())
def test_a_known_curve_adds_nothing(of, others):
    K = observation_curve(others.time, others.event, others.weights, others.start)
    given = {"weights": of.weights, "observed": K, "start": of.start}
    found = unos_c(of.time, of.event, of.score, 4.0, **given)
    equal(
        found.estimate,
        found.influence,
        lambda rows: twin.unos(rows, of.score, 4.0, others.rows, twin.seen),
        of.rows,
    )
    scores = brier_scores(of.time, of.event, of.score[:, None], AT[:1], **given)
    value = twin.brier(of.rows, of.score, AT[0], (1, 2), others.rows, twin.seen)
    assert scores.score[0] == pytest.approx(value, nan_ok=True)


def truncated(n, seed):
    """Rows by hazards exp(score), of two causes; those that had the event before entry are lost."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n)
    time = rng.exponential(size=n) * np.exp(-score)
    event = 1 + (rng.random(n) < 0.3)
    censored = 0.2 + rng.exponential(2.0, n)
    enter = np.where(rng.random(n) < 0.3, 0.0, rng.uniform(0.0, 1.5, n))
    seen = (enter < np.minimum(time, censored)) & (enter < censored)
    end = np.minimum(time, censored)
    return score, time, event, (end[seen], np.where(time <= censored, event, 0)[seen], enter, seen)


SOME = np.array([0.1, 0.4, 0.8, 1.2])


def scores_by(time, event, score, **late):
    risk = 1 - np.exp(-np.outer(np.exp(0.5 * score), SOME))
    return [
        unos_c(time, event, score, 1.2, **late).estimate,
        concordance_of_cause(time, event, score, 1, 1.2, **late).estimate,
        brier_scores(time, event, risk, SOME, **late).integrated.estimate,
        brier_scores(time, event, risk, SOME, 1, **late).integrated.estimate,
        *dynamic_areas(time, event, score, SOME[1:], **late).area,
    ]


def test_scores_of_rows_that_enter_late_are_near_those_of_all_rows():
    """Those that ignore late entry are not."""
    found, ignoring, of_all = [], [], []
    for seed in range(20):
        score, time, event, (end, happened, enter, seen) = truncated(3000, seed)
        late = {"start": enter[seen]}
        found.append(scores_by(end, happened, score[seen], **late))
        ignoring.append(scores_by(end, happened, score[seen]))
        of_all.append(scores_by(time, event, score))
    truth, mean, naive = (np.mean(parts, axis=0) for parts in (of_all, found, ignoring))
    error = np.std(np.array(found) - of_all, axis=0, ddof=1) / np.sqrt(20)
    np.testing.assert_array_less(np.abs(mean - truth), 4 * error + 1e-4)
    assert (np.abs(naive - truth) > 6 * error).sum() >= 5


def test_errors_of_late_rows_are_those_over_samples():
    estimates, errors = [], []
    at = np.array([0.1, 0.4, 0.8])
    for seed in range(200):
        score, _, _, (end, happened, enter, seen) = truncated(400, seed)
        risk = 1 - np.exp(-np.outer(np.exp(0.5 * score[seen]), at))
        given = {"start": enter[seen]}
        found = [
            unos_c(end, happened, score[seen], 0.8, **given),
            brier_scores(end, happened, risk, at, **given).integrated,
            dynamic_areas(end, happened, score[seen], at, **given).mean,
        ]
        estimates.append([each.estimate for each in found])
        errors.append([each.std_error for each in found])
    deviation = np.std(estimates, axis=0, ddof=1)
    np.testing.assert_allclose(np.mean(errors, axis=0), deviation, rtol=0.15)


def test_calibrated_predictions_are_met_though_long_lives_are_seen_more_often():
    """In few groups, so that rows of a group differ in risk."""
    predicted, observed, plain = [], [], []
    for seed in range(10):
        score, _, _, (end, happened, enter, seen) = truncated(3000, seed)
        risk = (1 - np.exp(-np.exp(score)))[seen]
        found = calibration_at(end, happened, risk, 1.0, 1, start=enter[seen])
        predicted.append(found.predicted[0])
        observed.append(found.observed[0])
        plain.append(risk.mean())
    assert np.mean(predicted) == pytest.approx(np.mean(observed), abs=0.01)
    assert np.mean(plain) < np.mean(observed) - 0.03
