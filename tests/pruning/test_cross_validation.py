"""Cross-validation of pruning over folds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from odrf.design.folds import FoldRows, fold_of_rows, folds_apart
from odrf.engine.trees.routing import predict
from odrf.pruning.complexity import critical_alphas, pruned
from odrf.pruning.validation import (
    Growth,
    cross_validated,
    folds_grown,
    geometric_means,
    losses_of,
)
from problems import plain


def growth(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((3, n))
    problem = plain(X, X[0] + rng.normal(size=n) / 4, n_projections=2)
    return Growth(*problem.growth)


def folds_of(case, k):
    return folds_apart(fold_of_rows(case.y, 1, k, 5), k)


def test_trees_are_grown_without_their_fold():
    case = growth()
    for tree, out in folds_grown(case, folds_of(case, 4), 1, 1, lambda: None):
        assert tree.count[0] == 45 == len(case.y) - out.sum()
        assert tree.value[0, 0] == pytest.approx(case.y[~out].mean())


def test_a_tree_is_grown_on_the_training_rows_of_its_fold_only():
    case = growth()
    train, test = np.arange(60) < 20, np.arange(60) >= 50
    (tree, rows), _ = folds_grown(case, [FoldRows(train, test)] * 2, 1, 1, lambda: None)
    assert tree.count[0] == 20
    assert tree.value[0, 0] == pytest.approx(case.y[train].mean())
    assert (rows == test).all()


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_change_nothing(n_jobs):
    case = growth()
    folds = folds_of(case, 5)
    one, other = (folds_grown(case, folds, 2, jobs, lambda: None) for jobs in (1, n_jobs))
    for a, b in zip(one, other, strict=True):
        assert a.tree.threshold.tobytes() == b.tree.threshold.tobytes()
        assert (a.rows == b.rows).all()


def test_every_row_is_evaluated_once_by_the_tree_grown_without_it():
    case = growth()
    folds = folds_grown(case, folds_of(case, 6), 3, 1, lambda: None)
    critical = partial(critical_alphas, rule="weakest_link")
    alpha = np.array([0.0, 0.01, 0.05])
    evaluated = cross_validated(case, folds, critical, alpha)
    for k, value in enumerate(alpha):
        loss = np.empty(len(case.y))
        for tree, out in folds:
            X = np.ascontiguousarray(case.X[:, out])
            loss[out] = losses_of(predict(pruned(tree, critical(tree), value), X, 1), case.y[out])
        assert evaluated.mean[k] == pytest.approx(loss.mean())
        assert evaluated.standard_error[k] == pytest.approx(loss.std() / len(loss) ** 0.5)


def test_folds_are_pruned_between_critical_values():
    np.testing.assert_allclose(
        geometric_means(np.array([0.0, 1.0, 4.0, 9.0])), [0.0, 2.0, 6.0, np.inf]
    )
    assert geometric_means(np.zeros(1)).tolist() == [np.inf]
