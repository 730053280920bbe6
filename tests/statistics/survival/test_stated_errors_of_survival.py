"""Standard errors against the spread over simulated samples, and what the estimates mean."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from odrf.statistics.survival.curves import cumulative_incidence, kaplan_meier
from odrf.statistics.survival.discrimination import (
    concordance_of_cause,
    dynamic_areas,
    harrells_c,
    unos_c,
)
from odrf.statistics.survival.scores import brier_scores, explained_share

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
