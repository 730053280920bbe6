"""Laws of learning curves against curves whose law is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.evaluation.learning_curve import (
    PowerLaw,
    bootstrap_levels,
    bootstrap_power_laws,
    fit_power_law,
)

N = np.geomspace(20, 5000, 9)


@settings(deadline=None, max_examples=40)
@given(st.floats(0.0, 2.0), st.floats(0.5, 50), st.floats(0.1, 1.5))
def test_an_exact_law_is_found(a, b, c):
    law = PowerLaw(a, b, c)
    found = fit_power_law(N, law.error(N))
    np.testing.assert_allclose(found.error(N), law.error(N), rtol=2e-3)
    if a > 0.1 and law.error(20) > 1.5 * law.error(5000):
        assert found.c == pytest.approx(c, rel=0.05)
        assert found.a == pytest.approx(a, rel=0.1, abs=0.02)


def test_no_pair_of_a_and_b_is_nearer():
    rng = np.random.default_rng(0)
    error = PowerLaw(0.3, 4.0, 0.5).error(N) * np.exp(rng.normal(size=len(N)) / 20)
    found = fit_power_law(N, error)
    best = np.sum((found.error(N) / error - 1) ** 2)
    for c in np.linspace(0.05, 1.9, 60):
        for a in np.linspace(0, 0.6, 25):
            for b in found.b * np.linspace(0.05, 6, 60):
                assert best <= np.sum((PowerLaw(a, b, c).error(N) / error - 1) ** 2) + 1e-9


def test_a_curve_that_does_not_fall_has_no_rate_worth_speaking_of():
    found = fit_power_law(N, np.full(len(N), 0.7))
    np.testing.assert_allclose(found.error(10 * N), 0.7, rtol=1e-3)


def test_laws_of_repeats_surround_the_law_of_their_mean():
    rng = np.random.default_rng(1)
    errors = PowerLaw(0.2, 3.0, 0.6).error(N) * np.exp(rng.normal(size=(12, len(N))) / 10)
    drawn = bootstrap_power_laws(N, errors, 100, 5)
    assert len(drawn) == 100
    rates = [law.c for law in drawn]
    assert min(rates) < fit_power_law(N, errors.mean(axis=0)).c < max(rates)
    assert drawn == bootstrap_power_laws(N, errors, 100, 5)


def test_the_law_of_each_draw_is_that_of_its_mean():
    errors = PowerLaw(0.2, 3.0, 0.6).error(N) * np.linspace(0.8, 1.2, 3)[:, None]
    rows = np.random.default_rng(5).integers(0, 3, (20, 3))
    expected = [fit_power_law(N, errors[chosen].mean(axis=0)) for chosen in rows]
    assert bootstrap_power_laws(N, errors, 20, 5) == expected


def test_a_model_that_makes_no_error_has_none_at_any_number_of_rows():
    found = fit_power_law(N, np.zeros(len(N)))
    assert found.a == found.b == 0.0
    assert found.error(10 * N).tolist() == [0.0] * len(N)
    for law in bootstrap_power_laws(N, np.zeros((4, len(N))), 20, 1):
        assert law == found


@given(st.integers(0, len(N)), st.floats(1e-12, 1e6))
def test_errors_that_vanish_have_a_law(first_zero, size):
    error = PowerLaw(0.0, size, 0.7).error(N)
    error[first_zero:] = 0.0
    found = fit_power_law(N, error)
    assert np.isfinite(found).all()
    assert (found.error(N) <= 2 * error.max()).all()


@pytest.mark.parametrize(("repeats", "least"), [(5, 0.88), (10, 0.92), (100, 0.93)])
def test_intervals_of_few_repeats_cover(repeats, least):
    """Of means, 1,000 times; middle 95 % of the draws held 84 % and 89 % of 5 and of 10."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(1000, repeats))
    drawn = rng.integers(0, repeats, (200, repeats))
    low, high = np.quantile(values[:, drawn].mean(axis=2), bootstrap_levels(repeats, 0.95), axis=1)
    assert least < ((low <= 0) & (high >= 0)).mean() < 0.97


def test_percentiles_of_many_repeats_are_those_of_the_level():
    assert bootstrap_levels(10**6, 0.9) == pytest.approx((0.05, 0.95), abs=1e-5)


def test_laws_at_an_end_of_the_range_are_known():
    assert fit_power_law(N, PowerLaw(1.0, 500.0, 3.0).error(N)).is_at_an_end
    assert fit_power_law(N, 5 - 0.3 * N / 5000).is_at_an_end
    assert not fit_power_law(N, PowerLaw(0.3, 4.0, 0.5).error(N)).is_at_an_end
    # without b there is no rate
    assert not fit_power_law(N, np.ones(len(N))).is_at_an_end
