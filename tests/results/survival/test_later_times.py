"""Predictions after the end of all observation, of which the training rows know nothing."""

from __future__ import annotations

import warnings

import pytest

import odrf

DATA = odrf.load_data("melanoma")
LAST = DATA["time"].max()
FORMULA = "Surv(time, event) ~ thickness + age"
ASKED = [
    lambda fit, times: fit.predict(DATA.head(2), type="survival", times=times),
    lambda fit, times: fit.predict(DATA.head(2), type="rmst", times=times),
    lambda fit, times: fit.predict(DATA.head(2), type="lost", times=times),
    lambda fit, times: fit.curves(DATA.head(2), times=times),
    lambda fit, times: fit.bands(DATA.head(2), times=times),
]


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf(FORMULA, DATA, n_trees=400, inference=True, seed=1)


@pytest.mark.parametrize("asked", ASKED)
def test_times_after_all_observation_warn(forest, asked):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(forest, [100, float(LAST)])
    with pytest.warns(UserWarning, match=f"30000 is after {LAST}, the end of the observation"):
        asked(forest, [100, 30000])


def test_a_curve_with_a_law_goes_on():
    death = "Surv(time, event != 'censored') ~ thickness + age"
    by_law = odrf.odbt(death, DATA, loss="weibull", n_trees=5, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        later = by_law.predict(DATA, type="survival", times=[LAST, 30000])
    assert (later[30000] < later[LAST]).all()
    with pytest.warns(UserWarning, match="30000 is after"):
        odrf.odbt(death, DATA, n_trees=5, seed=1).predict(DATA, type="hazard", times=30000)
