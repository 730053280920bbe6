"""How a tree is set up: room for its directions, and whether it copies its rows."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings

from odrf.engine.candidates import INDICATORS, LOGISTIC, PLAIN, Blocks
from odrf.engine.forest import Forest
from odrf.engine.growth import grow_one, pays_to_copy, widest_estimate
from problems import CART, noisy, problems


def plain_blocks(P):
    return Blocks(np.arange(P + 1), np.full(P, PLAIN, dtype=np.int8))


def grow(problem, copied):
    state = problem.streams()[0]
    tree = grow_one(
        problem.X, problem.y, problem.weights, problem.blocks, problem.sampling,
        problem.settings, state, copied,
    )  # fmt: skip
    return [getattr(tree, field.name).tobytes() for field in fields(Forest)], state.tolist()


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72))
def test_a_copy_of_the_rows_changes_no_bit_of_a_small_tree(problem):
    assert grow(problem, True) == grow(problem, False)


@pytest.mark.parametrize("tried", [{"n_projections": 4}, {"n_sparse": 4}])
def test_a_copy_of_the_rows_changes_no_bit_of_a_binned_tree(tried):
    problem = noisy(n=1500, family=LOGISTIC, n_singles=0, exact_rows=16, **tried)
    assert grow(problem, True) == grow(problem, False)


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72))
def test_no_direction_is_wider_than_the_room_made_for_it(problem):
    widths = np.diff(problem.grow(2).start)
    most = widest_estimate(problem.blocks, problem.settings, len(problem.y))
    assert widths.max() <= (len(problem.X) if problem.settings.n_sparse else most)


def test_the_room_for_a_direction():
    blocks = Blocks(np.array([0, 1, 5, 6, 9]), np.array([PLAIN, INDICATORS] * 2, dtype=np.int8))
    some = CART._replace(family=LOGISTIC, n_projections=1)
    assert widest_estimate(blocks, CART, 1000) == 4
    assert widest_estimate(blocks, some._replace(subset_size=2), 1000) == 7
    assert widest_estimate(blocks, some, 1000) == 9
    assert widest_estimate(blocks, some, 5) == 7


def test_rows_are_copied_where_a_node_looks_at_much_of_them():
    some = CART._replace(family=LOGISTIC, n_projections=5)
    assert pays_to_copy(20, plain_blocks(20), some._replace(n_singles=20), 1000)
    assert not pays_to_copy(5000, plain_blocks(5000), some._replace(n_singles=60), 1000)
    assert not pays_to_copy(300, plain_blocks(300), CART._replace(n_singles=18), 1000)
