"""Laws of errors: slopes and curvatures against differences of logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.survival.likelihoods import (
    ExtremeValueError,
    LogisticError,
    NormalError,
)

LAWS = {
    "lognormal": NormalError(),
    "loglogistic": LogisticError(),
    "weibull": ExtremeValueError(),
}


@pytest.mark.parametrize("name", LAWS)
@given(z=st.floats(-12, 12))
def test_slopes_and_curvatures_are_those_of_the_logarithms(name, z):
    law = LAWS[name]
    at, step = np.array([z]), 1e-4
    density = [law.log_density(at + d)[0] for d in (-step, 0, step)]
    survival = [law.log_survival(at + d)[0] for d in (-step, 0, step)]
    size = 1 + np.exp(z) * (name == "weibull")
    assert law.pull(at)[0] == pytest.approx((density[0] - density[2]) / (2 * step), abs=1e-6 * size)
    slope = (survival[0] - survival[2]) / (2 * step)
    assert law.hazard(at)[0] == pytest.approx(slope, abs=1e-6 * size)
    bent = (2 * density[1] - density[0] - density[2]) / step**2
    assert law.event_curvature(at)[0] >= bent - 1e-5 * size
    bent = (2 * survival[1] - survival[0] - survival[2]) / step**2
    assert law.censored_curvature(at)[0] >= bent - 1e-5 * size


@pytest.mark.parametrize("name", LAWS)
def test_far_errors_give_numbers(name):
    law = LAWS[name]
    z = np.array([-1e6, -40.0, 0.0, 40.0, 1e6])
    terms = (law.log_density, law.pull, law.event_curvature, law.log_survival, law.hazard,
             law.censored_curvature)  # fmt: skip
    for term in terms:
        assert np.isfinite(term(z)).all()


def test_of_widely_spread_normal_errors_the_partial_mean_is_a_number():
    found = NormalError().partial_mean(np.array([-1e4, 0.0]), 40.0)
    # exp(40²/2) is beyond the range of floats; Φ(-40) is φ(40)/40 (1 - 1/40² + 3/40⁴ - …)
    expected = (1 - 1 / 40**2 + 3 / 40**4) / (40 * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(found, [0.0, expected], rtol=1e-8)
