"""ROC curves and areas at times against the twin, and calibration in groups."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from lifetimes import lifetimes
from odrf.errors import InputError
from odrf.statistics.survival.curves import cumulative_incidence, limits_of_probability
from odrf.statistics.survival.discrimination import dynamic_areas, roc_at
from odrf.statistics.survival.observation import censoring_curve
from odrf.statistics.survival.scores import (
    calibration_at,
    groups_of_equal_weight,
)
from reference import survival as twin

AT = np.array([1.0, 2.5, 4.0])


def equal(found, error, function, rows):
    value = function(rows)
    assert found == pytest.approx(value, nan_ok=True)
    if not np.isnan(value):
        by_row = twin.influence(function, rows)
        assert error == pytest.approx(np.sqrt(np.sum(np.square(by_row))), abs=1e-9)


@given(lifetimes(entry=False), st.sampled_from([None, 1, 2]))
def test_areas_are_those_of_the_twin(of, cause):
    found = dynamic_areas(of.time, of.event, of.score, AT, cause, of.weights)
    causes = (1, 2) if cause is None else (cause,)
    for t, value, error in zip(AT, found.area, found.std_error, strict=True):
        equal(value, error, lambda rows, t=t: twin.area(rows, of.score, t, causes, None), of.rows)
    equal(
        found.mean.estimate,
        found.mean.std_error,
        lambda rows: twin.mean_area(rows, of.score, AT.tolist(), causes),
        of.rows,
    )


@given(lifetimes(entry=False), lifetimes())
def test_a_known_curve_adds_nothing_and_each_time_may_have_its_scores(of, others):
    G = censoring_curve(others.time, others.event, others.weights, others.start)
    scores = np.stack([of.score, -of.score, of.score], axis=1)
    found = dynamic_areas(of.time, of.event, scores, AT, None, of.weights, G)
    for m, t in enumerate(AT):
        equal(
            found.area[m],
            found.std_error[m],
            lambda rows, m=m, t=t: twin.area(rows, scores[:, m], t, (1, 2), others.rows),
            of.rows,
        )


@given(lifetimes(entry=False), st.sampled_from([None, 1]))
def test_the_area_is_under_the_curve(of, cause):
    area = dynamic_areas(of.time, of.event, of.score, AT[1:2], cause, of.weights).area[0]
    curve = roc_at(of.time, of.event, of.score, float(AT[1]), cause, of.weights)
    under = scipy.integrate.trapezoid(curve.sensitivity, 1 - curve.specificity)
    assert under == pytest.approx(area, nan_ok=True)
    assert (curve.threshold[0], curve.specificity[0], curve.sensitivity[0]) == (np.inf, 1, 0)


def test_times_ascend():
    with pytest.raises(InputError, match="ascending"):
        dynamic_areas(np.ones(2), np.ones(2), np.ones(2), np.array([2.0, 1.0]))


@given(lifetimes(), st.integers(1, 4), st.sampled_from([None, 1]))
def test_groups_are_compared_with_their_own_estimates(of, groups, cause):
    late = of.start if of.start.any() else None
    found = calibration_at(of.time, of.event, of.score, 2.5, groups, cause, of.weights, late)
    group = groups_of_equal_weight(of.score, groups, of.weights)
    assert len(found.weight) == len(np.unique(group[of.weights > 0])) <= groups
    assert found.weight.sum() == pytest.approx(of.weights.sum())
    if late is None:
        assert found.weight @ found.predicted == pytest.approx(of.weights @ of.score)
    assert (np.diff(found.predicted) > 0).all()
    for g, observed in enumerate(found.observed):
        part = of.part(group == g)
        alone = cumulative_incidence(part.time, part.event, cause, part.weights, part.start)
        last = part.time[part.weights > 0].max()
        if last >= 2.5 or twin.survival(part.rows, last) == 0:
            assert observed == pytest.approx(alone.curve(2.5))
            assert found.std_error[g] ** 2 == pytest.approx(
                np.sum(alone.influence(2.5) ** 2), abs=1e-12
            )
        else:
            assert np.isnan(observed)


def test_an_estimate_is_known_once_nobody_is_left_even_if_others_enter_later():
    time, event = np.array([1.0, 2.0, 2.0]), np.array([1, 0, 1])
    late = np.array([0.0, 1.0, 1.0])
    assert calibration_at(time, event, np.full(3, 0.3), 2.5, 1, start=late).observed == [1.0]


def test_limits_of_groups_without_weights_are_those_of_the_curve():
    time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 0, 1])
    found = calibration_at(time, event, np.full(4, 0.3), 2.5)
    alone = cumulative_incidence(time, event)
    low, high = limits_of_probability(alone.incidence, alone.variance)
    assert (found.low[0], found.high[0]) == (low[1], high[1])
    assert found.std_error[0] == pytest.approx(np.sqrt(alone.variance[1]))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.integers(1, 5))
def test_groups_are_in_the_order_of_values(values, groups):
    value = np.array(values, dtype=float)
    found = groups_of_equal_weight(value, groups, np.ones(len(value)))
    assert (np.diff(found[np.argsort(value, kind="stable")]) >= 0).all()
    assert len({(v, g) for v, g in zip(value, found, strict=True)}) == len(set(values))
    assert groups_of_equal_weight(np.arange(20.0), 5, np.ones(20)).tolist() == np.repeat(
        np.arange(5), 4
    ).tolist()  # fmt: skip
