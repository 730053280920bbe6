"""The records that routing reads, decoded back to the nodes of their forest."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.trees import packing
from odrf.engine.trees.forest import ARRAYS
from odrf.engine.trees.packing import HEAD
from odrf.engine.trees.routing import leaf_nodes
from problems import noisy, problems
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
