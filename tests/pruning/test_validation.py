"""Losses of held-out rows at many α against pruning and predicting at each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf.design.folds import FoldRows, fold_of_rows, folds_apart
from odrf.engine.growth.forest_builder import TreeGrower
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.engine.trees.routing import predict
from odrf.pruning.complexity import RULES, critical_alphas, pruned
from odrf.pruning.validation import (
    STEPS,
    EvaluationRows,
    common_alphas,
    cross_validated,
    error_of_choice,
    folds_grown,
    geometric_means,
    held_out,
    held_out_sums,
    losses_of,
    of_all_folds,
)
from problems import plain, problems


@st.composite
def cases(draw):
    """A grown tree, rows it has not seen, their weights, and values of α."""
    problem = replace(draw(problems()), sampling=Sampling(ALL_ROWS, 1.0))
    tree, rule = problem.grow(), draw(st.sampled_from(RULES))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    m = draw(st.integers(1, 20))
    X = rng.random((len(problem.X), m)).astype(np.float32)
    y = rng.choice(problem.y, m)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], m) if draw(st.booleans()) else np.ones(m)
    critical = critical_alphas(tree, rule)
    alpha = np.unique(np.concatenate([[0.0], critical, rng.random(3) * critical.max(), [np.inf]]))
    return tree, critical, alpha, X, y, weights


def one_by_one(tree, critical, alpha, X, y, weights):
    """Mean loss and its standard error, α by α."""
    means, errors = [], []
    for value in alpha:
        loss = losses_of(predict(pruned(tree, critical, value), X, 1), y)
        mean = np.average(loss, weights=weights)
        means.append(mean)
        off = np.sum((weights * (loss - mean)) ** 2)
        errors.append(np.sqrt(off) / weights.sum() if (weights > 0).sum() > 1 else np.nan)
    return np.array(means), np.array(errors)


@settings(deadline=None, max_examples=80)
@given(cases())
def test_one_walk_gives_what_pruning_at_each_alpha_gives(case):
    *_, y, weights = case
    if weights.sum() == 0:
        return
    evaluated = held_out(*case)
    means, errors = one_by_one(*case)
    scale = max(np.abs(y).max(), 1.0)
    np.testing.assert_allclose(evaluated.mean, means, rtol=1e-9, atol=1e-9 * scale**2)
    np.testing.assert_allclose(evaluated.standard_error, errors, rtol=1e-5, atol=1e-6 * scale**2)


@settings(deadline=None, max_examples=40)
@given(cases(), st.integers(1, 19))
def test_parts_add_up(case, cut):
    tree, critical, alpha, X, y, weights = case
    whole = held_out(*case)
    parts = [
        held_out(tree, critical, alpha, np.ascontiguousarray(X[:, rows]), y[rows], weights[rows])
        for rows in (slice(None, cut), slice(cut, None))
        if len(y[rows])
    ]
    total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    np.testing.assert_allclose(total.loss, whole.loss, rtol=1e-9, atol=1e-9)
    assert total.weight == pytest.approx(whole.weight)


@settings(deadline=None, max_examples=40)
@given(cases(), st.integers(1, 4))
def test_rows_of_a_group_count_as_one_unit(case, n_groups):
    tree, critical, alpha, X, y, weights = case
    groups = np.random.default_rng(0).integers(0, n_groups, len(y)) + 3
    if weights.sum() == 0:
        return
    evaluated = held_out(*case, groups)
    losses = np.array([losses_of(predict(pruned(tree, critical, a), X, 1), y) for a in alpha])
    mean = losses @ weights / weights.sum()
    excess = (losses - mean[:, None]) * weights
    several = len(set(groups[weights > 0])) > 1
    errors = [
        np.sqrt(sum(row[groups == g].sum() ** 2 for g in set(groups))) / weights.sum()
        if several
        else np.nan
        for row in excess
    ]
    scale = max(np.abs(y).max(), 1.0) ** 2
    for held in (evaluated, held_out_sums(losses, weights, groups)):
        np.testing.assert_allclose(held.mean, mean, rtol=1e-9, atol=1e-9 * scale)
        np.testing.assert_allclose(held.standard_error, errors, rtol=1e-5, atol=1e-6 * scale)


def test_groups_of_one_row_are_rows():
    rng = np.random.default_rng(1)
    losses, weights = rng.random((3, 20)), rng.random(20)
    apart = held_out_sums(losses, weights, np.arange(20))
    assert apart.standard_error == pytest.approx(held_out_sums(losses, weights).standard_error)


@pytest.mark.parametrize("groups", [None, np.array([4, 4, 4])])
def test_the_standard_error_of_one_unit_is_not_known(groups):
    losses, weights = np.array([[0.5, 1.0, 2.0], [0.0, 0.0, 1.0]]), np.array([0.3, 0.0, 0.0])
    weights = weights if groups is None else weights + 1
    one = held_out_sums(losses, weights, groups)
    assert np.isnan(one.standard_error).all()
    nothing = held_out_sums(losses, np.zeros(3), groups)
    assert np.isnan((one + nothing).standard_error).all()
    assert (one + held_out_sums(losses, np.ones(3))).standard_error.all()


# ------------------------------------------------------------------------------------------------
# Cross-validation of pruning over folds.
# ------------------------------------------------------------------------------------------------


def growth(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((3, n))
    problem = plain(X, X[0] + rng.normal(size=n) / 4, n_projections=2)
    return problem


def growing(case):
    X, y, weights, *options = case.growth

    def grow(of_fold):
        train, stream = of_fold
        return TreeGrower(X, y, np.where(train, weights, 0.0), *options, 1, 1)(stream)

    return grow


def folds_of(case, k):
    return folds_apart(fold_of_rows(case.y, 1, k, 5), k)


def test_trees_are_grown_without_their_fold():
    case = growth()
    for tree, out in folds_grown(growing(case), folds_of(case, 4), 1, 1, lambda: None):
        assert tree.count[0] == 45 == len(case.y) - out.sum()
        assert tree.value[0, 0] == pytest.approx(case.y[~out].mean())


def test_a_tree_is_grown_on_the_training_rows_of_its_fold_only():
    case = growth()
    train, test = np.arange(60) < 20, np.arange(60) >= 50
    (tree, rows), _ = folds_grown(growing(case), [FoldRows(train, test)] * 2, 1, 1, lambda: None)
    assert tree.count[0] == 20
    assert tree.value[0, 0] == pytest.approx(case.y[train].mean())
    assert (rows == test).all()


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_change_nothing(n_jobs):
    case = growth()
    folds = folds_of(case, 5)
    one, other = (folds_grown(growing(case), folds, 2, jobs, lambda: None) for jobs in (1, n_jobs))
    for a, b in zip(one, other, strict=True):
        assert a.tree.threshold.tobytes() == b.tree.threshold.tobytes()
        assert (a.rows == b.rows).all()


def test_every_row_is_evaluated_once_by_the_tree_grown_without_it():
    case = growth()
    folds = folds_grown(growing(case), folds_of(case, 6), 3, 1, lambda: None)
    critical = partial(critical_alphas, rule="weakest_link")
    alpha = np.array([0.0, 0.01, 0.05])
    evaluated = of_all_folds(
        cross_validated(EvaluationRows(case.X, case.y, case.weights), folds, critical, alpha)
    )
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


# ------------------------------------------------------------------------------------------------
# Complexity parameters of forests.
# ------------------------------------------------------------------------------------------------


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


def test_the_error_of_a_chosen_size_is_that_of_choices_by_other_folds():
    """A twin by hand: each fold is evaluated at the row that the sums of the others choose."""
    rng = np.random.default_rng(1)
    folds = [held_out_sums(rng.normal(size=(4, 12)) ** 2, np.ones(12)) for _ in range(3)]
    error, std_error = error_of_choice(folds, "min")
    losses = []
    for f, fold in enumerate(folds):
        others = sum(each.loss for g, each in enumerate(folds) if g != f)
        losses.append(fold.loss[np.flatnonzero(others == others.min())[-1]])
    assert error == pytest.approx(sum(losses) / 36)
    assert 0 < std_error < 1
    assert error >= of_all_folds(folds).mean.min()


def test_trees_of_noise_have_the_error_of_guessing():
    """The smallest error of a path is too small; that of the summary is not."""
    errors, smallest = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        data = pd.DataFrame(rng.normal(size=(200, 4))).add_prefix("x")
        data["y"] = rng.permutation(np.repeat(["a", "b"], 100))
        tree = odrf.odt("y ~ .", data, alpha="cv", seed=seed)
        path = tree.parent.pruning_path(cv=10)
        errors.append(path.subtrees.nested["min"][0] / 2)
        smallest.append(path.table["xerror"].min() / 2)
    assert abs(np.mean(errors) - 0.5) < 3 * np.std(errors) / 20**0.5
    assert np.mean(smallest) < np.mean(errors)


def test_a_tree_of_one_leaf_says_why():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=100), "y": rng.permutation(np.arange(100.0))})
    tree = odrf.odt("y ~ x", data, alpha="cv", seed=1)
    assert tree.fit.forest.leaves()[0] == 1
    text = " ".join(str(tree.summary()).split())
    assert "no subtree is better than the root" in text
    assert f"tree.parent has {int(tree.parent.fit.forest.leaves()[0])} leaves" in text
    assert "nested 10-fold cross-validation" in text
