"""Guided growth against Algorithm 1 written out with lists of rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from guided_problems import guided_problems
from odrf.engine.numeric import streams
from reference import guided as twin


@settings(max_examples=200, deadline=None)
@given(guided_problems())
def test_trees_are_those_that_project_every_region(problem):
    forest = problem.grow()
    tree = twin.grow(
        problem.X, problem.y, problem.weights, problem.feature_groups, problem.settings,
        streams(problem.seed, 0, 1)[0],
    )  # fmt: skip
    sample = twin.sample_of(problem.X, problem.y, problem.weights, problem.settings.n_classes)

    assert forest.columns.tolist() == tree.columns
    assert forest.left.tolist() == [region.left for region in tree.regions]
    assert forest.plane.tolist() == [region.plane for region in tree.regions]
    assert forest.count.tolist() == [len(region.rows) for region in tree.regions]
    assert forest.threshold.tolist() == [plane.threshold for plane in tree.planes]
    assert forest.coef.tolist() == [each for plane in tree.planes for each in plane.theta]
    assert forest.weight.tolist() == [sample.w[region.rows].sum() for region in tree.regions]
    impurities = [twin.impurity(sample, region.rows) for region in tree.regions]
    np.testing.assert_allclose(forest.weight * forest.impurity, impurities, rtol=1e-12, atol=0)
    votes = [twin.votes(sample, region.rows) for region in tree.regions]
    np.testing.assert_allclose(forest.value, votes, rtol=1e-12, atol=1e-14)
