"""Growth of trees with surrogates: how splits are scored, and where rows go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.directions.candidates import INDICATORS, PLAIN, FeatureGroups
from odrf.engine.directions.estimation import RIDGE
from odrf.engine.factors import EncodedColumns, Layout
from odrf.engine.growth.forest_builder import pays_to_copy
from odrf.engine.growth.tree_kernel import grow_tree
from odrf.engine.resamples import (
    ALL_ROWS,
    BOOTSTRAP,
    SUBSAMPLE,
    Sampling,
    draw_counts,
    estimation_counts,
)
from odrf.engine.splits.impurity import GINI, SQUARED_ERROR
from odrf.engine.splits.splitter import SORTED_TOGETHER
from odrf.engine.splits.surrogates import MOST_SURROGATES
from odrf.engine.trees.forest import ARRAYS, joined
from odrf.engine.trees.routing import leaf_nodes
from odrf.projections.regression import LOGISTIC
from problems import CART, cart, grow_one, noisy, problems
from reference.holes import with_column
from reference.honesty import filled
from reference.randomness import Stream
from reference.randomness import filling_counts as twin_counts
from reference.surrogates import best_known_gain, leaf_by_surrogates, ridge_direction

# Numbers with missing values, one without, and a factor of three levels and one of missing values.
TYPES = np.array([PLAIN, PLAIN, PLAIN, INDICATORS], dtype=np.int8)
GROUPS = FeatureGroups(
    np.array([0, 2, 4, 5, 9]),
    TYPES,
    np.array([True, True, False, False]),
    np.array([False, False, False, True]),
)
ALONE = FeatureGroups(np.array([0, 2]), TYPES[:1], np.array([True]))
# Larger nodes are searched by other code.
MOST_ROWS = SORTED_TOGETHER


def complete(p: int) -> FeatureGroups:
    """Return groups of p numbers, for which the kernel of `ALONE` serves."""
    return FeatureGroups(np.arange(p + 1), np.zeros(p, dtype=np.int8), np.zeros(p, dtype=bool))


def matrix(n: int, seed: int, share: float = 0.3) -> np.ndarray:
    """Return the columns (9, n) of the predictors of `GROUPS`, which predict each other."""
    rng = np.random.default_rng(seed)
    common = rng.random(n)
    numbers = [np.round(common + rng.random(n), 1) / 2 for _ in range(3)]
    for x in numbers[:2]:
        x[rng.random(n) < share] = np.nan
    level = np.where(rng.random(n) < share, 3, (3 * common).astype(int))
    indicators = (level == np.arange(4)[:, None]).astype(np.float32)
    return np.concatenate(
        [*(with_column(x) for x in numbers[:2]), numbers[2][None], indicators]
    ).astype(np.float32)


def response(X: np.ndarray, seed: int) -> np.ndarray:
    return X[0] + X[2] - X[4] + np.random.default_rng(seed).normal(size=X.shape[1]) / 5


@given(
    st.lists(st.sampled_from([np.nan, 0.0, 0.25, 0.5, 1.0]), min_size=4, max_size=40),
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
    st.sampled_from([1, 2, 3]),
)
def test_a_split_is_scored_on_the_rows_with_a_value(x, seed, min_leaf, n_classes):
    x = np.array(x)
    y = np.random.default_rng(seed).integers(0, 5 if n_classes == 1 else n_classes, len(x))
    kind = {"n_classes": n_classes, "criterion": SQUARED_ERROR if n_classes == 1 else GINI}
    options = {"max_leaves": 2, "min_leaf": min_leaf, "surrogates": True, **kind}
    tree = cart(with_column(x), y, ALONE, **options).grow()
    if n_classes > 1:  # the Gini index is the squared error of the indicators of the classes
        y = np.eye(n_classes)[y]
    expected = best_known_gain(x, y, min_leaf)
    assert (tree.left[0] >= 0) == (expected > 1e-9)
    if tree.left[0] >= 0:
        cut, known = tree.threshold[0] / tree.coef[0], ~np.isnan(x)
        sides = [y[known & (x <= cut)], y[known & (x > cut)]]
        remaining = sum(((side - side.mean(axis=0)) ** 2).sum() for side in sides) / len(y)
        total = ((y[known] - y[known].mean(axis=0)) ** 2).sum() / len(y)
        assert total - remaining == pytest.approx(expected, abs=1e-9)
        # no other predictor: missing values go to the larger side
        assert tree.count[1] == (x <= cut).sum() + (~known).sum() * (len(sides[0]) >= len(sides[1]))


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**31),
    st.integers(10, 120),
    st.sampled_from([{}, {"n_projections": 4}, {"n_sparse": 4}, {"exact_rows": 1}]),
    st.booleans(),
)
def test_routing_and_growth_send_rows_as_a_walk_of_one_row(seed, n, options, coded):
    X = matrix(n, seed)
    options = {"max_leaves": 8, "n_singles": 4, "surrogates": True, **options}
    problem = cart(X, response(X, seed), GROUPS, **options)
    tree = problem.grow()
    counts = np.bincount(leaf_nodes(tree, X, 1)[:, 0], minlength=tree.n_nodes)
    assert (counts == tree.count)[tree.is_leaf()].all()
    new = matrix(40, seed + 1, share=0.5)
    new[5:, :4] = 0.0  # rows without any level, as unseen ones are
    routed: object = new
    if coded:
        place, level = np.arange(9, dtype=np.int32), np.zeros(9, dtype=np.int32)
        place[5:], level[5:] = 5, np.arange(1, 5)
        codes = (new[5:] * np.arange(1, 5)[:, None]).sum(axis=0, keepdims=True)
        stored = np.concatenate([new[:5], codes]).astype(np.float32)
        routed = EncodedColumns(stored, Layout(place, level, 5))
    found = leaf_nodes(tree, routed, 1)[:, 0].tolist()
    assert found == [leaf_by_surrogates(tree, row) for row in new.T]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), st.integers(40, MOST_ROWS))
def test_an_oblique_surrogate_is_the_least_squares_direction_of_the_side(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.random((4, n)).astype(np.float32)
    X[2:] = (X[:2] + rng.random((2, n)) / 4).astype(np.float32)
    y = (X[0] + X[1] > 1) * 1.0
    problem = cart(
        X,
        y,
        complete(4),
        max_leaves=2,
        n_singles=0,
        n_projections=40,
        subset_size=2,
        surrogates=True,
    )
    tree = problem.grow()
    splits, used = tree.surrogates, set(tree.index[: tree.start[1]].tolist())
    assert splits.first[1] <= MOST_SURROGATES
    several = [s for s in range(splits.first[1]) if splits.start[s + 1] - splits.start[s] > 1]
    assert len(several) <= 1 and (len(used) > 1 or not several)
    for s in several:
        terms = slice(splits.start[s], splits.start[s + 1])
        columns = splits.column[terms]
        assert not used & set(columns.tolist())
        goes_right = (leaf_nodes(tree, X, 1)[:, 0] == 2) * 1.0
        theta = ridge_direction(X[columns].astype(float), goes_right, np.ones(n), RIDGE)
        np.testing.assert_allclose(splits.coef[terms], theta / np.linalg.norm(theta), atol=1e-4)


def test_trees_with_and_without_surrogates_grow_by_the_same_machine_code():
    X = matrix(MOST_ROWS, 0)
    problem = cart(X, response(X, 0), GROUPS, max_leaves=6, n_singles=4)
    problem.grow()
    compiled = set(getattr(grow_tree, "overloads", ()))
    assert problem.but(surrogates=True).grow().surrogates.first[-1] > 0
    assert set(getattr(grow_tree, "overloads", ())) == compiled


def test_only_so_many_surrogates_are_kept_and_the_best_come_first():
    rng = np.random.default_rng(0)
    x = rng.random(MOST_ROWS)
    X = np.array([x + rng.random(MOST_ROWS) * k / 10 for k in range(9)], dtype=np.float32)
    tree = cart(X, x, complete(9), max_leaves=2, n_singles=9, surrogates=True).grow()
    splits = tree.surrogates
    assert splits.first[1] == MOST_SURROGATES
    assert splits.agree.tolist() == sorted(splits.agree, reverse=True)
    assert tree.index[0] not in splits.column


def test_surrogates_of_nodes_are_taken_and_joined():
    X = matrix(MOST_ROWS, 0)
    problem = cart(X, response(X, 0), GROUPS, max_leaves=6, n_singles=4, surrogates=True)
    tree = problem.grow()
    splits, m = tree.surrogates, tree.n_nodes
    parts = [splits.of_nodes(np.array([i])) for i in range(m)]
    again = parts[0].followed_by(parts[1:])
    for name in splits._fields[:-1]:
        np.testing.assert_array_equal(getattr(again, name), getattr(splits, name))
    swapped = splits.of_nodes(np.arange(m)[::-1]).of_nodes(np.arange(m)[::-1])
    np.testing.assert_array_equal(swapped.coef, splits.coef)


def test_whole_numbers_have_32_bits_and_all_arrays_count_as_memory():
    X = matrix(MOST_ROWS, 0)
    problem = cart(X, response(X, 0), GROUPS, max_leaves=6, n_singles=4, surrogates=True)
    tree = problem.grow()
    splits = tree.surrogates
    wide = replace(
        tree,
        surrogates=splits._replace(
            first=splits.first.astype(np.int64), start=splits.start.astype(np.int64)
        ),
    )
    for trees in tree, wide, joined([tree, wide], 2), joined([tree, wide], 2).tree(1):
        assert trees.surrogates.first.dtype == trees.surrogates.start.dtype == np.int32
    assert tree.nbytes == replace(tree, surrogates=None).nbytes + splits.nbytes
    assert splits.nbytes == sum(array.nbytes for array in splits if isinstance(array, np.ndarray))


# ------------------------------------------------------------------------------------------------
# Trees whose node values come from rows that had no part in choosing the splits.
# ------------------------------------------------------------------------------------------------

SHAPE = ("root", "left", "threshold", "start", "index", "coef", "order")


def honest(problem):
    return replace(problem, sampling=problem.sampling._replace(honest=True))


def shape(forest):
    return [getattr(forest, name).astype(np.float64).tobytes() for name in SHAPE]


@settings(max_examples=150, deadline=None)
@given(problems(max_rows=72))
def test_node_values_come_from_the_filling_rows_that_reach_them(problem):
    problem = honest(problem)
    options, tree = problem.settings, problem.grow()
    counts = twin_counts(Stream(problem.streams()[0]), problem.weights, problem.sampling)
    expected = filled(
        tree, problem.X, problem.y, problem.weights, counts, options.criterion, options.n_classes
    )
    nodes = [expected[i] for i in range(tree.n_nodes)]
    assert tree.count.tolist() == [node.count for node in nodes]
    np.testing.assert_allclose(tree.weight, [node.weight for node in nodes], rtol=1e-12)
    np.testing.assert_allclose(tree.value, [node.value for node in nodes], rtol=1e-12, atol=1e-14)
    impurities = [node.impurity for node in nodes]
    np.testing.assert_allclose(tree.impurity, impurities, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(tree.gain, [node.gain for node in nodes], rtol=1e-9, atol=1e-12)
    assert (tree.gain >= 0).all()


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72), st.integers(0, 2**32))
def test_responses_of_the_filling_rows_have_no_part_in_the_shape(problem, seed):
    problem = honest(problem)
    filling = estimation_counts(problem.streams()[0], problem.weights, problem.sampling) > 0
    drawn = draw_counts(problem.streams()[0], problem.weights, problem.sampling) > 0
    if drawn.sum() == 1:
        assert filling.tolist() == drawn.tolist()
        return
    other = problem.y.copy()
    other[filling | ~drawn] = np.random.default_rng(seed).permutation(other[filling | ~drawn])
    assert shape(replace(problem, y=other).grow()) == shape(problem.grow())


@settings(max_examples=60, deadline=None)
@given(problems(max_rows=72))
def test_shaping_rows_alone_grow_the_same_shape(problem):
    """With the other rows' weights at 0 and the shaping rows drawn as often."""
    problem = honest(replace(problem, sampling=Sampling(ALL_ROWS, 1.0)))
    state = problem.streams()[0]
    filling = estimation_counts(state, problem.weights, problem.sampling) > 0
    if filling.sum() == (problem.weights > 0).sum():
        return
    alone = replace(
        problem,
        weights=np.where(filling, 0.0, problem.weights),
        sampling=Sampling(ALL_ROWS, 1.0),
    )
    assert shape(grow_one(*alone.growth, state, True)) == shape(problem.grow())


@pytest.mark.parametrize("resample", [ALL_ROWS, BOOTSTRAP, SUBSAMPLE])
def test_halves_are_disjoint_and_make_up_the_draw(resample):
    sampling, weights = Sampling(resample, 0.7, honest=True), np.ones(301)
    filled_by = np.zeros(301)
    for seed in range(200):
        state = noisy(n=2).streams()[0] + np.uint64(seed)
        drawn = draw_counts(state.copy(), weights, sampling)
        filling = estimation_counts(state.copy(), weights, sampling)
        assert ((filling == drawn) | (filling == 0)).all()
        assert (filling > 0).sum() == (drawn > 0).sum() // 2
        filled_by += filling > 0
    share = {ALL_ROWS: 150 / 301, BOOTSTRAP: (1 - np.exp(-0.7)) / 2, SUBSAMPLE: 0.35}[resample]
    assert filled_by.mean() / 200 == pytest.approx(share, abs=0.01)
    assert filled_by.std() < 3 * np.sqrt(200 * share * (1 - share))


def test_a_copy_of_the_rows_changes_no_bit():
    problem = honest(replace(noisy(n=300, n_projections=3), sampling=Sampling(BOOTSTRAP, 1.0)))
    state = problem.streams()[0]
    one, other = (grow_one(*problem.growth, state.copy(), copied) for copied in (False, True))
    for name in ARRAYS:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def test_noise_gains_nothing_on_rows_that_did_not_choose_it():
    """Splits of pure noise lower the impurity of the rows that chose them by a fifth, say."""
    rng = np.random.default_rng(5)
    problem = replace(noisy(n=400, n_singles=5), y=rng.normal(size=400))
    problem = replace(problem.but(max_leaves=8, min_leaf=10), sampling=Sampling(ALL_ROWS, 1.0))
    removed = {}
    for name, some in {"plain": problem, "honest": honest(problem)}.items():
        forest = some.grow(30)
        root = forest.root[:-1]
        owned = np.add.reduceat(forest.weight * forest.gain, root) / forest.weight[root]
        removed[name] = np.mean(owned / forest.impurity[root])
    # seven splits of 200 rows take 7/200 of the variance by chance
    assert removed["honest"] < 2 * 7 / 200 < removed["plain"]


# ------------------------------------------------------------------------------------------------
# How a tree is set up: room for its directions, and whether it copies its rows.
# ------------------------------------------------------------------------------------------------


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
    assert widths.max() <= widest(problem.feature_groups, recipe, len(problem.y))


def widest(feature_groups, recipe, n):
    return recipe.mixture.widest(feature_groups, recipe.settings, n)[0]


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
