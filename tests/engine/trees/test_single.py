"""One row alone, against the same row among others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.design.missing import LARGEST
from odrf.design.scaling import FARTHEST, Scaling
from odrf.engine.trees.routing import predict, predict_row, scale_row
from problems import noisy, problems
from reference.forests import predict as twin_predict


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 4), st.data())
def test_a_row_alone_gets_the_same_bits(problem, n_trees, data):
    forest = problem.grow(n_trees)
    kept = data.draw(st.lists(st.booleans(), min_size=forest.n_nodes, max_size=forest.n_nodes))
    for trees in [forest, forest.keeping(np.array(kept)), forest.keeping(forest.order < 0)]:
        found = [predict_row(trees.packed, trees.value, x.copy()) for x in problem.X.T]
        assert np.array(found).tobytes() == predict(trees, problem.X, 1).tobytes()
        np.testing.assert_allclose(found, twin_predict(trees, problem.X), rtol=1e-12)


@pytest.mark.parametrize("n_trees", [1, 300])
def test_few_trees_and_many(n_trees):
    problem = noisy(n=60, n_projections=2)
    forest = problem.grow(n_trees)
    expected = predict(forest, problem.X, 1)
    for i in [0, 59]:
        found = predict_row(forest.packed, forest.value, np.ascontiguousarray(problem.X[:, i]))
        assert found.tobytes() == expected[i].tobytes()


def scaled(raw, mixture, level, low, width):
    """The scaled columns, and whether all are finite."""
    x = np.empty(len(mixture), dtype=np.float32)
    columns = np.array(mixture, np.int32), np.array(level, np.int32)
    fine = scale_row(
        np.array(raw, float), *columns, np.array(low, float), np.array(width, float), LARGEST,
        FARTHEST, x,
    )  # fmt: skip
    return x, fine


numbers = st.floats(-1e300, 1e300)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(numbers, numbers, st.floats(0, 1e300)), min_size=1, max_size=6))
def test_numbers_are_scaled_as_many_rows_are(columns):
    raw, low, width = map(list, zip(*columns, strict=True))
    x, fine = scaled(raw, range(len(raw)), [-1] * len(raw), low, width)
    assert fine
    with np.errstate(over="ignore"):
        expected = Scaling(np.array(low), np.array(width), np.zeros(len(low), dtype=bool)).apply(
            np.array(raw)[:, np.newaxis]
        )
    assert x.tobytes() == expected[:, 0].tobytes()


def test_indicators_mark_their_level():
    x, fine = scaled([0.5, 2.0], [0, 1, 1, 1], [-1, 0, 1, 2], [0, 0, 0, 0], [1, 1, 1, 0])
    assert fine
    # the last level's column was constant in training
    assert x.tolist() == [0.5, 0, 0, 0]
    assert scaled([0.5, 1.0], [0, 1, 1], [-1, 0, 1], [0, 0, 0], [1, 1, 1])[0].tolist() == [
        0.5,
        0,
        1,
    ]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e301])
@pytest.mark.parametrize("width", [0.0, 1.0])
def test_what_is_not_finite_is_told(value, width):
    assert not scaled([1.0, value], [0, 1], [-1, -1], [0, 0], [1, width])[1]
