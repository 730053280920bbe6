"""Terms of directions: the rows on which they are estimated, and factors that are left out."""

from __future__ import annotations

import numpy as np
import pytest

from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import INDICATORS, PLAIN, FeatureGroups
from odrf.engine.directions.estimation import moments
from odrf.engine.directions.subsets import load_terms as loaded
from odrf.engine.directions.workspace import workspace
from odrf.engine.randomness import streams
from odrf.engine.rows.factors import factors_of
from odrf.engine.rows.rows import gather_rows
from problems import indicators
from reference.level_scores import score_levels

USED, SCORED, LEVELS = 20, 100, 10
GROUPS = FeatureGroups(
    np.array([0, 1, 1 + LEVELS, 2 + LEVELS]), np.array([PLAIN, INDICATORS, PLAIN], dtype=np.int8)
)


@kernel
def load_terms(rows, order, q, total, share, work):
    """Call what only kernels can call."""
    return loaded(rows, 0, USED, SCORED, GROUPS, order, q, False, total, share, work)


def load(predictors, effect, seed):
    """The terms of some predictors of a node in which levels have an effect, or none."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, LEVELS, SCORED)
    y = rng.random(SCORED) + effect * level
    numbers = rng.random((2, SCORED))
    X = np.vstack([numbers[:1], indicators(level, LEVELS), numbers[1:]]).astype(np.float32)
    rows = gather_rows(
        streams(seed, 0, 1)[0], X, y, rng.uniform(0.5, 2, SCORED),
        np.ones(SCORED, dtype=np.int64), True, factors_of(X, GROUPS),
    )  # fmt: skip
    work = workspace(2 + LEVELS, SCORED, 2 + LEVELS)
    work.weights[:], work.target[:] = rows.weights, rows.y
    total, share = moments(work.target, work.weights, SCORED, work.moment)
    differs = score_levels(level[rows.at] + 1, LEVELS, rows.y, rows.weights).of_levels.any()
    order = np.array(predictors)
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
    assert (terms, differs, work.dismissed[0]) == (0, False, SCORED)
