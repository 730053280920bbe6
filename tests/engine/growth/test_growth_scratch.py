"""Scratch that has grown a tree grows the next one as new scratch does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from odrf.engine.growth.tree_builder import grow_one, with_room
from odrf.engine.growth.tree_kernel import ScratchPool, buffers_for
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Sampling, draw_halves
from odrf.engine.trees.forest import ARRAYS
from odrf.engine.trees.routing import leaf_nodes
from odrf.projections.axis import Axis
from odrf.projections.mixture import Mixture, Share
from odrf.projections.patch import Patch
from odrf.projections.regression import ProjectionPursuit
from odrf.projections.sparse import RandomCombination
from problems import noisy, plain, problems

TREES = 3
# eight predictors of four channels
CHANNELS = Patch((1, 2), (1, 1), (1, 2), channels=4)


def growth(problem, sampling, mixture):
    data = problem.X, problem.y, problem.weights, problem.feature_groups
    return *data, sampling, problem.settings.settings, mixture


def bits(arguments, streams, pool=None):
    """The trees of these streams, and where their streams end."""
    grown = []
    for stream in streams:
        state = stream.copy()
        tree = grow_one(*arguments, state, True, pool=pool)
        grown.append(([getattr(tree, name).tobytes() for name in ARRAYS], state.tolist()))
    return grown


def pool_for(problem, mixture):
    return ScratchPool(problem.feature_groups, problem.settings.settings, mixture)


@settings(max_examples=40, deadline=None)
@given(problems(max_rows=72))
def test_used_equipment_changes_no_bit(problem):
    mixture, streams = problem.settings.mixture, problem.streams(TREES)
    for sampling in (problem.sampling, Sampling(BOOTSTRAP, 1.0), Sampling(SUBSAMPLE, 0.5)):
        arguments = growth(problem, sampling, mixture)
        used = pool_for(problem, mixture)
        assert bits(arguments, streams, used) == bits(arguments, streams)


@pytest.mark.parametrize("family", [RandomCombination(), ProjectionPursuit(), CHANNELS])
def test_used_samplers_of_other_families_change_no_bit(family):
    rng = np.random.default_rng(1)
    problem = plain(rng.random((8, 60)), rng.normal(size=60))
    mixture = Mixture((Share(Axis(), 2), Share(family, 4)))
    arguments, streams = growth(problem, problem.sampling, mixture), problem.streams(TREES)
    used = pool_for(problem, mixture)
    assert bits(arguments, streams, used) == bits(arguments, streams)


def test_trees_at_the_same_time_have_equipment_of_their_own():
    problem = noisy(n=60)
    pool = pool_for(problem, problem.settings.mixture)
    first, second = pool.take(60, 60), pool.take(60, 60)
    assert not np.shares_memory(first.scratch.values, second.scratch.values)
    pool.give_back(first)
    assert pool.take(60, 60).scratch.values is first.scratch.values


def test_equipment_for_other_numbers_of_rows_is_new():
    problem = noisy(n=60)
    pool = pool_for(problem, problem.settings.mixture)
    small = pool.take(30, 60)
    pool.give_back(small)
    large = pool.take(30, 90)
    assert len(large.scratch.values) == large.n == 90


@settings(max_examples=40, deadline=None)
@given(problems(max_rows=72))
def test_growth_tells_the_leaf_of_each_row(problem):
    leaf = np.full(len(problem.y), -1, dtype=np.int32)
    state = problem.streams()[0]
    drawn = draw_halves(state.copy(), problem.weights, problem.sampling)[0] > 0
    tree = grow_one(*problem.growth, state, False, leaf=leaf)
    assert (leaf[drawn] == leaf_nodes(tree, problem.X, 1)[drawn, 0]).all()
    assert (leaf[~drawn] == -1).all()


def test_buffers_that_are_longer_than_a_tree_needs_keep_their_length():
    buffers = buffers_for(40, 8, 1)
    found = with_room(buffers, np.array([0, 3, 1, 8]), 4, 20)
    assert len(found.left) == 40 and len(found.column) == 16
    assert with_room(found, np.array([0, 3, 1, 8]), 4, 20) is found
