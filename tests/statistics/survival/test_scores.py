"""Concordance and Brier scores, and what rows add to their errors, against the twins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifetimes import lifetimes
from odrf.errors import InputError
from odrf.statistics.survival.curves import StepCurve, kaplan_meier
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
from odrf.statistics.survival.scores import (
    EXPLAINED,
    HARRELL,
    INTEGRATED,
    UNO,
    EvaluatedTimes,
    brier_scores,
    explained_share,
    groups_by_risk,
    scores_of_curves,
)
from reference import survival as twin
from reference.survival import Rows

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


# ------------------------------------------------------------------------------------------------
# Rows that evaluate: until when, at which times, in which groups.
# ------------------------------------------------------------------------------------------------


def evaluating(of, cause=None, start=True):
    return EvaluatedTimes(
        of.time, of.event, of.weights, "new", of.start if start else None, None, cause
    )


def ended(of):
    """At least one row has an event."""
    return of._replace(event=np.where(np.arange(len(of.time)) == 0, 1, of.event))


@given(lifetimes(entry=False))
def test_a_tenth_of_the_weight_is_at_risk_at_the_last_time(of):
    of = ended(of)
    rows = evaluating(of, start=False)
    found = rows.last_time()
    twins, times = of.rows, sorted(set(of.time[of.event > 0].tolist()))
    enough = [t for t in times if twins.at_risk(t) >= 0.1 * sum(twins.weights)]
    assert found == (enough[-1] if enough else times[0])
    assert rows.first_time() == 0


@given(lifetimes(most=30))
def test_rows_that_enter_late_are_evaluated_while_enough_are_at_risk(of):
    of = ended(of)
    rows, times = evaluating(of), sorted(set(of.time[of.event > 0].tolist()))
    at_risk = [of.rows.at_risk(t) for t in times]
    first, last = rows.first_time(), rows.last_time()
    inside = [k for k, t in enumerate(times) if first < t <= last]
    assert at_risk.index(max(at_risk)) in inside
    assert all(at_risk[k] >= 0.1 * max(at_risk) for k in inside)
    assert first in times or first == of.start.min()
    for neighbour in (inside[0] - 1, inside[-1] + 1):
        if 0 <= neighbour < len(times):
            assert at_risk[neighbour] < 0.1 * max(at_risk)
    given = rows.given_none_before(first)
    assert (given.time > first).all()
    assert (given.start >= first).all() and (given.start < given.time).all()
    assert given.last_time() == last
    assert given.grid(last)[0] == first


@given(lifetimes(most=30), st.integers(2, 5))
def test_the_grid_has_0_the_last_time_and_event_times_before_it(of, most):
    of = ended(of)
    rows = evaluating(of)
    until = rows.last_time()
    before = sorted(set(of.time[of.event > 0].tolist()) - {t for t in of.time if t >= until})
    grid = rows.grid(until)
    assert grid.tolist() == sorted({0.0, *before, until})
    fewer = rows.grid(until, most)
    assert len(fewer) <= most + 2
    assert set(fewer) <= set(grid)
    assert (fewer[0], fewer[-1]) == (0.0, until)
    if before:
        assert {before[0], before[-1]} <= set(fewer)


@pytest.mark.parametrize("time", [0.5, 6.5, "2", None, np.nan, True])
def test_a_time_is_within_those_of_the_rows(time):
    rows = EvaluatedTimes(np.array([1.0, 6.0]), np.array([1, 0]), np.ones(2), "new")
    with pytest.raises(InputError, match=r"time=.*use a time from 1.* to 6"):
        rows.checked_time("time", time if time is not True else False)
    assert rows.checked_time("time", 6) == 6.0


@given(lifetimes(entry=False), st.sampled_from([None, 1]))
def test_scores_are_those_of_the_twins(of, cause):
    of = ended(of)
    rows = evaluating(of, cause, start=False)
    until = rows.last_time()

    def survival(at):
        return np.exp(-of.score[:, None] * at / 5)

    reference = StepCurve(np.array([1.0, 3.0]), np.array([0.7, 0.4]), 1.0)
    found = scores_of_curves(rows, of.score, survival, reference, until)
    tau = np.nextafter(until, np.inf)
    if cause is None:
        in_order, _, compared = twin.concordance(of.rows, of.score)
        expected = in_order / compared if compared > 0 else np.nan
        assert found[HARRELL].estimate == pytest.approx(expected, nan_ok=True)
        expected = twin.unos(of.rows, of.score, tau, None)
    else:
        assert HARRELL not in found
        expected = twin.wolbers(of.rows, of.score, tau, None)
    assert found[UNO].estimate == pytest.approx(expected, nan_ok=True)
    at = rows.grid(until)
    causes = (1, 2) if cause is None else (1,)

    def integral(curves):
        risk = np.broadcast_to(1 - curves(at), (len(of.time), len(at)))
        scores = [
            twin.brier(of.rows, risk[:, m].tolist(), t, causes, None) for m, t in enumerate(at)
        ]
        return np.trapezoid(scores, at) / until

    model, known = integral(survival), integral(lambda t: reference(t)[None])
    assert found[INTEGRATED].estimate == pytest.approx(model, nan_ok=True)
    if known > 1e-9:
        assert found[EXPLAINED].estimate == pytest.approx(1 - model / known, nan_ok=True)


@given(lifetimes(), st.sampled_from([None, 1]))
def test_scores_of_rows_that_enter_late_are_those_of_the_twins(of, cause):
    rows = evaluating(ended(of), cause)
    rows = rows.given_none_before(rows.first_time())
    until, score = rows.last_time(), of.score[of.time > rows.since]
    twins = Rows(*(c.tolist() for c in (rows.time, rows.event, rows.weights, rows.start)))
    at = rows.grid(until)
    survival = np.exp(-score[:, None] * at / 5)
    reference = StepCurve(np.array([1.0, 3.0]), np.array([0.7, 0.4]), 1.0)
    found = scores_of_curves(rows, score, lambda _: survival, reference, until)
    assert (HARRELL in found) == (cause is None)
    if cause is None:
        in_order, _, compared = twin.concordance(twins, score)
        expected = in_order / compared if compared > 0 else np.nan
        assert found[HARRELL].estimate == pytest.approx(expected, nan_ok=True)
    measure = twin.unos if cause is None else twin.wolbers
    expected = measure(twins, score, np.nextafter(until, np.inf), None, twin.seen)
    assert found[UNO].estimate == pytest.approx(expected, nan_ok=True)
    causes = (1, 2) if cause is None else (1,)

    def integral(curves):
        risk = np.broadcast_to(1 - curves, (len(score), len(at)))
        scores = [
            twin.brier(twins, risk[:, m].tolist(), t, causes, None, twin.seen)
            for m, t in enumerate(at)
        ]
        return np.trapezoid(scores, at) / (until - rows.since)

    model, known = integral(survival), integral(reference(at)[None])
    assert found[INTEGRATED].estimate == pytest.approx(model, nan_ok=True)
    if known > 1e-9:
        assert found[EXPLAINED].estimate == pytest.approx(1 - model / known, nan_ok=True)


@given(lifetimes(most=20), st.integers(1, 4))
def test_groups_of_similar_risk_are_evaluated_alone(of, k):
    late = bool(of.start.any())
    groups = groups_by_risk(evaluating(ended(of), start=late), of.score, k)
    assert 1 <= len(groups) <= k
    assert sum(group.rows.astype(int) for group in groups).tolist() == [1] * len(of.time)
    survival = np.linspace(1, 0.2, 3) ** of.score[:, None]
    ends = [(of.score[group.rows].min(), of.score[group.rows].max()) for group in groups]
    assert all(low[1] < high[0] for low, high in pairwise(ends))
    for group in groups:
        rows = group.rows
        alone = kaplan_meier(
            *(part[rows] for part in (of.time, ended(of).event, of.weights)), of.start[rows]
        )
        np.testing.assert_array_equal(group.observed.survival, alone.survival)
        means = np.average(survival[rows], axis=0, weights=of.weights[rows])
        if not late:
            np.testing.assert_allclose(group.predicted(survival), means)
        some = ended(of).part(rows).rows
        at = [0.5, 2.0, 7.0]
        np.testing.assert_allclose(
            group.at_risk(np.array(at)), [some.at_risk(t) for t in at], atol=1e-9
        )
