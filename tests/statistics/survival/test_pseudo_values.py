"""Pseudo-values against estimates that leave out one row after the other."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from lifetimes import lifetimes
from odrf.statistics.survival.pseudo_values import pseudo_restricted_means, pseudo_survival
from reference import survival as twin

AT = np.array([0.5, 1.0, 2.5, 4.0, 6.0])


@given(lifetimes(weights=(1.0,)))
def test_pseudo_values_are_those_without_the_row(of):
    survival = pseudo_survival(of.time, of.event, AT, of.start)
    mean = pseudo_restricted_means(of.time, of.event, AT, of.start)
    for found, function in ((survival, twin.survival), (mean, twin.restricted_mean)):
        expected = [
            [twin.pseudo_value(lambda rows, t=t, f=function: f(rows, t), of.rows, i) for t in AT]
            for i in of.rows.numbers
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


@given(lifetimes(causes=0, weights=(1.0,), entry=False))
def test_without_events_all_survive(of):
    assert (pseudo_survival(of.time, of.event, AT) == 1).all()
    expected = np.broadcast_to(AT, (len(of.time), len(AT)))
    np.testing.assert_allclose(pseudo_restricted_means(of.time, of.event, AT), expected)


@given(lifetimes(weights=(1.0,), entry=False))
def test_without_censoring_a_row_stands_for_itself(of):
    event = np.ones(len(of.time))
    later = of.time[:, None] > AT
    np.testing.assert_allclose(pseudo_survival(of.time, event, AT), later, atol=1e-10)
    np.testing.assert_allclose(
        pseudo_restricted_means(of.time, event, AT), np.minimum(of.time[:, None], AT), atol=1e-10
    )
