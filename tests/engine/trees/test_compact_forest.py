"""Compact forests: what they keep is what the forest has, leaf values rounded."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine import memory
from odrf.engine.trees.appended import AppendedArray
from odrf.engine.trees.compact_forest import CompactJoining, compact_forest_of
from odrf.engine.trees.distinct_values import DistinctValues
from odrf.engine.trees.record_soundness import records_are_sound
from odrf.engine.trees.routing import leaf_nodes, predict, value_places
from odrf.errors import InputError
from problems import noisy, problems
from reference.compacting import distinct, rounded
from reference.forests import leaf

NO_LEVELS = np.empty(0, np.int32)


def compact(forest, X, bits=32):
    values = forest.value[forest.is_leaf()]
    span = float(values.min()), float(values.max())
    K = forest.value.shape[1]
    return compact_forest_of([forest], X, K, bool(forest.ordered), bits, span), span


@settings(max_examples=40)
@given(problems(), st.sampled_from([32, 16]), st.data())
def test_each_row_finds_the_rounded_value_of_its_leaf(problem, bits, data):
    forest = problem.grow(3)
    kept = data.draw(st.lists(st.booleans(), min_size=forest.n_nodes, max_size=forest.n_nodes))
    for trees in (forest, forest.keeping(np.array(kept))):
        small, (low, high) = compact(trees, problem.X, bits)
        places = value_places(small, problem.X, 1)
        for x, place in zip(problem.X.T, places, strict=True):
            for b in range(3):
                tolerance = 1e-6 * max(1.0, abs(low), abs(high))
                for v, kept in zip(
                    trees.value[leaf(trees, b, x)], small.value[place[b]], strict=True
                ):
                    # Between two steps at the same distance, either one is the nearest.
                    error = abs(rounded(float(v), bits, low, high) - v)
                    assert abs(kept - v) == pytest.approx(error, abs=tolerance)
                    assert rounded(float(kept), bits, low, high) == pytest.approx(
                        kept, abs=tolerance
                    )
        assert small.leaves().tolist() == trees.leaves().tolist()
        mean = small.value[places].astype(float).mean(axis=1)
        assert predict(small, problem.X, 1) == pytest.approx(mean)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1 / 3, 1.0]), st.integers(0, 2)), min_size=1))
def test_each_value_is_kept_once_whatever_the_order(rows):
    values = DistinctValues(2, 32, (0.0, 2.0))
    numbers = np.concatenate([values.numbers_of(np.array([row], dtype=float)) for row in rows])
    table = values.table()
    assert len(table) == distinct(rows)
    assert (table[numbers] == np.array(rows, dtype=np.float32)).all()
    assert values.count == 2 * len(rows)
    assert 0 <= values.total <= values.count * values.largest <= values.count * 1e-7


def test_what_was_lost_is_told():
    values = DistinctValues(1, 16, (0.0, 65535.0))
    values.numbers_of(np.array([[0.25], [7.0], [65535.0]]))
    assert (values.largest, values.total, values.count) == (0.25, 0.25, 3)
    assert values.table()[:, 0].tolist() == [0.0, 7.0, 65535.0]


@pytest.mark.parametrize("unit", [1e45, -1e45, 1e-50])
def test_values_beyond_32_bits_are_refused(unit):
    problem = noisy(n=40)
    trees = problem.grow(2)
    trees = replace(trees, value=trees.value * unit)
    with pytest.raises(InputError, match="keep values of leaves in 32 bits"):
        compact(trees, problem.X)
    none, _ = compact(replace(trees, value=trees.value * 0.0), problem.X)
    assert (predict(none, problem.X, 1) == 0.0).all()


def test_an_array_grows_by_what_is_appended():
    rng = np.random.default_rng(0)
    parts = [rng.random((k, 2)) for k in (0, 3, 5000, 1, 9000)]
    array = AppendedArray(np.empty((0, 2)))
    for part in parts:
        array.append(part)
    assert len(array) == 14_004
    assert (array.taken() == np.concatenate(parts)).all()


def test_trees_one_by_one_are_the_forest_as_a_whole():
    problem = noisy(150)
    forest = problem.grow(6)
    whole, span = compact(forest, problem.X)
    joining = CompactJoining(problem.X, forest.value.shape[1], bool(forest.ordered), 32, span)
    single = joining.join((forest.tree(b) for b in range(6)), 6)
    assert (predict(single, problem.X, 1) == predict(whole, problem.X, 1)).all()
    assert single.leaves().tolist() == whole.leaves().tolist()
    records = sum(joining.size(forest.tree(b)) for b in range(6))
    assert records == single.words.nbytes == whole.words.nbytes
    assert single.n_nodes == forest.n_nodes
    assert single.nbytes < forest.nbytes / 2


def test_it_is_refused_when_the_first_trees_show_that_all_do_not_fit(monkeypatch):
    problem = noisy(150)
    forest = problem.grow(2)
    joining = CompactJoining(problem.X, forest.value.shape[1], False, 32, (-9.0, 9.0))
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 3 * joining.size(forest.tree(0)))
    with pytest.raises(MemoryError, match="500 trees like the first would take"):
        joining.join((forest.tree(b) for b in range(2)), 500)


def test_nodes_are_refused_by_what_needs_them():
    problem = noisy(150)
    small, _ = compact(problem.grow(2), problem.X)
    for ask in (
        lambda: small.left,
        lambda: small.depth(),
        lambda: small.tree(0),
        lambda: leaf_nodes(small, problem.X, 1),
        lambda: small.packed_for(np.concatenate([problem.X, problem.X])),
    ):
        with pytest.raises(InputError, match=r"compact\(\) has kept only what predicts"):
            ask()
    with pytest.raises(AttributeError, match="no attribute 'leaft'"):
        _ = small.leaft
    again = pickle.loads(pickle.dumps(small))
    assert (predict(again, problem.X, 1) == predict(small, problem.X, 1)).all()
    assert np.shares_memory(again.packed.words, again.packed.floats)


def test_records_that_cannot_be_walked_are_found():
    """Every change of a head or a column beyond its bounds is seen."""
    problem = noisy(150)
    small, _ = compact(problem.grow(2), problem.X)
    p, U = len(problem.X), len(small.value)

    def sound(at=small.at, words=small.words, values=U):
        return records_are_sound(at, words, NO_LEVELS, values, p, p)

    assert sound()
    assert not sound(values=int(max(-1 - word for word in small.words)))
    assert not sound(at=small.at + 1)
    assert not sound(at=np.array([-1 - U]))
    assert not sound(words=small.words[:-1])
    for at, wrong in [
        (0, 0),
        (0, 1),
        (0, len(small.words)),
        (1, -1 - U),
        (3, -1),
        (3, 10**6),
        (4, p),
        (4, -2),
    ]:
        words = small.words.copy()
        words[at] = wrong
        assert not sound(words=words), (at, wrong)
