"""Pseudo-values against derivatives of the estimates, and what they are without censoring."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given

from lifetimes import incidence_by_cause, lifetimes
from odrf.statistics.survival.curves import cumulative_incidence, kaplan_meier, risk_sets
from odrf.statistics.survival.discrimination import (
    concordance_of_cause,
    dynamic_areas,
    harrells_c,
    unos_c,
)
from odrf.statistics.survival.pseudo_values import (
    hazard_pseudo_values,
    incidence_pseudo_values,
    restricted_mean_pseudo_values,
    survival_pseudo_values,
    time_lost_pseudo_values,
)
from odrf.statistics.survival.scores import brier_scores, explained_share
from reference import incidence as incidences
from reference import pseudo_values as twin
from reference import survival as curves

TIMES = (0.5, 1.0, 2.5, 4.0)
NUMBERS = {
    "survival": (survival_pseudo_values, curves.survival),
    "restricted mean": (restricted_mean_pseudo_values, twin.restricted_mean),
    "hazard": (hazard_pseudo_values, curves.cumulative_hazard),
}

OF_CAUSES = {
    "incidence": (incidence_pseudo_values, incidences.incidence),
    "time lost": (time_lost_pseudo_values, incidences.time_lost),
}


@pytest.mark.parametrize("name", NUMBERS)
@given(of=lifetimes())
def test_they_are_derivatives_by_the_weights(name, of):
    found, estimate = NUMBERS[name]
    sets = risk_sets(of.time, of.event, of.weights, of.start)
    for time in TIMES:
        if len(sets.times) == 0 or curves.survival(of.rows, time) <= 1e-9:
            continue  # a derivative where nobody survives is one-sided
        expected = np.array(twin.pseudo_values(lambda rows, t=time: estimate(rows, t), of.rows))
        known = of.weights > 0
        np.testing.assert_allclose(
            found(sets, time)[known], expected[known], rtol=1e-8, atol=1e-8 * of.weights.sum()
        )


@pytest.mark.parametrize("name", OF_CAUSES)
@given(of=lifetimes())
def test_those_of_causes_are_derivatives_by_the_weights(name, of):
    found, estimate = OF_CAUSES[name]
    for cause, curve in incidence_by_cause(of.time, of.event, of.weights, of.start).items():
        for time in TIMES:
            if curves.survival(of.rows, time) <= 1e-9:
                continue  # a derivative where nobody survives is one-sided
            expected = twin.pseudo_values(
                lambda rows, t=time, c=cause: estimate(rows, c, t), of.rows
            )
            known = of.weights > 0
            np.testing.assert_allclose(
                found(curve, time)[known],
                np.array(expected)[known],
                rtol=1e-8,
                atol=1e-8 * of.weights.sum(),
            )


def test_those_of_all_causes_and_of_survival_add_up():
    rng = np.random.default_rng(6)
    time, event = rng.exponential(size=80), rng.integers(0, 4, 80)
    weights, start = rng.uniform(0.5, 2.0, 80), time * rng.uniform(0, 0.5, 80)
    sets = risk_sets(time, event, weights, start)
    causes = incidence_by_cause(time, event, weights, start).values()
    incidence = sum(incidence_pseudo_values(each, 0.8) for each in causes)
    np.testing.assert_allclose(incidence + survival_pseudo_values(sets, 0.8), 1.0)
    lost = sum(time_lost_pseudo_values(each, 0.8) for each in causes)
    np.testing.assert_allclose(lost + restricted_mean_pseudo_values(sets, 0.8), 0.8)


def test_without_censoring_those_of_causes_are_the_numbers_themselves():
    rng = np.random.default_rng(7)
    time, event = rng.exponential(size=60), rng.integers(1, 3, 60)
    found = incidence_by_cause(time, event)[2]
    own = event == 2
    np.testing.assert_allclose(incidence_pseudo_values(found, 0.7), own & (time <= 0.7), atol=1e-12)
    np.testing.assert_allclose(
        time_lost_pseudo_values(found, 0.7), own * np.maximum(0.7 - time, 0.0), atol=1e-12
    )


def test_without_censoring_they_are_the_numbers_themselves():
    rng = np.random.default_rng(3)
    time, event = rng.exponential(size=60), np.ones(60, dtype=np.int64)
    sets = risk_sets(time, event)
    np.testing.assert_allclose(survival_pseudo_values(sets, 0.7), time > 0.7, atol=1e-12)
    np.testing.assert_allclose(
        restricted_mean_pseudo_values(sets, 0.7), np.minimum(time, 0.7), atol=1e-12
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_they_are_close_to_those_of_leaving_each_row_out(name):
    rng = np.random.default_rng(4)
    n = 300
    lifetime, lost = rng.exponential(size=n), rng.exponential(2.0, size=n)
    time, event = np.minimum(lifetime, lost), (lifetime <= lost).astype(np.int64)
    rows = curves.Rows(time.tolist(), event.tolist(), [1.0] * n, [0.0] * n)
    found, estimate = NUMBERS[name]
    whole = estimate(rows, 0.6)
    for i in range(5):
        without = curves.Rows(*([v for j, v in enumerate(part) if j != i] for part in rows))
        left_out = n * whole - (n - 1) * estimate(without, 0.6)
        assert found(risk_sets(time, event), 0.6)[i] == pytest.approx(left_out, abs=0.02)


def test_their_mean_is_the_estimate():
    rng = np.random.default_rng(5)
    time, event = rng.exponential(size=50), rng.integers(0, 2, 50)
    weights = rng.uniform(0.5, 2.0, 50)
    sets = risk_sets(time, event, weights, time * rng.uniform(0, 0.5, 50))
    rows = curves.Rows(time.tolist(), event.tolist(), weights.tolist(), [0.0] * 50)
    sets = risk_sets(time, event, weights)
    for found, estimate in NUMBERS.values():
        mean = np.average(found(sets, 0.8), weights=weights)
        assert mean == pytest.approx(estimate(rows, 0.8), rel=1e-9)


def test_with_late_entry_they_are_too_far_from_the_mean_where_rows_are_rarely_seen():
    rng = np.random.default_rng(1)
    n, rates = 200_000, np.array([0.5, 2.0])
    x = rng.integers(0, 2, n)
    time, enter = rng.exponential(size=n) / rates[x], rng.uniform(0, 1, n)
    seen = enter < time
    sets = risk_sets(time[seen], np.ones(seen.sum()), None, enter[seen])
    at = 0.8
    found = survival_pseudo_values(sets, at)
    # the probability of no event before a uniform time, and the survival
    alpha, truth = (1 - np.exp(-rates)) / rates, np.exp(-rates * at)
    expected = truth.mean() + (truth - truth.mean()) * alpha.mean() / alpha
    means = [found[x[seen] == k].mean() for k in (0, 1)]
    np.testing.assert_allclose(means, expected, atol=0.01)
    assert abs(truth[1] - expected[1]) > 0.09


# ------------------------------------------------------------------------------------------------
# Standard errors against the spread over simulated samples, and what the estimates mean.
# ------------------------------------------------------------------------------------------------

N, SAMPLES = 200, 500
AT = np.array([0.3, 0.6, 0.9, 1.2])


def sample(rng, n, censored=True):
    """Two causes whose hazards depend on a predictor in opposite ways; weights do, too."""
    x = rng.normal(size=n)
    first, second = rng.exponential(np.exp(-x)), rng.exponential(2 * np.exp(0.5 * x))
    end = rng.exponential(2.0, n) if censored else np.full(n, np.inf)
    event = np.where(end < np.minimum(first, second), 0, np.where(first < second, 1, 2))
    weights = rng.uniform(0.5, 1.5, n)
    return np.minimum(np.minimum(first, second), end), event, x, weights


def measured(time, event, x, weights):
    """Estimates by name."""
    risk = 1 - np.exp(-AT * np.exp(x)[:, None])
    curve = kaplan_meier(time, event, weights).curve
    scores = brier_scores(time, event, risk, AT, None, weights)
    reference = brier_scores(time, event, 1 - curve(AT)[None], AT, None, weights)
    areas = dynamic_areas(time, event, x, AT, 1, weights)
    return {
        "harrell": harrells_c(time, event, x, weights),
        "uno": unos_c(time, event, x, 1.2, weights),
        "cause": concordance_of_cause(time, event, x, 1, 1.2, weights),
        "brier": scores.integrated,
        "explained": explained_share(scores, reference),
        "area": areas.mean,
    }


@pytest.fixture(scope="module")
def estimates():
    rng, found = np.random.default_rng(3), defaultdict(list)
    for _ in range(SAMPLES):
        for name, each in measured(*sample(rng, N)).items():
            found[name].append((each.estimate, each.std_error))
    return {name: np.array(values).T for name, values in found.items()}


NAMES = ["harrell", "uno", "cause", "brier", "explained", "area"]


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_the_spread_over_samples(estimates, name):
    estimate, error = estimates[name]
    spread, stated = np.std(estimate), np.sqrt(np.mean(error**2))
    print(f"{name}: spread {spread:.4f}, stated {stated:.4f}")
    assert stated == pytest.approx(spread, rel=0.12)
    covered = np.mean(np.abs(estimate - np.mean(estimate)) < 1.96 * error)
    assert 0.91 < covered < 0.98


@pytest.mark.parametrize("name", NAMES[1:])
def test_estimates_do_not_depend_on_censoring(estimates, name):
    """All but Harrell's C are nearly those of a large sample without censoring."""
    rows = sample(np.random.default_rng(4), 100_000, censored=False)
    truth, (estimate, error) = measured(*rows)[name].estimate, estimates[name]
    assert np.mean(estimate) == pytest.approx(truth, abs=0.25 * np.mean(error))


def test_variances_of_curves_are_the_spread_over_samples():
    rng, found = np.random.default_rng(5), []
    for _ in range(SAMPLES):
        time, event, _, weights = sample(rng, N)
        curve = cumulative_incidence(time, event, 1)
        weighted = cumulative_incidence(time, event, 1, weights)
        m = np.searchsorted(curve.times, 0.6, side="right") - 1
        variances = (curve.variance[m], weighted.robust_variance[m])
        found.append((curve.incidence[m], weighted.incidence[m], *variances))
    plain, weighted, delta, robust = np.array(found).T
    assert np.mean(delta) == pytest.approx(np.var(plain), rel=0.2)
    assert np.mean(robust) == pytest.approx(np.var(weighted), rel=0.2)
