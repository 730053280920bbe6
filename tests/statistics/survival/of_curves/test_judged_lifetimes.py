"""Rows that judge: until when, at which times, in which groups."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifetimes import lifetimes
from odrf.errors import InputError
from odrf.statistics.survival.curves import StepCurve, kaplan_meier
from odrf.statistics.survival.scores import (
    EXPLAINED,
    HARRELL,
    INTEGRATED,
    UNO,
    EvaluatedTimes,
    groups_by_risk,
    scores_of_curves,
)
from reference import survival as twin
from reference.survival import Rows


def judging(of, cause=None, start=True):
    return EvaluatedTimes(
        of.time, of.event, of.weights, "new", of.start if start else None, None, cause
    )


def ended(of):
    """At least one row has an event."""
    return of._replace(event=np.where(np.arange(len(of.time)) == 0, 1, of.event))


@given(lifetimes(entry=False))
def test_a_tenth_of_the_weight_is_at_risk_at_the_last_time(of):
    of = ended(of)
    rows = judging(of, start=False)
    found = rows.last_time()
    twins, times = of.rows, sorted(set(of.time[of.event > 0].tolist()))
    enough = [t for t in times if twins.at_risk(t) >= 0.1 * sum(twins.weights)]
    assert found == (enough[-1] if enough else times[0])
    assert rows.first_time() == 0


@given(lifetimes(most=30))
def test_rows_that_enter_late_are_judged_while_enough_are_at_risk(of):
    of = ended(of)
    rows, times = judging(of), sorted(set(of.time[of.event > 0].tolist()))
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
    rows = judging(of)
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
    rows = judging(of, cause, start=False)
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
    rows = judging(ended(of), cause)
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
def test_groups_of_similar_risk_are_judged_alone(of, k):
    late = bool(of.start.any())
    groups = groups_by_risk(judging(ended(of), start=late), of.score, k)
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
