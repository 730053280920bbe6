"""A tree with branches put in place of leaves is that of the twin, breadth-first."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.all_rows.grafting import Crown, CrownSplit, grafted
from odrf.engine.all_rows.sending_rows import NodeSums
from reference.all_rows import joined_tree


def random_tree(rng, most):
    """Grow a crown at random, breadth-first; its values tell its nodes apart."""

    def sums():
        return NodeSums(int(rng.integers(1, 9)), rng.random(), rng.normal(size=1), rng.random())

    crown, i = Crown([sums()]), 0
    while i < len(crown.sums) and len(crown.sums) < most:
        if rng.random() < 0.7:
            size = int(rng.integers(1, 4))
            theta = rng.choice([0.0, 1.0, 2.0], size).astype(np.float32)
            columns, gain = rng.permutation(5)[:size], rng.random()
            threshold = np.float32(rng.normal())
            crown.splits[i] = CrownSplit(len(crown.sums), threshold, columns, theta, gain)
            crown.sums += [sums(), sums()]
        i += 1
    return crown.as_forest(False)


@settings(max_examples=40)
@given(seed=st.integers(0, 99999), max_leaves=st.sampled_from([1, 2, 3, 6, 2**60]))
def test_the_whole_tree_is_that_of_the_twin(seed, max_leaves):
    rng = np.random.default_rng(seed)
    crown = random_tree(rng, int(rng.integers(1, 12)))
    places = [i for i in np.flatnonzero(crown.left < 0).tolist() if rng.random() < 0.5]
    branches = {i: random_tree(rng, 9) for i in places}
    tree = grafted(crown, branches, max_leaves)
    expected = joined_tree(crown, branches, max_leaves)
    assert tree.n_nodes == len(expected)
    following, rank = 1, 0
    for i, (value, split) in enumerate(expected):
        assert tree.value[i, 0] == value
        terms = slice(tree.start[i], tree.start[i + 1])
        if split is None:
            assert tree.left[i] == -1
            assert np.isnan(tree.threshold[i])
            assert (tree.gain[i], tree.order[i], terms.stop - terms.start) == (0.0, 0, 0)
            continue
        rank += 1
        assert (tree.left[i], tree.order[i]) == (following, rank)
        found = tree.threshold[i], tuple(tree.index[terms]), tuple(tree.coef[terms]), tree.gain[i]
        assert found == split
        following += 2
    assert tree.leaves()[0] == sum(split is None for _, split in expected)
