"""Trees that rows come to, and leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from forests import same_bits
from odrf.engine.growth.tree_growth import read_by_growth
from odrf.engine.trees.routing import predict
from odrf.engine.updatable.arrivals import Arrival, GrowthOptions
from odrf.engine.updatable.plain_tree import forest_of
from odrf.engine.updatable.updatable_arrays import UpdatableCells, add_leaf_values
from odrf.engine.updatable.updatable_tree import UpdatableTree
from problems import EVERY_ROW, noisy, problems
from reference.honesty import filled


def updatable(problem, n, counts):
    """The tree that n rows have grown, updatable for those that it drew, and the cells of all."""
    settings = problem.settings
    first = replace(
        problem, X=problem.X[:, :n].copy(), y=problem.y[:n], weights=problem.weights[:n]
    )
    tree = first.grow()
    array, factors = read_by_growth(problem.X, problem.feature_groups, settings.mixture)
    cells = UpdatableCells(
        np.ascontiguousarray(array), *factors, problem.y, problem.weights.astype(np.float64)
    )
    criterion = settings.criterion
    arrays = UpdatableTree(tree, tree.count, cells, counts[:n], problem.streams()[0], criterion)
    options = GrowthOptions(problem.feature_groups, settings.settings, settings.mixture, 0)
    return arrays, cells, options, bool(tree.ordered)


@st.composite
def streams_of_rows(draw):
    """A problem, how many rows come first, and which come and go in each update."""
    problem = replace(draw(problems(max_rows=72)), sampling=EVERY_ROW)
    n_all = len(problem.y)
    assume(n_all > 4 and (problem.weights > 0).sum() > 2)
    n = draw(st.integers(max(2, int(np.flatnonzero(problem.weights > 0)[1]) + 1), n_all))
    ends = sorted(draw(st.lists(st.integers(n, n_all), max_size=4)))
    leaving = [draw(st.sets(st.integers(0, end - 1), max_size=end // 2)) for end in ends]
    return problem, n, ends, leaving


@settings(max_examples=120, deadline=None)
@given(streams_of_rows(), st.sampled_from([0, 20, 1000]))
def test_nodes_say_what_their_rows_say(drawn, revised):
    problem, n, ends, leaving = drawn
    options = problem.settings
    counts = (problem.weights > 0).astype(np.int64)
    here = np.arange(len(problem.y)) < n
    tree, cells, growth, ordered = updatable(problem, n, counts)
    growth = growth._replace(revised=revised)
    before, since = forest_of(tree.copied(tree.used, tree.terms, []), ordered)
    for number, (end, gone) in enumerate(zip(ends, leaving, strict=True), 1):
        size, begin = (tree.used, tree.terms), n
        left = np.array(sorted(row for row in gone if here[row]), dtype=np.int64)
        if not (counts * here).sum() - counts[left].sum() > 0:
            left = left[:0]
        arrival = Arrival(number, cells, np.arange(begin, end), left, int(here.sum()))
        tree.undo = []
        changed = tree.updated(arrival, counts[begin:end], growth)
        here[begin:end], here[left], n = True, False, end
        again, before_split = forest_of(tree.copied(*size, [tree.undo]), ordered)
        assert same_bits(again, before) and before_split.tolist() == since.tolist()
        now, since = forest_of(tree.copied(tree.used, tree.terms, []), ordered)
        require_numbers_of(now, problem, counts * here)
        assert changed.leaves == tree.n_leaves == (now.left < 0).sum()
        assert changed.depth == now.depth().max()
        assert changed.leaves_before == (before.left < 0).sum()
        if now.n_nodes > 1:
            assert now.count[now.left < 0].min() >= options.min_leaf
        splits = np.flatnonzero(now.left >= 0)
        assert sorted(now.order[splits].tolist()) == list(range(1, len(splits) + 1))
        before = now
    out = np.zeros((len(problem.y), options.n_classes))
    add_leaf_values(tree.arrays, cells, np.arange(len(problem.y)), out)
    assert out.tolist() == predict(before, problem.X, 1).tolist()


def require_numbers_of(tree, problem, counts):
    """The numbers of the nodes are those of the rows that reach them."""
    options = problem.settings
    expected = filled(
        tree, problem.X, problem.y, problem.weights, counts, options.criterion, options.n_classes
    )
    nodes = [expected[i] for i in range(tree.n_nodes)]
    assert tree.count.tolist() == [node.count for node in nodes]
    for name in ("weight", "value", "impurity"):
        values = [getattr(node, name) for node in nodes]
        np.testing.assert_allclose(getattr(tree, name), values, rtol=1e-9, atol=1e-12)
    splits = tree.left >= 0
    gains = np.array([node.gain for node in nodes])
    np.testing.assert_allclose(tree.gain[splits], gains[splits], rtol=1e-7, atol=1e-11)


def test_room_is_made_as_rows_and_nodes_come():
    problem = noisy(n=900, n_singles=5, min_leaf=2)
    counts = np.ones(900, dtype=np.int64)
    tree, cells, growth, _ = updatable(problem, 20, counts)
    narrow = UpdatableCells(
        cells.X[:, :20].copy(), cells.codes, cells.place, cells.level, cells.y[:20],
        cells.weights[:20],
    )  # fmt: skip
    one = np.empty(0, dtype=np.int64)
    tree.updated(Arrival(1, narrow, one, one, 20), one, growth)
    rows = np.arange(20, 900)
    changed = tree.updated(Arrival(2, cells, rows, one, 900), counts[20:], growth)
    assert changed.leaves > 100 and tree.arrays.n_rows[0] == 900
    everything = np.arange(100, 900)
    changed = tree.updated(Arrival(3, cells, one, everything, 100), one, growth)
    assert changed.withdrawn > 0 and tree.is_wasteful


def test_counts_that_no_draw_gives_are_counted_again():
    problem = noisy(n=60, n_singles=5)
    counts = 1 + np.arange(60) % 2
    tree, *_ = updatable(problem, 60, counts)
    assert tree.arrays.n_rows[0] == counts.sum()
