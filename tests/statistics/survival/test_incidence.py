"""Competing causes against the twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from lifetimes import incidence_by_cause, lifetimes
from odrf.statistics.survival.curves import cumulative_incidence, kaplan_meier
from reference import survival as twin

AT = np.array([0.5, 1, 2, 3, 4, 5, 6, 7])


@given(lifetimes())
def test_incidences_and_their_variances_are_those_of_the_twin(of):
    found = incidence_by_cause(of.time, of.event, of.weights, of.start)
    for cause, each in found.items():
        np.testing.assert_allclose(
            each.curve(AT), [twin.incidence(of.rows, (cause,), t) for t in AT], atol=1e-12
        )
        expected = [twin.variance_of_incidence(of.rows, (cause,), t) for t in each.times]
        np.testing.assert_allclose(each.variance, expected, atol=1e-12)
        for t, variance in zip(each.times, each.robust_variance, strict=True):
            by_row = twin.influence(
                lambda rows, t=t, c=cause: twin.incidence(rows, (c,), t), of.rows
            )
            np.testing.assert_allclose(each.influence(t), by_row, rtol=1e-9, atol=1e-12)
            assert variance == pytest.approx(np.sum(np.square(by_row)), abs=1e-12)
    assert set(found) == set(of.event) - {0}


@given(lifetimes())
def test_all_causes_together_are_the_complement_of_survival(of):
    given_to = of.time, of.event
    options = {"weights": of.weights, "start": of.start}
    survival, together = (
        kaplan_meier(*given_to, **options),
        cumulative_incidence(*given_to, **options),
    )
    np.testing.assert_allclose(together.incidence, 1 - survival.survival, atol=1e-12)
    alive = survival.survival > 0
    np.testing.assert_allclose(together.variance[alive], survival.variance[alive], atol=1e-12)
    causes = incidence_by_cause(*given_to, **options).values()
    total = sum((each.incidence for each in causes), np.zeros(len(together.times)))
    np.testing.assert_allclose(total, together.incidence, atol=1e-12)
