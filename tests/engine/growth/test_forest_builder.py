"""How a tree is set up: room for its directions, and whether it copies its rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from odrf.engine.directions.candidates import INDICATORS, PLAIN, FeatureGroups
from odrf.engine.growth.forest_builder import pays_to_copy
from odrf.engine.growth.tree_builder import grow_one
from odrf.engine.trees.forest import ARRAYS
from odrf.projections.regression import LOGISTIC
from problems import CART, noisy, problems


def plain_groups(P):
    return FeatureGroups(np.arange(P + 1), np.full(P, PLAIN, dtype=np.int8))


def grow(problem, copied):
    state = problem.streams()[0]
    tree = grow_one(*problem.growth, state, copied)
    return [getattr(tree, name).tobytes() for name in ARRAYS], state.tolist()


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72))
def test_a_copy_of_the_rows_changes_no_bit_of_a_small_tree(problem):
    assert grow(problem, True) == grow(problem, False)


def test_numbers_of_children_and_of_terms_have_32_bits_whatever_the_version_of_numpy():
    problem = noisy(n=40)
    tree = grow_one(*problem.growth, problem.streams()[0], False)
    for trees in tree, problem.grow(2), problem.grow(2).tree(1), tree.keeping(tree.order == 1):
        assert trees.left.dtype == trees.start.dtype == np.int32


@pytest.mark.parametrize("tried", [{"n_projections": 4}, {"n_sparse": 4}])
def test_a_copy_of_the_rows_changes_no_bit_of_a_binned_tree(tried):
    problem = noisy(n=1500, family=LOGISTIC, n_singles=0, exact_rows=16, **tried)
    assert grow(problem, True) == grow(problem, False)


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72))
def test_no_direction_is_wider_than_the_room_made_for_it(problem):
    widths = np.diff(problem.grow(2).start)
    recipe = problem.settings
    assert widths.max() <= recipe.mixture.widest(
        problem.feature_groups, recipe.settings, len(problem.y)
    )


def widest(feature_groups, recipe, n):
    return recipe.mixture.widest(feature_groups, recipe.settings, n)


def test_the_room_for_a_direction():
    feature_groups = FeatureGroups(
        np.array([0, 1, 5, 6, 9]), np.array([PLAIN, INDICATORS] * 2, dtype=np.int8)
    )
    some = CART._replace(family=LOGISTIC, n_projections=1)
    assert widest(feature_groups, CART, 1000) == 4
    assert widest(feature_groups, some._replace(subset_size=2), 1000) == 7
    assert widest(feature_groups, some, 1000) == 9
    assert widest(feature_groups, some, 5) == 7
    assert widest(feature_groups, CART._replace(n_sparse=1), 5) == 9


def is_copied(P, recipe):
    columns_read = recipe.mixture.columns_read(plain_groups(P), recipe.settings, 1000)
    return pays_to_copy(P, columns_read)


def test_rows_are_copied_where_a_node_reads_many_columns():
    some = CART._replace(family=LOGISTIC, n_projections=5)
    assert is_copied(20, some._replace(n_singles=20))
    assert not is_copied(5000, some._replace(n_singles=60))
    assert not is_copied(300, CART._replace(n_singles=18))
