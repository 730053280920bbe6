"""The task of a tree: gathered rows are those that it drew, and the tree is the engine's."""

from __future__ import annotations

import pickle
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patsy import EvalEnvironment

import odrf
from odrf.api.calling import requested
from odrf.design import build_design
from odrf.engine.chunks import (
    Gathering,
    HashedDraw,
    Recipe,
    RowBlock,
    draw_keys,
    grown_apart,
    growth_bytes,
)
from odrf.engine.factors import layout_of, stored, with_rows
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.numeric import streams
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.engine.trees.forest import Forest
from odrf.fits.growing import one_kind
from reference.hashed_draws import draws_row

TREES, FRACTION = 3, 0.4


@pytest.fixture(scope="module")
def rows():
    """A table with a factor of many levels, as one block, and the options of its trees."""
    data = odrf.load_data("auto_mpg").dropna().reset_index(drop=True)
    data["place"] = [f"place {i % 9}" for i in range(len(data))]
    design, training = build_design("mpg ~ .", data, env=EvalEnvironment.capture())
    options = {**odrf.odrf.__wrapped__.__kwdefaults__, "seed": 3}
    request = requested(odrf.odrf, options, {"blend": False})
    control = one_kind(request, design, training)
    numbers = np.arange(training.n_rows, dtype=np.uint64)
    block = RowBlock(numbers, training.X, training.y, training.weights)
    return block, Recipe(design.feature_groups, control.settings, control.mixture, False)


def cut(block: RowBlock, ends: list[int]) -> list[RowBlock]:
    return [
        RowBlock(
            block.numbers[a:b], with_rows(block.X, slice(a, b)), block.y[a:b], block.weights[a:b]
        )
        for a, b in pairwise(ends)
    ]


def equal(one: Forest, other: Forest) -> bool:
    names = [field.name for field in fields(Forest) if field.name != "surrogates"]
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f") for a, b in pairs)


@settings(max_examples=10)
@given(cuts=st.lists(st.integers(0, 392), max_size=4), n_jobs=st.integers(1, 2))
def test_gathered_rows_are_those_drawn(rows, cuts, n_jobs):
    block, _ = rows
    draw = HashedDraw(draw_keys(5, 0, TREES), FRACTION)
    gathering = Gathering(draw, n_jobs)
    for part in cut(block, [0, *sorted(cuts), len(block.y)]):
        gathering.add(part)
    for t, key in enumerate(draw.keys.tolist()):
        drawn = [draws_row(key, number, FRACTION) for number in block.numbers.tolist()]
        assert gathering.n_rows(t) == sum(drawn)
        found = gathering.take(t)
        assert np.array_equal(stored(found.X), stored(block.X)[:, drawn])
        assert layout_of(found.X) == layout_of(block.X)
        assert np.array_equal(found.y, block.y[drawn])
        assert np.array_equal(found.weights, block.weights[drawn])
        assert gathering.n_rows(t) == 0


def test_the_tree_is_that_of_the_engine_on_these_rows_wherever_it_grows(rows):
    block, recipe = rows
    gathering = Gathering(HashedDraw(draw_keys(5, 0, 1), FRACTION), 1)
    gathering.add(block)
    drawn, stream = gathering.take(0), streams(3, 0, 1)
    tree = grown_apart(drawn, recipe, stream[0])
    sampling = Sampling(ALL_ROWS, 1.0)
    forest = grow_forest(
        drawn.X, drawn.y, drawn.weights, recipe.feature_groups, sampling, recipe.settings,
        recipe.mixture, stream, 1, lambda: None,
    )  # fmt: skip
    assert equal(tree, forest)
    task = pickle.loads(pickle.dumps((drawn, recipe, stream[0])))
    assert equal(grown_apart(*task, abreast=2), tree)
    assert tree.count[0] == len(drawn.y)


def test_growth_takes_more_with_more_rows_columns_and_classes():
    least = growth_bytes(1000, 10, 1)
    assert growth_bytes(2000, 10, 1) == 2 * least
    assert growth_bytes(1000, 20, 1) > least
    assert growth_bytes(1000, 10, 3) > least
