"""The records that routing reads, decoded back to the nodes of their forest."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from odrf.engine.directions.candidates import INDICATORS, PLAIN, FeatureGroups
from odrf.engine.factors import Layout, indicated, layout_of, stored
from odrf.engine.numeric import streams
from odrf.engine.oob import out_of_bag, permutation_loss
from odrf.engine.resamples import BOOTSTRAP, Draws, Sampling
from odrf.engine.trees import packing
from odrf.engine.trees.forest import ARRAYS, Forest
from odrf.engine.trees.packing import HEAD, coefficient_of, with_level_tables
from odrf.engine.trees.routing import leaf_nodes, leaves_reached, predict, predict_row
from problems import coded, noisy, problems
from reference.forests import leaf


def decoded(packed, at, nodes):
    """Walk down the records from `at`; write (threshold, columns, coefficients) of each node."""
    if at < 0:
        return -1 - at
    left, right, _, size = packed.words[at : at + HEAD].tolist()
    terms = slice(at + HEAD, at + HEAD + 2 * size)
    columns, coef = packed.words[terms][::2].tolist(), packed.floats[terms][1::2].tolist()
    children = tuple(
        decoded(packed, child if child < 0 else at + child, nodes) for child in (left, right)
    )
    nodes.append(((float(packed.floats[at + 2]), columns, coef), children))
    return len(nodes) - 1


def written(forest, node, nodes):
    """The same walk over the arrays of the forest."""
    if forest.left[node] < 0:
        return int(node)
    at = slice(forest.start[node], forest.start[node + 1])
    split = float(forest.threshold[node]), forest.index[at].tolist(), forest.coef[at].tolist()
    left = forest.left[node]
    children = written(forest, left, nodes), written(forest, left + 1, nodes)
    nodes.append((split, children))
    return len(nodes) - 1


@settings(max_examples=60, deadline=None)
@given(problems(), st.data())
def test_records_are_the_nodes_of_the_forest_pruned_or_not(problem, data):
    forest = problem.grow(3)
    kept = data.draw(st.lists(st.booleans(), min_size=forest.n_nodes, max_size=forest.n_nodes))
    for trees in [forest, forest.keeping(np.array(kept))]:
        for b in range(3):
            found, expected = [], []
            assert decoded(trees.packed, int(trees.packed.root[b]), found) == written(
                trees, trees.root[b], expected
            )
            assert found == expected
        reached = [[leaf(trees, b, x) for b in range(3)] for x in problem.X.T]
        assert leaf_nodes(trees, problem.X, 1).tolist() == reached


def test_records_are_made_once_and_not_pickled():
    forest = noisy(n=50).grow(2)
    assert forest.packed is forest.packed
    copy = pickle.loads(pickle.dumps(forest))
    assert "packed" not in vars(copy)
    assert copy.packed.words.tobytes() == forest.packed.words.tobytes()


def narrow(forest):
    """The same forest, its whole numbers of 32 bits."""
    whole = [name for name in ARRAYS if getattr(forest, name).dtype == np.int64]
    return replace(forest, **{name: getattr(forest, name).astype(np.int32) for name in whole})


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(1, 200), st.data())
def test_trees_are_packed_alike_in_any_company(problem, nodes_at_a_time, data):
    forest = problem.grow(5)
    kept = data.draw(st.lists(st.booleans(), min_size=forest.n_nodes, max_size=forest.n_nodes))
    forest = forest.keeping(np.array(kept))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "NODES_AT_A_TIME", nodes_at_a_time)
        some = narrow(forest).packed
    assert some.words.tobytes() == forest.packed.words.tobytes()
    assert some.root.tolist() == forest.packed.root.tolist()
    assert len(some.words) == sum(len(forest.tree(b).packed.words) for b in range(5))


# ------------------------------------------------------------------------------------------------
# Routing by codes of levels: rows end where the indicators of the levels send them, to the bit.
# ------------------------------------------------------------------------------------------------

WIDTHS = [40, 1, 3, 9, 1]
FIRST = np.cumsum([0, *WIDTHS])
TYPES = np.array([INDICATORS, PLAIN, INDICATORS, INDICATORS, PLAIN], dtype=np.int8)
GROUPS = FeatureGroups(FIRST, TYPES)
# the inner nodes of a tree of 7 leaves
LEFT = np.array([1, 3, 5, -1, 7, -1, 9, -1, -1, 11, -1, -1, -1])


def random_forest(rng, n_trees, in_order):
    """Trees whose directions have random columns, in their order or in any."""
    trees, m = [], len(LEFT)
    for b in range(n_trees):
        sizes = np.where(LEFT >= 0, rng.integers(1, FIRST[-1] + 1, m), 0)
        sizes[-1] = 2  # a node that was cut keeps its terms
        columns = [rng.permutation(FIRST[-1])[:size] for size in sizes]
        index = np.concatenate([np.sort(each) if in_order else each for each in columns])
        trees.append((LEFT + m * b * (LEFT >= 0), sizes, index))
    left, sizes, index = (np.concatenate(parts) for parts in zip(*trees, strict=True))
    n_nodes = len(left)
    return Forest(
        root=m * np.arange(n_trees + 1),
        left=left,
        threshold=rng.normal(size=n_nodes).astype(np.float32),
        start=np.concatenate([[0], np.cumsum(sizes)]),
        index=index.astype(np.int32),
        coef=rng.normal(size=len(index)).astype(np.float32),
        value=rng.normal(size=(n_nodes, 1)),
        count=np.ones(n_nodes, dtype=np.int32),
        weight=np.ones(n_nodes),
        impurity=np.ones(n_nodes),
        gain=np.ones(n_nodes),
        order=np.zeros(n_nodes, dtype=np.int32),
        ordered=np.False_,
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32), st.booleans())
def test_rows_end_where_their_indicators_send_them(n, seed, in_order):
    rng = np.random.default_rng(seed)
    X, forest = coded(GROUPS, n, rng), random_forest(rng, 3, in_order)
    array = indicated(X)
    expected = [[leaf(forest, b, x) for b in range(3)] for x in array.T]
    assert leaf_nodes(forest, X, 1).tolist() == expected
    assert leaf_nodes(forest, array, 1).tolist() == expected
    for b in range(3):
        reached = leaves_reached(forest.tree(b), np.ascontiguousarray(stored(X).T), X.layout)
        assert (reached + forest.root[b]).tolist() == [ends[b] for ends in expected]
    means, packed = predict(forest, X, 1), forest.packed_for(X)
    for mean, x in zip(means, stored(X).T, strict=True):
        assert predict_row(packed, forest.value, np.ascontiguousarray(x)) == mean


@pytest.mark.parametrize("n", [5, 300])
def test_out_of_bag_and_permutation_losses_are_those_of_the_indicators(n):
    rng = np.random.default_rng(n)
    X, forest = coded(GROUPS, n, rng), random_forest(rng, 8, True)
    y = rng.normal(size=n)
    draws = Draws(np.ones(n), [Sampling(BOOTSTRAP, 1.0)] * 8, streams(1, 0, 8), 1)
    for one, other in zip(
        [*out_of_bag(forest, X, y, draws), *permutation_loss(forest, X, y, FIRST, draws)],
        [
            *out_of_bag(forest, indicated(X), y, draws),
            *permutation_loss(forest, indicated(X), y, FIRST, draws),
        ],
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_trees_are_packed_once_for_codes_and_once_for_columns():
    X, forest = (
        coded(GROUPS, 5, np.random.default_rng(1)),
        random_forest(np.random.default_rng(2), 2, True),
    )
    assert forest.packed_for(X) is forest.packed_for(X)
    assert forest.packed_for(indicated(X)) is forest.packed
    assert layout_of(indicated(X)) is None


@njit
def looked_up(words, floats, place, levels, out):
    for i in range(len(levels)):
        out[i] = coefficient_of(words, floats, place, levels[i])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(1, 60), min_size=1), min_size=1, max_size=4), st.randoms())
def test_a_table_gives_each_level_its_coefficient_and_0_to_the_others(factors, random):
    p = 60 * len(factors)
    layout = Layout(
        np.repeat(np.arange(len(factors), dtype=np.int32), 60),
        np.tile(np.arange(1, 61, dtype=np.int32), len(factors)),
        0,
    )
    levels = [random.sample(sorted(each), len(each)) for each in factors]
    index = np.concatenate([60 * f + np.array(each) - 1 for f, each in enumerate(levels)])
    coef = np.arange(1.0, len(index) + 1, dtype=np.float32)
    left, start = np.array([1, -1, -1]), np.array([0, *[len(index)] * 3])
    found = with_level_tables(left, start, index.astype(np.int32), coef, layout)
    assert found.start.tolist() == [0, *[len(factors)] * 3]
    assert found.row.tolist() == [-1 - f for f in range(len(factors))]
    expected, out = np.zeros(p, dtype=np.float32), np.empty(62, dtype=np.float32)
    expected[index] = coef
    for f, place in enumerate(found.coef.view(np.int32)):
        looked_up(found.words, found.floats, place, np.arange(62, dtype=np.float32), out)
        assert out.tolist() == [0.0, *expected[60 * f : 60 * f + 60].tolist(), 0.0]


def test_few_of_many_levels_take_little_room():
    """A direction on 3 of 5,000 levels has a table of 3, not of 5,000."""
    layout = Layout(np.zeros(5000, np.int32), np.arange(1, 5001, dtype=np.int32), 0)
    index, coef = np.array([0, 2500, 4999], np.int32), np.ones(3, dtype=np.float32)
    left, start = np.array([1, -1, -1]), np.array([0, 3, 3, 3])
    assert len(with_level_tables(left, start, index, coef, layout).words) == 8
