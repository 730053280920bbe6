"""One walk for all points of a grid, beside a prediction for each."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf.engine.compiling import kernel
from odrf.engine.factors import stored
from odrf.engine.partial_dependence import MOST_ROWS, ROOM, OtherValues, curves_by_block
from odrf.engine.shapley_boxes import box_weight, members
from problems import problems
from reference.curves import predicted
from reference.shapley import share_of_orders


def both(forest, X, other, weights, n_outputs=1, n_jobs=1):
    """The curves (B, G, K) of the trees and (n, G, K') of the rows, joined from all blocks."""
    blocks = list(curves_by_block(forest, X, other, weights, n_outputs, n_jobs))
    return sum(block.of_trees for block in blocks), np.concatenate([b.of_rows for b in blocks])


def require_same(forest, X, other, n_jobs=1):
    weights = np.random.default_rng(0).integers(0, 3, X.shape[1]).astype(float)
    of_trees, of_rows = both(forest, X, other, weights, n_jobs=n_jobs)
    each = predicted(forest, X, other.places, other.values)
    np.testing.assert_allclose(of_trees, np.einsum("n,bngk->bgk", weights, each), atol=1e-12)
    total = np.zeros(each.shape[1:])
    for tree in each:
        total += tree
    np.testing.assert_allclose(of_rows, total, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(problems(), st.data())
def test_curves_are_those_of_a_prediction_for_each_point(problem, data):
    forest = problem.grow(3)
    p, n = problem.X.shape
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    places = rng.permutation(p)[: data.draw(st.integers(1, p))]
    shape = (data.draw(st.sampled_from([1, n])), len(places), data.draw(st.integers(1, 9)))
    values = (rng.integers(-1, 8, shape) / 6).astype(np.float32)
    if data.draw(st.booleans()):
        values = np.sort(values, axis=2)
    require_same(forest, problem.X, OtherValues(places, values))


def test_a_column_alone_rises_where_rounding_is_felt():
    rng = np.random.default_rng(1)
    data = odrf.simulate.rings().sample(200, seed=1)
    fit = odrf.odrf("y ~ .", data, n_trees=8, projection="rotation", seed=1).fit
    near = np.sort(np.float32(0.5) + rng.integers(-40, 40, 300) * np.finfo(np.float32).eps)
    X, grid = fit.data.X, near.astype(np.float32)[None, None]
    require_same(fit.forest, X, OtherValues(np.array([0]), grid))


def test_levels_of_a_factor_in_codes():
    rng = np.random.default_rng(2)
    data = {"f": rng.choice(list("abcdefghijklm"), 90), "x": rng.normal(size=90)}
    data = odrf.simulate.rings().sample(90, seed=1).assign(**data)
    fit = odrf.odrf("y ~ .", data, n_trees=6, seed=1).fit
    X = fit.data.X
    codes = np.arange(14, dtype=np.float32)[None, None]
    assert X.layout.level.any()
    require_same(fit.forest, X, OtherValues(np.array([len(stored(X)) - 1]), codes))


def test_the_sums_are_the_same_for_any_number_of_threads():
    data = odrf.simulate.rings().sample(MOST_ROWS + 9, seed=1)
    fit = odrf.odrf("y ~ .", data, n_trees=3, seed=1).fit
    other = OtherValues(np.array([1]), np.linspace(0, 1, 7, dtype=np.float32)[None, None])
    alone, together = (both(fit.forest, fit.data.X, other, fit.data.weights, 1, k) for k in (1, 2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(alone, together, strict=True))
    require_same(fit.forest, fit.data.X, other, 2)


def test_trees_of_several_outputs_add_up_apart():
    data = odrf.load_data("penguins").dropna()
    fit = odrf.odbt("species ~ body_mass_g + year", data, n_trees=3, seed=1).fit
    grid = OtherValues(np.array([0]), np.linspace(0, 1, 5, dtype=np.float32)[None, None])
    K = fit.control.n_outputs
    _, of_rows = both(fit.forest, fit.data.X, grid, fit.data.weights, K)
    each = predicted(fit.forest, fit.data.X, grid.places, grid.values)[..., 0]
    assert K > 1
    for k in range(K):
        np.testing.assert_allclose(of_rows[..., k], each[k::K].sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("points", [1, ROOM + 1])
def test_a_block_has_at_least_one_row(points):
    data = odrf.simulate.rings().sample(12, seed=1)
    fit = odrf.odrf("y ~ .", data, n_trees=1, seed=1).fit
    other = OtherValues(np.array([0]), np.zeros((1, 1, points), dtype=np.float32))
    blocks = [
        b.rows for b in curves_by_block(fit.forest, fit.data.X, other, fit.data.weights, 1, 1)
    ]
    assert sum(rows.stop - rows.start for rows in blocks) == 12


# ------------------------------------------------------------------------------------------------
# Weights and sizes of boxes of coalitions.
# ------------------------------------------------------------------------------------------------


@kernel
def weight_of(a, b):
    return box_weight(a, b)


@kernel
def size_of(words):
    return members(words[0])


def test_the_weight_of_a_box_is_the_share_of_orders_that_meet_it():
    for a, b in product(range(4), range(4)):
        assert weight_of(a, b) == pytest.approx(share_of_orders(a, b), rel=1e-14)


@given(st.integers(0, 2**64 - 1))
def test_members_are_bits_that_are_set(word):
    assert size_of(np.array([word], dtype=np.uint64)) == word.bit_count()
