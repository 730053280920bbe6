"""Complexity parameters of forests."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from odrf.pruning.validation import STEPS, common_alphas


def test_common_alphas_keep_fewer_and_fewer_splits():
    critical = np.concatenate([np.zeros(50), np.arange(1.0, 1001.0)])
    alphas = common_alphas(critical)
    assert alphas[0] == 0 and alphas[-1] == 1000
    kept = np.array([(critical > alpha).sum() for alpha in alphas])
    assert kept[0] == 1000 and kept[-1] == 0
    expected = np.unique(np.geomspace(1000, 1, STEPS).round())[::-1]
    np.testing.assert_array_equal(kept[:-1], expected)


@pytest.mark.parametrize("splits", [0, 1, 2])
def test_few_splits_have_an_alpha_each(splits):
    alphas = common_alphas(np.arange(splits + 1.0))
    np.testing.assert_array_equal(alphas, np.arange(splits + 1.0))


def test_a_tree_without_unseen_rows_of_weight_stays_as_it_is():
    rng = np.random.default_rng(1)
    data = odrf.load_data("diabetes")[:40]
    weights = (rng.permutation(40) < 3).astype(float)
    forest = odrf.odrf(
        "progression ~ bmi + bp", data, weights=weights, n_trees=30, min_leaf=1, blend=False, seed=1
    )
    draws = forest.fit.draws
    blind = [b for b in range(30) if not draws.weights[draws.unseen(b)].any()]
    assert 0 < len(blind) < 30
    pruned = forest.prune(rule="oob")
    for b in blind:
        assert pruned.tree(b).n_leaves == forest.tree(b).n_leaves
