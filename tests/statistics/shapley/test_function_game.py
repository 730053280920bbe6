"""Shapley values of any function: against their definition, what they add up to, their errors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.randomness import stream
from odrf.statistics.shapley.function_game import (
    BOXES_OF_COALITION,
    FunctionGame,
    interactions_of_function,
    shares_of_function,
)
from odrf.statistics.shapley.game import OrderDraws
from reference.shapley import interaction_values, values_by_definition

MANY = 2**20


def game_of(P, K=1, n=2, m=3, seed=0, same=0.0):
    """A rough function of P terms; the last one has two numbers."""
    rng = np.random.default_rng(seed)
    term_of = np.append(np.arange(P), P - 1)
    rows = rng.normal(size=(m + n, P + 1)).astype(np.float32)
    rows[rng.random(rows.shape) < same] = np.nan
    slopes, waves = rng.normal(size=(2, P + 1, K))

    def predict(mixed):
        known = np.nan_to_num(mixed.astype(np.float64), nan=2.0)
        # not by BLAS, which rounds a row alone in another way than the row among others
        line = sum(slopes[j] * known[:, [j]] for j in range(P + 1))
        wave = sum(np.sin(known[:, [j]] * waves[j]) for j in range(P + 1))
        return np.tanh(line) * wave**2

    return FunctionGame(predict, K, P, term_of, rows, m)


def draws_of(max_boxes, n_draws=2, seed=1):
    return OrderDraws(max_boxes, n_draws, stream(seed, 0))


def by_definition(game, values_of):
    m, out = game.n_background, []
    for x in game.rows[m:]:
        means = {}
        for coalition in product((0, 1), repeat=game.n_terms):
            own = np.array(coalition)[game.term_of] == 1
            means[coalition] = game.predict(np.where(own, x, game.rows[:m])).mean(axis=0)
        out.append(values_of(means))
    return np.array(out)


@given(st.integers(1, 5), st.integers(1, 2), st.integers(0, 99), st.sampled_from([0.0, 0.4]))
def test_with_all_coalitions_values_are_those_of_the_definition(P, K, seed, same):
    game = game_of(P, K, seed=seed, same=same)
    for compute, values_of in (
        (shares_of_function, values_by_definition),
        (interactions_of_function, interaction_values),
    ):
        found = compute(game, draws_of(MANY))
        np.testing.assert_allclose(found.values, by_definition(game, values_of), atol=1e-12)
        assert found.drawn == 0 and not found.std_error.any()


@given(st.integers(3, 7), st.integers(0, 99), st.integers(2, 5))
def test_drawn_values_add_up_exactly_whatever_is_drawn(P, seed, n_draws):
    game = game_of(P, 2, seed=seed)
    values = shares_of_function(game, draws_of(0, n_draws))
    pairs = interactions_of_function(game, draws_of(0, n_draws))
    predicted, m = game.predict(game.rows), game.n_background
    whole = predicted[m:] - predicted[:m].mean(axis=0)
    np.testing.assert_allclose(values.values.sum(axis=1), whole, atol=1e-12)
    np.testing.assert_allclose(pairs.values.sum(axis=(1, 2)), whole, atol=1e-12)
    np.testing.assert_allclose(pairs.values.sum(axis=2), values.values, atol=1e-12)
    np.testing.assert_allclose(pairs.values, pairs.values.swapaxes(1, 2), atol=0)
    assert values.drawn == pairs.drawn == 1


@pytest.mark.parametrize(
    ("compute", "values_of"),
    [
        (shares_of_function, values_by_definition),
        (interactions_of_function, interaction_values),
    ],
)
def test_errors_of_drawn_values_are_those_stated(compute, values_of):
    game = game_of(5, n=3, m=4)
    exact = by_definition(game, values_of)
    drawn = [compute(game, draws_of(0, 3, seed)) for seed in range(60)]
    away = np.array([each.values - exact for each in drawn])
    stated = np.mean([each.std_error**2 for each in drawn], axis=0)
    # means of 60 squares have a relative error of 0.18; those of all values together of much less
    ratio = (away**2).mean(axis=0)[stated > 1e-9] / stated[stated > 1e-9]
    assert 0.85 < ratio.mean() < 1.15 and (np.abs(ratio - 1) < 0.8).all()
    errors = np.sqrt(stated / 60)
    assert (np.abs(away.mean(axis=0)) <= 4 * errors + 1e-12).all()


def test_coalitions_are_enumerated_as_long_as_max_boxes_has_room():
    game = game_of(4)
    assert shares_of_function(game, draws_of(16 * BOXES_OF_COALITION)).drawn == 0
    assert shares_of_function(game, draws_of(16 * BOXES_OF_COALITION - 1)).drawn == 1


def test_a_row_has_the_same_bits_alone_and_with_others():
    game, advanced = game_of(6, n=40, m=30), []
    alone = FunctionGame(
        game.predict, 1, 6, game.term_of, game.rows[[*range(30), 50]], game.n_background
    )
    for compute in (shares_of_function, interactions_of_function):
        for max_boxes in (0, MANY):
            every = compute(game, draws_of(max_boxes), lambda: advanced.append(1))
            one = compute(alone, draws_of(max_boxes))
            assert (every.values[20] == one.values[0]).all()
            assert (every.std_error[20] == one.std_error[0]).all()
    assert len(advanced) == 4 * 40


def test_rows_that_are_equal_have_values_of_zero():
    game = game_of(3)
    same = FunctionGame(game.predict, 1, 3, game.term_of, game.rows[[0, 1, 0, 1]], 2)
    found = shares_of_function(same, draws_of(MANY))
    alone = FunctionGame(game.predict, 1, 3, game.term_of, game.rows[[0, 0]], 1)
    assert not shares_of_function(alone, draws_of(MANY)).values.any()
    np.testing.assert_allclose(found.values[0], -found.values[1], atol=1e-12)
