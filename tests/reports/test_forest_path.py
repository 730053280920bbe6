"""Pruning a forest: at a common α, and each tree by its out-of-bag rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.engine.resamples import draw_counts
from odrf.engine.trees.routing import predict
from odrf.pruning.validation import losses_of


@pytest.fixture(params=["number_forest", "class_forest"])
def forest(request):
    return request.getfixturevalue(request.param)


def test_table(forest):
    table = forest.pruning_path().table
    assert list(table.columns) == ["alpha", "leaves", "error", "std_error"]
    assert table["alpha"].is_monotonic_increasing
    assert table["leaves"].is_monotonic_decreasing
    assert (table["alpha"].iloc[0], table["leaves"].iloc[-1]) == (0, 1)
    assert table["leaves"].iloc[0] == forest.prune(0.0).n_leaves.mean()


def test_rows_are_the_forests_at_their_alphas(forest):
    path = forest.pruning_path()
    for k in (0, len(path.table) // 2, len(path.table) - 1):
        pruned = path.forest(k)
        assert pruned.oob_error == pytest.approx(path.table["error"][k])
        assert pruned.n_leaves.mean() == pytest.approx(path.table["leaves"][k])
        assert pruned.parent is forest
    with pytest.raises(InputError, match="k=99 is not a row of the table"):
        path.forest(99)


def test_choices(forest):
    path = forest.pruning_path("growth")
    table = path.table
    assert path.best("min").n_leaves.mean() == table["leaves"][path.row("min")]
    assert path.best("min").oob_error >= table["error"].min() - 1e-12
    limit = table["error"].min() + table["std_error"][path.row("min")]
    assert table["error"][path.row("1se")] <= limit
    small = forest.prune(rule="1se", path=path)
    assert small.n_leaves.mean() == pytest.approx(table["leaves"][path.row("1se")])
    assert small.control.pruning == "growth"


def test_standard_error_is_that_of_the_rows_losses(number_forest):
    table = number_forest.pruning_path().table
    loss = (number_forest.prune(0.0).oob_prediction - number_forest.fit.data.y) ** 2
    assert table["std_error"][0] == pytest.approx(loss.std(ddof=0) / loss.count() ** 0.5)


def test_each_tree_by_the_rows_that_it_has_not_drawn(forest):
    pruned = forest.prune(rule="oob")
    fit = forest.fit
    for b in range(0, 12, 4):
        unseen = draw_counts(fit.streams[b].copy(), fit.data.weights, fit.samplings[b]) == 0
        X = np.ascontiguousarray(fit.data.X[:, unseen])

        def loss(tree, X=X, y=fit.data.y[unseen]):
            return losses_of(predict(tree.forest, X, 1), y).mean()

        path = forest.tree(b).pruning_path(cv=None)
        losses = [loss(path.tree(k)) for k in range(len(path.table))]
        assert loss(pruned.tree(b)) == pytest.approx(min(losses))
        smallest = len(losses) - 1 - int(np.argmin(losses[::-1]))
        assert pruned.n_leaves[b] == path.table["leaves"][smallest]


@pytest.mark.parametrize("rule", ["min", "1se"])
def test_each_row_is_judged_by_the_alpha_that_other_rows_choose(forest, rule):
    path, y = forest.pruning_path(), forest.fit.data.y
    grown = [path.forest(k) for k in range(len(path.table))]
    losses = np.array([losses_of(each._oob_value, y) for each in grown])
    judged = path.best(rule)
    fold = judged.fit.pruning.choice.fold
    assert sorted(set(fold)) == [0, 1, 2, 3, 4]
    for f in range(5):
        of_others = losses[:, (fold != f) & forest.oob_prediction.notna()]
        mean, n = of_others.mean(axis=1), of_others.shape[1]
        best = np.flatnonzero(mean <= mean.min() + 1e-12)[-1]
        limit = mean[best] + (of_others[best].std() / n**0.5 if rule == "1se" else 0) + 1e-12
        k = np.flatnonzero(mean <= limit)[-1]
        np.testing.assert_array_equal(judged._oob_value[fold == f], grown[k]._oob_value[fold == f])
    known = forest.oob_prediction.notna()
    error = losses_of(judged._oob_value[known], y[known]).mean()
    assert judged.oob_error == pytest.approx(error)
    assert judged.error_path.iloc[-1] == judged.oob_error


def test_out_of_bag_each_tree_is_pruned_by_the_other_rows(forest):
    judged, fit = forest.prune(rule="oob"), forest.fit
    choice = judged.fit.pruning.choice
    for b in range(0, 12, 4):
        unseen = draw_counts(fit.streams[b].copy(), fit.data.weights, fit.samplings[b]) == 0
        path = forest.tree(b).pruning_path(cv=None)
        trees = [path.tree(k) for k in range(len(path.table))]
        for f in range(5):
            rows = unseen & (choice.fold != f)
            X, y = np.ascontiguousarray(fit.data.X[:, rows]), fit.data.y[rows]
            losses = [losses_of(predict(tree.forest, X, 1), y).mean() for tree in trees]
            least = np.flatnonzero(losses <= min(losses) + 1e-12)[-1]
            apart = forest.tree(b).prune(float(choice.alphas[f, b]))
            assert apart.n_leaves[0] == trees[least].n_leaves[0]


@lru_cache
def grown_on_noise(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.random((120, 6))).add_prefix("x")
    data["y"] = np.where(np.arange(120) % 2, "a", "b")
    return odrf.odrf("y ~ .", data, n_trees=40, blend=False, seed=seed)


@pytest.mark.parametrize("rule", ["min", "1se", "oob"])
def test_on_noise_a_pruned_forest_is_not_better_than_chance(rule):
    errors = [grown_on_noise(seed).prune(rule=rule).oob_error for seed in range(8)]
    # if the rows judge their own choice: .476, .506 and .393
    assert np.mean(errors) > 0.495


@pytest.mark.parametrize("alpha", ["oob", "1/sqrt(n)"])
def test_an_alpha_found_during_the_fit_is_judged_in_the_same_way(table, alpha):
    fit = odrf.odrf("y ~ a + b", table, n_trees=12, blend=False, alpha=alpha, seed=1)
    choice = fit.fit.pruning.choice
    assert choice.alphas.shape == (5, 1)
    apart = [fit.parent.prune(float(a)) for a in choice.alphas[:, 0]]
    for f, other in enumerate(apart):
        rows = choice.fold == f
        np.testing.assert_array_equal(fit._oob_value[rows], other._oob_value[rows])


def test_the_summary_shows_the_choices(forest):
    pruned = forest.prune(rule="oob")
    text = str(pruned.summary())
    assert f"from {forest.n_leaves.mean():.1f} (" in text
    assert str(forest.prune(rule="oob").summary()) == text
    assert pruned.call.endswith('.prune(rule="oob")')
    assert "each fifth of the rows is judged by the choice of the others" in " ".join(text.split())
    assert "each fifth" not in str(forest.summary())
    path = str(forest.pruning_path().summary())
    assert "1-SE rule" in path
    assert "weakest link" in path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one"),
        ({"alpha": 0.1, "rule": "oob"}, "exactly one"),
        ({"rule": "cv"}, "rule='cv' is not known: use one of 'oob', 'min', '1se'"),
        ({"alpha": -1}, "alpha=-1"),
    ],
)
def test_bad_pruning(number_forest, options, message):
    with pytest.raises(InputError, match=message):
        number_forest.prune(**options)


def test_unknown_rules(number_forest):
    with pytest.raises(InputError, match="pruning='weakest' is not known"):
        number_forest.pruning_path("weakest")
    with pytest.raises(InputError, match="rule='best' is not known"):
        number_forest.pruning_path().best("best")


def test_no_rows_out_of_bag(table):
    forest = odrf.odrf("y ~ a + b", table, n_trees=3, resample="none", seed=1)
    for ask in (forest.pruning_path, lambda: forest.prune(rule="oob")):
        with pytest.raises(InputError, match='resample="none" leaves none'):
            ask()


def test_a_blend_is_pruned_too(table, few_pilots):
    forest = odrf.odrf("c ~ a + b + f", table, n_trees=30, blend=True, seed=1)
    path = forest.pruning_path()
    # rows that did not choose may judge it a little less well: here by up to two of the 120 rows
    assert path.best("1se").oob_error <= path.table["error"][path.row("1se")] + 2.5 / len(table)
    assert (forest.prune(rule="oob").n_leaves <= forest.n_leaves).all()
