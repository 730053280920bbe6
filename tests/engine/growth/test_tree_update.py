"""Grown trees updated with new rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from forests import same_bits
from odrf.engine.growth import tree_update
from odrf.engine.growth.tree_builder import read_by_growth
from odrf.engine.growth.tree_update import GROWN, Update, update_trees
from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, SUBSAMPLE, Batch, Sampling
from odrf.engine.trees.forest import compacted
from odrf.engine.trees.routing import predict
from odrf.projections.mixture import Mixture, Share
from odrf.projections.rotation import PrincipalComponents, Rotation
from problems import EVERY_ROW, MANY_ROWS, noisy, plain, problems
from reference.honesty import filled
from reference.randomness import Stream, draw_halves
from reference.updating import missed_gains, rows_of_leaves

FIELDS = ("count", "weight", "value", "impurity")


def first_part(problem, n):
    """The problem of the first n rows."""
    return replace(problem, X=problem.X[:, :n].copy(), y=problem.y[:n], weights=problem.weights[:n])


def updated(problem, trees, n, most_before=MANY_ROWS, revised=0, mixture=None, n_jobs=1):
    """Trees of the first n rows, each with its nodes' rows, updated by the others."""
    sampling = problem.sampling
    later = sampling.later or (Batch(n, sampling.fraction),)
    mixture = mixture or problem.settings.mixture
    update = Update(
        *read_by_growth(problem.X, problem.feature_groups, mixture), problem.y, problem.weights,
        problem.feature_groups, sampling._replace(later=later), problem.settings.settings, mixture,
        most_before, revised,
    )  # fmt: skip
    return list(update_trees(trees, update, problem.streams(len(trees)), n_jobs, lambda: None))


def grown(problem, n, n_trees=1, mixture=None):
    """Trees of the first n rows, each with its nodes' rows."""
    settings = problem.settings
    first = first_part(problem, n)
    if mixture is not None:
        first = replace(first, settings=GivenMixture(settings.settings, mixture))
    forest = first.grow(n_trees)
    trees = [forest.tree(b) for b in range(n_trees)]
    return [(tree, tree.count) for tree in trees]


class GivenMixture:
    """Settings, and another sampler mixture."""

    def __init__(self, settings, mixture):
        self.settings, self.mixture = settings, mixture


BOTH = st.booleans()


@st.composite
def halves(draw, honest=BOTH):
    """A problem, and how many of its rows come first: some that count."""
    problem = draw(problems(max_rows=72))
    assume(len(problem.y) > 1)
    least = int(np.argmax(problem.weights > 0)) + 1
    sampling = problem.sampling._replace(honest=draw(honest))
    return replace(problem, sampling=sampling), draw(st.integers(least, len(problem.y)))


def require_node_values(tree, problem, n, sampling):
    """The values of the nodes are those of the rows that reach them."""
    options = problem.settings
    draws = sampling._replace(later=(Batch(n, sampling.fraction),))
    shaping, filling = draw_halves(Stream(problem.streams()[0]), problem.weights, draws)
    expected = filled(
        tree, problem.X, problem.y, problem.weights, filling, options.criterion, options.n_classes
    )
    nodes = [expected[i] for i in range(tree.n_nodes)]
    assert tree.count.tolist() == [node.count for node in nodes]
    for name in FIELDS[1:]:
        values = [getattr(node, name) for node in nodes]
        np.testing.assert_allclose(getattr(tree, name), values, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(tree.gain, [node.gain for node in nodes], rtol=1e-9, atol=1e-12)
    return shaping


def require_valid_growth(tree):
    """Splits have the ranks 1, 2, …, no split before the one above it."""
    splits = np.flatnonzero(tree.left >= 0)
    assert sorted(tree.order[splits].tolist()) == list(range(1, len(splits) + 1))
    assert (tree.order[tree.left < 0] == 0).all()
    for child in (tree.left[splits], tree.left[splits] + 1):
        assert (child > splits).all()
        below = tree.left[child] >= 0
        assert (tree.order[child[below]] > tree.order[splits[below]]).all()


@settings(max_examples=150, deadline=None)
@given(halves())
def test_node_values_come_from_all_rows_and_splits_stay(halved):
    problem, n = halved
    [(first, n_at_split)] = grown(problem, n)
    [now] = updated(problem, [(first, n_at_split)], n)
    tree, m = now.tree, first.n_nodes
    shaping = require_node_values(tree, problem, n, problem.sampling)
    require_valid_growth(tree)
    splits = first.left >= 0
    assert tree.left[:m][splits].tolist() == first.left[splits].tolist()
    assert tree.threshold[:m][splits].tolist() == first.threshold[splits].tolist()
    assert tree.order[:m][splits].tolist() == first.order[splits].tolist()
    terms = np.repeat(
        np.concatenate([splits, np.zeros(tree.n_nodes - m, bool)]), np.diff(tree.start)
    )
    assert tree.index[terms].tolist() == first.index.tolist()
    assert tree.coef[terms].tobytes() == first.coef.tobytes()
    options = problem.settings
    assert now.leaves <= max(options.max_leaves, now.leaves_before)
    assert now.depth <= max(options.max_depth, now.depth_before)
    sizes = rows_of_leaves(tree, problem.X, shaping)
    fresh = [node for node in sizes if node >= m]
    assert all(sizes[node] >= options.min_leaf for node in fresh)
    assert now.leaves == len(sizes) and now.withdrawn == 0
    assert now.drawn == shaping[n:].sum() or problem.sampling.honest
    assert (len(now.n_at_split), now.leaves_before) == (tree.n_nodes, (first.left < 0).sum())


@settings(max_examples=80, deadline=None)
@given(halves(honest=st.just(False)))
def test_leaves_with_new_rows_are_split_as_well_as_can_be(halved):
    problem, n = halved
    options = problem.settings
    single = plain(problem.X, problem.y, problem.weights, n_classes=options.n_classes)
    single = replace(single, sampling=problem.sampling, seed=problem.seed)
    single = single.but(criterion=options.criterion, min_leaf=options.min_leaf)
    [(first, n_at_split)] = grown(single, n)
    [now] = updated(single, [(first, n_at_split)], n)
    draws = problem.sampling._replace(later=(Batch(n, problem.sampling.fraction),))
    counts, _ = draw_halves(Stream(problem.streams()[0]), problem.weights, draws)
    for missed in missed_gains(now.tree, single, counts, n, since=int(first.order.max()) + 1):
        assert missed <= 1e-9


def updated_twice(few, problem, n, between, revised):
    """A tree that two batches have updated, both as batches of few rows, or neither."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_update, "FEW", 0 if few else 10**9)
        trees, fraction = grown(problem, n), problem.sampling.fraction
        [once] = updated(first_part(problem, between), trees, n, revised=revised)
        later = problem.sampling._replace(later=(Batch(n, fraction), Batch(between, fraction)))
        both = replace(problem, sampling=later)
        return updated(both, [(once.tree, once.n_at_split)], n, revised=revised)[0]


@settings(max_examples=100, deadline=None)
@given(halves(honest=st.just(False)), st.integers(0, 2**32 - 1), st.sampled_from([0, 20, 1000]))
def test_few_new_rows_change_the_same_splits(halved, place, revised):
    problem, n = halved
    between = n + place % (len(problem.y) - n + 1)
    few, anew = (updated_twice(each, problem, n, between, revised) for each in (True, False))
    for name in ("left", "threshold", "start", "index", "coef", "order", "count"):
        assert getattr(few.tree, name).tobytes() == getattr(anew.tree, name).tobytes(), name
    for name in ("weight", "value", "impurity", "gain"):
        one, other = getattr(few.tree, name), getattr(anew.tree, name)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=name)
    assert few.n_at_split.tolist() == anew.n_at_split.tolist()
    assert few[2:] == anew[2:]


@pytest.mark.parametrize("few", [0, 10**9])
def test_splits_that_no_new_row_reaches_stay(few, monkeypatch):
    """Nothing would search for another split there."""
    monkeypatch.setattr(tree_update, "FEW", few)
    problem = noisy(n=200, n_singles=5)
    [(tree, n_at_split)] = grown(problem, 150)
    column = tree.index[tree.start[0]]
    problem.X[column, 150:] = problem.X[column].max()  # all go to the right of the root
    n_at_split = np.ones_like(n_at_split)
    n_at_split[0] = 150
    [now] = updated(problem, [(tree, n_at_split)], 150, revised=1000)
    assert now.withdrawn > 0
    sides = [[tree.left[0]], [now.tree.left[0]]]
    for side, whole in zip(sides, (tree, now.tree), strict=True):
        for node in side:
            side += [whole.left[node], whole.left[node] + 1] if whole.left[node] >= 0 else []
    before, after = (
        sorted(whole.threshold[side]) for side, whole in zip(sides, (tree, now.tree), strict=True)
    )
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("resample", [ALL_ROWS, BOOTSTRAP, SUBSAMPLE])
def test_rows_without_weight_change_no_bit(resample):
    problem = replace(noisy(n=90, n_projections=2), sampling=Sampling(resample, 0.7))
    problem.weights[60:] = 0.0
    trees = grown(problem, 60, 3)
    for (before, _), now in zip(trees, updated(problem, trees, 60), strict=True):
        assert same_bits(now.tree, before)
        assert (now.drawn, now.revisited, now.split) == (0, 0, 0)


def test_threads_change_no_bit():
    problem = replace(noisy(n=200, n_projections=2), sampling=Sampling(BOOTSTRAP, 1.0, True))
    trees = grown(problem, 110, 6)
    one, three = (updated(problem, trees, 110, n_jobs=jobs) for jobs in (1, 3))
    assert all(same_bits(a.tree, b.tree) for a, b in zip(one, three, strict=True))


def test_a_tree_that_t_n_stopped_continues_where_it_stopped():
    problem = noisy(n=150, n_singles=5, min_leaf=3)
    problem.weights[100:] = 0.0
    at_once = first_part(problem, 100).but(max_leaves=14).grow()
    trees = grown(problem.but(max_leaves=6), 100)
    [held] = updated(problem.but(max_leaves=6), trees, 100, most_before=6)
    assert same_bits(held.tree, trees[0][0])
    [now] = updated(problem.but(max_leaves=14), trees, 100, most_before=6)
    assert now.split == 6 - (at_once.left[: trees[0][0].n_nodes] < 0).sum()
    for name in ("left", "order", "count", "index"):
        assert getattr(now.tree, name).tolist() == getattr(at_once, name).tolist(), name
    assert now.tree.threshold.tobytes() == at_once.threshold.tobytes()
    np.testing.assert_allclose(now.tree.value, at_once.value, rtol=1e-12)


def doubled(n):
    """Every row comes a second time, all with the first half as they were."""
    problem = noisy(n=n, n_singles=5, min_leaf=12)
    twice = {name: np.concatenate([getattr(problem, name)] * 2) for name in ("y", "weights")}
    return replace(problem, X=np.concatenate([problem.X] * 2, axis=1), **twice)


def test_splits_of_few_rows_are_searched_anew_where_rows_have_doubled():
    problem = doubled(240)
    trees = grown(problem, 240)
    [(first, _)] = trees
    at_once = problem.grow()
    [now] = updated(problem, trees, 240, revised=1000)
    assert now.withdrawn == first.order.max()
    assert now.tree.left.tolist() == at_once.left.tolist()
    assert now.tree.threshold.tobytes() == at_once.threshold.tobytes()
    [now] = updated(problem, trees, 240, revised=60)
    splits = first.left >= 0
    assert now.withdrawn == (splits & (first.count < 60)).sum() > 0
    kept = sorted(first.threshold[splits & (first.count >= 60)].tolist())
    stayed = now.n_at_split < now.tree.count
    assert sorted(now.tree.threshold[stayed & (now.tree.left >= 0)].tolist()) == kept
    require_valid_growth(now.tree)
    require_node_values(now.tree, problem, 240, EVERY_ROW)


def test_splits_wait_until_their_rows_have_grown_by_half():
    problem = doubled(120)
    some = int((GROWN - 1.01) * 120)
    problem = first_part(problem, 120 + some)
    trees = grown(problem, 120)
    root, n_at_split = trees[0][0].left[0], np.array(trees[0][1])
    [now] = updated(problem, trees, 120, revised=1000)
    assert now.tree.left[0] == root and now.n_at_split[0] == n_at_split[0] == 120
    problem = replace(problem, sampling=Sampling(ALL_ROWS, 1.0, False, (Batch(120, 1.0),)))
    [again] = updated(problem, [(now.tree, np.full(now.tree.n_nodes, 1))], 120, revised=1000)
    assert again.withdrawn == now.leaves - 1


@pytest.mark.parametrize("family", [Rotation(), PrincipalComponents()])
@settings(max_examples=30, deadline=None)
@given(halves())
def test_a_rotation_goes_on(family, halved):
    problem, n = halved
    mixture = Mixture((Share(family, len(problem.X)),))
    trees = grown(problem, n, mixture=mixture)
    [now] = updated(problem, trees, n, mixture=mixture)
    require_node_values(now.tree, problem, n, problem.sampling)
    splits = np.flatnonzero(now.tree.left >= 0)
    directions = np.zeros((len(splits), len(problem.X)))
    for i, node in enumerate(splits):
        at = slice(*now.tree.start[node : node + 2])
        directions[i, now.tree.index[at]] = now.tree.coef[at]
    angles = np.abs(directions @ directions.T)
    assert (np.minimum(angles, np.abs(1 - angles)) < 1e-5).all()


def test_nodes_under_cuts_go_and_the_others_keep_their_order():
    problem = noisy(n=200, n_projections=2)
    [(tree, n_at_split)] = grown(problem, 150)
    cut = tree.keeping((tree.order % 5 != 3) & (tree.order > 0))
    kept, counts = compacted(cut, n_at_split)
    assert predict(kept, problem.X, 1).tolist() == predict(cut, problem.X, 1).tolist()
    require_valid_growth(kept)
    reachable = cut.depth() >= 0
    assert counts.tolist() == tree.count[reachable].tolist() == kept.count.tolist()
    assert 1 < kept.n_nodes < tree.n_nodes
    assert kept.start[-1] == len(kept.index) == len(kept.coef)
