"""Forests that out-of-bag rows have pruned, and that are pruned again."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from odrf.pruning.complexity import critical_alphas, pruned
from reference.forests import leaf


@pytest.fixture(scope="module")
def grown():
    data = odrf.load_data("diabetes")[["bmi", "bp", "sex", "progression"]][:150]
    return odrf.odrf("progression ~ .", data, n_trees=20, blend=False, seed=1)


def test_a_cut_that_changes_nothing_keeps_the_error(grown):
    first = grown.prune(rule="oob")
    assert first.prune(0.0).oob_error == first.oob_error


def assert_predicted_by_other_folds(grown, choice, found, trees_of):
    """Assert that rows of each fold are predicted by the trees of `trees_of` its choice of α."""
    own, found = grown.fit, found.to_numpy()
    drawn = np.array([own.draws.again(b)[0] for b in range(20)]) > 0
    for fold, alphas in enumerate(choice.alphas):
        trees = trees_of(alphas)
        for row in np.flatnonzero(choice.fold == fold)[:8]:
            values = [
                trees.value[leaf(trees, b, own.data.X[:, row]), 0]
                for b in np.flatnonzero(~drawn[:, row])
            ]
            assert found[row] == pytest.approx(np.mean(values))


def test_each_row_is_predicted_by_the_trees_that_the_others_prune(grown):
    first, own = grown.prune(rule="oob"), grown.fit
    choice, critical = first.fit.pruning.choice, critical_alphas(own.forest, "weakest_link")
    alpha = float(np.median(choice.alphas))
    found = first.prune(alpha).prune(alpha / 2).oob_prediction
    assert_predicted_by_other_folds(
        grown, choice, found, lambda alphas: pruned(own.forest, critical, np.maximum(alphas, alpha))
    )


def test_by_another_rule_the_first_choice_is_kept(grown):
    first, own = grown.prune(rule="oob"), grown.fit
    growth = first.pruning_path("growth")
    assert first.prune(0.0, path=growth).oob_error == pytest.approx(first.oob_error)
    alpha = float(growth.table["alpha"].iloc[len(growth.table) // 2])
    twice = first.prune(alpha, path=growth)
    choice, critical = first.fit.pruning.choice, critical_alphas(own.forest, "weakest_link")

    def trees_of(alphas):
        once = pruned(own.forest, critical, alphas)
        return pruned(once, critical_alphas(once, "growth"), alpha)

    assert_predicted_by_other_folds(grown, choice, twice.oob_prediction, trees_of)
    assert twice.prune(alpha / 2).oob_error == pytest.approx(twice.oob_error)
