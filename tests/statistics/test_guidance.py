"""What planes of guided trees do, computed region by region."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from guided_problems import guided_problems
from odrf.statistics.sensitivity import (
    leaf_codes,
    regions_divided,
    remaining_impurity,
)


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
