"""Sensitivity of rows against its equations, and rows drawn in proportion to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from guided_problems import guided_problems
from odrf.engine.trees.routing import leaf_nodes
from odrf.statistics.sensitivity import (
    as_probability,
    drawing_order,
    leaf_codes,
    mean_sensitivity,
    planes_until,
    regions_divided,
    remaining_impurity,
)
from reference import sensitivity as naive


@st.composite
def forests(draw):
    """Rows in regions of some trees, planes until these were there, classes, and an order."""
    n, n_trees, K = draw(st.integers(1, 12)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    v = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5))
    regions = st.integers(0, len(v) - 1)
    leaves = draw(
        st.lists(st.lists(regions, min_size=n_trees, max_size=n_trees), min_size=n, max_size=n)
    )
    codes = draw(st.lists(st.integers(0, K - 1), min_size=n, max_size=n))
    return leaves, v, codes, K, draw(st.permutations(range(n)))


@given(forests())
@settings(deadline=None)
def test_equations(forest):
    leaves, v, codes, K, order = forest
    found = mean_sensitivity(np.array(leaves), np.array(v), np.array(codes), K, np.array(order))
    np.testing.assert_allclose(found, naive.mean_sensitivity(leaves, v, codes, order), rtol=1e-12)


@pytest.fixture(scope="module")
def fit():
    data = odrf.simulate.pie(classes=3).sample(150, seed=1)
    return odrf.graf("y ~ .", data, n_trees=3, subspace="all", seed=2, n_jobs=1)


def test_planes_until_each_region(fit):
    found = planes_until(fit.guided)
    regions = range(len(fit.guided.left))
    assert found.tolist() == [naive.planes_until(fit.guided, region) for region in regions]
    assert (found[fit.guided.root[:-1]] == 0).all()
    leaf = fit.guided.left < 0
    assert found[leaf].max() == fit.guided.n_planes.max()


def test_planes_are_the_last_that_a_code_has(fit):
    found = planes_until(fit.guided)
    for tree in range(3):
        codes = fit.codes(tree)
        nodes = codes.index.to_numpy() + fit.guided.root[tree]
        assert found[nodes].tolist() == [planes[-1] for planes in codes["planes"]]


def test_each_class_has_the_same_sum_but_for_the_logarithm(fit):
    codes = fit.fit.data.y.astype(int)
    found = mean_sensitivity(
        leaf_nodes(fit.forest, fit.fit.data.X, 1),
        planes_until(fit.guided),
        codes,
        3,
        np.arange(150),
    )
    np.testing.assert_allclose(np.bincount(codes, np.expm1(found)), 1, atol=0.05)


def test_a_tree_without_planes_says_nothing():
    leaves, codes = np.array([[0, 1], [0, 1], [0, 2]]), np.zeros(3, dtype=int)
    both = mean_sensitivity(leaves, np.array([0, 1, 1]), codes, 1, np.arange(3))
    second = mean_sensitivity(leaves[:, 1:], np.array([0, 1, 1]), codes, 1, np.arange(3))
    np.testing.assert_allclose(both, second / 2)
    none = mean_sensitivity(leaves[:, :1], np.array([0]), codes, 1, np.arange(3))
    np.testing.assert_array_equal(none, 0)
    np.testing.assert_allclose(as_probability(none), 1 / 3)


def test_probabilities_are_shares():
    np.testing.assert_allclose(as_probability(np.array([1.0, 0.0, 3.0])), [0.25, 0, 0.75])


def test_rows_are_drawn_one_by_one_in_proportion():
    p, rng = np.array([0.5, 0.3, 0.2, 0.0]), np.random.default_rng(1)
    orders = np.array([drawing_order(p, rng) for _ in range(6000)])
    assert (np.sort(orders) == np.arange(4)).all()
    assert (orders[:, 3] == 3).all()
    np.testing.assert_allclose(np.bincount(orders[:, 0]) / 6000, p[:3], atol=0.03)
    # the second, after the first of the others
    after = orders[orders[:, 0] == 0, 1]
    np.testing.assert_allclose((after == 1).mean(), 0.6, atol=0.04)


# ------------------------------------------------------------------------------------------------
# What planes of guided trees do, computed region by region.
# ------------------------------------------------------------------------------------------------


def parents(guided):
    above = {}
    for region, left in enumerate(guided.left.tolist()):
        if left >= 0:
            above[left] = above[left + 1] = region
    return above


@settings(max_examples=40, deadline=None)
@given(guided_problems())
def test_regions_that_planes_divide_are_counted(problem):
    guided = problem.grow(n_trees=3)
    counts = [guided.plane.tolist().count(plane) for plane in range(len(guided.threshold))]
    assert regions_divided(guided).tolist() == counts


@settings(max_examples=40, deadline=None)
@given(guided_problems())
def test_impurity_is_that_of_the_regions_there_are_after_so_many_planes(problem):
    guided = problem.grow(n_trees=3)
    above, total = parents(guided), guided.weight * guided.impurity
    found = remaining_impurity(guided)
    assert found.shape == (3, guided.n_planes.max() + 1)
    for b, path in enumerate(found):
        root = guided.root[b]
        for k, share in enumerate(path):
            there = [
                region
                for region in range(root, guided.root[b + 1])
                if (region == root or guided.rank[above[region]] <= k)
                and (guided.left[region] < 0 or guided.rank[region] > k)
            ]
            expected = total[there].sum() / total[root] if total[root] > 0 else 1.0
            np.testing.assert_allclose(share, expected, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(guided_problems())
def test_codes_are_the_ways_from_the_root(problem):
    guided = problem.grow(n_trees=2)
    above = parents(guided)
    for b in range(2):
        root = guided.root[b]
        codes = leaf_codes(guided, b)
        leaves = np.flatnonzero(guided.left[root : guided.root[b + 1]] < 0)
        assert list(codes) == leaves.tolist()
        for leaf, (bits, planes) in codes.items():
            region, way, by = leaf + root, "", []
            while region != root:
                parent = above[region]
                way = str(region - guided.left[parent]) + way
                by = [guided.rank[parent], *by]
                region = parent
            assert (bits, list(planes)) == (way, by)
