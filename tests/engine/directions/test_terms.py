"""Terms of directions: the rows on which they are estimated, and factors that are left out."""

from __future__ import annotations

import numpy as np
import pytest

from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import INDICATORS, PLAIN, TWO_LEVELS, FeatureGroups
from odrf.engine.directions.estimation import moments
from odrf.engine.directions.samplers import workspace
from odrf.engine.directions.subsets import load_terms as loaded
from odrf.engine.factors import factors_of
from odrf.engine.numeric import streams
from odrf.engine.rows import gather_rows
from problems import indicators
from reference.level_scores import score_levels

USED, SCORED, LEVELS = 20, 100, 10
GROUPS = FeatureGroups(
    np.array([0, 1, 1 + LEVELS, 2 + LEVELS]), np.array([PLAIN, INDICATORS, PLAIN], dtype=np.int8)
)


@kernel
def load_terms(rows, order, q, total, share, work):
    """Call what only kernels can call."""
    return loaded(rows, 0, USED, SCORED, GROUPS, order, q, TWO_LEVELS, False, total, share, work)


def load(predictors, effect, seed, times=1):
    """The terms of some predictors of a node in which levels have an effect, or none.

    They are loaded so many times, for the same target.
    """
    rng = np.random.default_rng(seed)
    level = rng.integers(0, LEVELS, SCORED)
    y = rng.random(SCORED) + effect * level
    numbers = rng.random((2, SCORED))
    X = np.vstack([numbers[:1], indicators(level, LEVELS), numbers[1:]]).astype(np.float32)
    rows = gather_rows(
        streams(seed, 0, 1)[0], X, y, rng.uniform(0.5, 2, SCORED),
        np.ones(SCORED, dtype=np.int64), True, factors_of(X, GROUPS),
    )  # fmt: skip
    work = workspace(2 + LEVELS, SCORED, 2 + LEVELS, L=LEVELS if times > 1 else 0)
    work.weights[:], work.target[:] = rows.weights, rows.y
    total, share = moments(work.target, work.weights, SCORED, work.moment)
    differs = score_levels(level[rows.at] + 1, LEVELS, rows.y, rows.weights).of_levels.any()
    order = np.array(predictors)
    for _ in range(times - 1):
        load_terms(rows, order, len(order), total, share, work)
        moments(work.target, work.weights, SCORED, work.moment)
        work.Z[:], work.scores[:], work.column[:], work.term[:] = np.nan, np.nan, -1, -1
        work.covariance[:], work.excess[:] = np.nan, np.nan
    return load_terms(rows, order, len(order), total, share, work), work, bool(differs)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("predictors", [[0, 1], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_directions_are_estimated_on_the_first_rows(predictors, effect, seed):
    (terms, total, share), work, differs = load(predictors, effect, seed)
    assert terms == len(predictors) - (not differs)
    assert work.size[0] == len(predictors) - 1 + differs * LEVELS
    a, t = work.weights[:USED], work.target[:USED]
    assert total == pytest.approx(a.sum())
    assert share == pytest.approx(np.average(t, weights=a))
    np.testing.assert_allclose(work.moment[:USED], a * (t - np.average(t, weights=a)))


def test_both_kinds_of_factors_were_met():
    met = {load([0, 1], effect, seed)[2] for effect in (0.0, 1.0) for seed in range(5)}
    assert met == {False, True}


def test_a_factor_whose_levels_do_not_differ_is_not_scored_again():
    (terms, _, _), work, differs = load(
        [1], 0.0, next(s for s in range(9) if not load([1], 0, s)[2])
    )
    assert (terms, differs, work.levels.dismissed[0]) == (0, False, SCORED)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("predictors", [[1], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_kept_scores_are_those_of_the_first_time(predictors, effect, seed):
    (terms, total, share), first, differs = load(predictors, effect, seed)
    (again, *others), second, _ = load(predictors, effect, seed, times=2)
    assert (again, *others) == (terms, total, share)
    np.testing.assert_array_equal(first.size, second.size)
    size = first.size[0]
    for name in ("scores", "column", "term"):
        np.testing.assert_array_equal(getattr(first, name)[:size], getattr(second, name)[:size])
    np.testing.assert_array_equal(first.Z[:terms, :USED], second.Z[:terms, :USED])
    for name in ("covariance", "excess") if differs else ():
        np.testing.assert_array_equal(getattr(first, name)[:terms], getattr(second, name)[:terms])
    assert second.levels.kept[0, 0] == (SCORED if differs else 0)
