"""Scores of the levels of a factor against their plain twin, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import INDICATORS, feature_groups_of
from odrf.engine.directions.estimation import moments
from odrf.engine.directions.factors import reliability, score_levels
from odrf.engine.directions.samplers import workspace
from odrf.engine.factors import factors_of
from odrf.engine.numeric import streams
from odrf.engine.rows import gather_rows
from problems import case_weights, indicators
from reference import level_scores as twin


@kernel
def share(terms, work):
    return reliability(terms, work)


def scored(level, n_levels, t, a, copied=True, others=0):
    """The workspace after scoring the levels (1, 2, …; 0 for none) of all rows; the scores.

    The target was chosen among as many `others`.
    """
    n = len(t)
    X = indicators(level - 1, n_levels)
    groups = feature_groups_of(np.array([0, n_levels]), np.array([INDICATORS], dtype=np.int8))
    rows = gather_rows(
        streams(1, 0, 1)[0], X, t, a, np.ones(n, dtype=np.int64), copied, factors_of(X, groups)
    )
    work = workspace(1, n, n_levels)
    work.weights[:] = rows.weights
    work.target[:] = rows.y
    _, mean = moments(rows.y, rows.weights, n, work.moment)
    work.Z[0], work.covariance[0], work.excess[0], work.levels.freedom[0] = 0.0, 0.0, 0.0, others
    present = score_levels(rows, 0, n, n, 0, mean, 0, 0, work)
    of_rows, of_levels = np.empty(n), np.zeros(n_levels)
    of_rows[rows.at] = work.Z[0]
    of_levels[work.levels.present[:present] - 1] = work.scores[:present]
    assert (np.diff(work.levels.present[:present]) > 0).all()
    return work, of_levels, of_rows


@st.composite
def cases(draw):
    n, n_levels = draw(st.integers(2, 60)), draw(st.integers(7, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    level = rng.integers(draw(st.integers(0, 1)), n_levels + 1, n)
    t = np.round(rng.random(n) + draw(st.sampled_from([0, 1, 5])) * level, 2)
    return level, n_levels, t, case_weights(n, rng) + 0.5


@settings(max_examples=200, deadline=None)
@given(cases(), st.booleans(), st.sampled_from([0, 1, 4]))
def test_scores_are_those_of_the_twin(case, copied, others):
    level, n_levels, t, a = case
    work, of_levels, of_rows = scored(level, n_levels, t, a, copied, others)
    expected = twin.score_levels(level, n_levels, t, a, others)
    np.testing.assert_allclose(of_levels, expected.of_levels, atol=1e-9)
    np.testing.assert_allclose(of_rows, expected.of_rows, atol=1e-9)
    scale = max(1.0, abs(expected.covariance) + expected.excess)
    assert work.covariance[0] == pytest.approx(expected.covariance, abs=1e-9 * scale)
    assert work.excess[0] == pytest.approx(expected.excess, abs=1e-9 * scale)
    work.theta[0] = 1.0
    trusted = twin.reliability(np.ones(1), work.covariance[:1], work.excess[:1])
    assert share(1, work) == pytest.approx(trusted, abs=1e-9)


def test_levels_that_differ_by_chance_are_hardly_trusted():
    rng = np.random.default_rng(3)
    trusted = []
    for _ in range(50):
        work, of_levels, _ = scored(
            rng.integers(1, 51, 200), 50, rng.normal(size=200), np.ones(200)
        )
        work.theta[0] = 1.0
        trusted.append(share(1, work) if of_levels.any() else 0.0)
    assert np.median(trusted) == 0.0
    assert np.mean(trusted) < 0.15


def test_levels_that_matter_are_trusted():
    rng = np.random.default_rng(4)
    level = rng.integers(1, 51, 2000)
    work, of_levels, _ = scored(level, 50, level / 10 + rng.normal(size=2000), np.ones(2000))
    work.theta[0] = 1.0
    assert share(1, work) > 0.97
    assert np.corrcoef(of_levels, np.arange(50))[0, 1] > 0.97


@pytest.mark.parametrize("S", [5.0, 20.0, 300.0])
@pytest.mark.parametrize("freedom, others", [(10, 1), (10, 8), (49, 3)])
def test_what_a_choice_adds_to_a_sum_of_squares_is_known(S, freedom, others):
    largest = (S + freedom) * (S + others) / S
    if np.sqrt(freedom * others) < S:
        assert largest > twin.edge(freedom, others)
        assert twin.strength(largest, freedom, others) == pytest.approx(S)
    assert twin.edge(freedom, others) == pytest.approx(
        min((s + freedom) * (s + others) / s for s in np.linspace(0.01, 200, 10**5)), rel=1e-3
    )


def test_no_term_scored_is_fully_trusted():
    assert share(0, workspace(1, 2)) == 1.0
