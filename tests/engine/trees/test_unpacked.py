"""A few rows, predicted without packing the trees."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.trees.unpacked import predict_few
from problems import problems
from reference.forests import predict as twin_predict


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 3))
def test_predictions_are_those_of_the_twin(problem, n_trees):
    forest = problem.grow(n_trees)
    pruned = forest.keeping((forest.left >= 0) & (forest.order <= 3))
    new = np.random.default_rng(problem.seed).integers(-1, 8, (len(problem.X), 12)) / 6
    for X in (problem.X[:, :9], new.astype(np.float32)):
        for trees in (forest, pruned):
            np.testing.assert_allclose(predict_few(trees, X), twin_predict(trees, X), rtol=1e-12)
