"""Laws of errors: slopes and curvatures against differences of logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.survival.error_laws import ExtremeValueError, LogisticError, NormalError

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
