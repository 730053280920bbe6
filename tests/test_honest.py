"""Honest trees and forests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.engine.resamples import draw_counts, estimation_counts
from odrf.results.tree import ODTResults

FORMULA = " ~ a + b + f + noise"


def share(n):
    return n**-0.3


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(8)
    n = 240
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "noise"])
    data["f"] = rng.choice(["x", "y", "z"], n)
    score = data["a"] + data["b"] + (data["f"] == "x")
    data["y"] = score + rng.normal(size=n)
    data["c"] = np.select([data["y"] < -1, data["y"] < 1], ["low", "mid"], "top")
    return data


@pytest.fixture(scope="module", params=["y", "c"])
def tree(table, request):
    return odrf.odt(request.param + FORMULA, table, alpha=None, honest=True, min_leaf=2, seed=1)


@pytest.fixture(scope="module", params=["y", "c"])
def forest(table, request):
    return odrf.odrf(request.param + FORMULA, table, n_trees=30, honest=True, seed=1, n_jobs=2)


def fills(fit, b=0):
    """How often each row fills a tree."""
    return estimation_counts(fit.fit.streams[b].copy(), fit.fit.data.weights, fit.fit.samplings[b])


def loss(fit: ODTResults, rows) -> float:
    """The weighted mean loss of a tree's predictions for its training rows."""
    y, predicted = fit.fit.data.y, fit.predict()
    if fit.kind == "regression":
        return np.average((y - predicted) ** 2, weights=rows)
    codes = pd.Index(fit.classes).get_indexer(predicted)
    return np.average(y != codes, weights=rows)


def test_a_tree_is_filled_by_half_of_the_rows(tree, table):
    half = fills(tree)
    assert half.sum() == len(table) // 2 == tree.nodes["count"][0]
    own = tree.predict(type="leaf")[half > 0].value_counts()
    leaves = tree.nodes.query("leaf")["count"]
    assert leaves[leaves > 0].to_dict() == own.to_dict()
    assert (leaves == 0).any()
    parents = tree.nodes.loc[tree.nodes["parent"][leaves.index[leaves == 0]]]
    says = ["value"] if tree.kind == "regression" else ["P(low)", "P(mid)", "P(top)"]
    empty = tree.nodes.loc[leaves.index[leaves == 0], says]
    assert empty.to_numpy().tolist() == parents[says].to_numpy().tolist()


@pytest.mark.parametrize("rule", ["weakest_link", "growth"])
def test_pruning_weighs_leaves_by_the_rows_that_fill_them(tree, rule):
    path = tree.pruning_path(pruning=rule)
    for k in range(0, len(path.table), 3):
        assert loss(path.tree(k), fills(tree)) == pytest.approx(path.table["error"][k], abs=1e-12)
    assert (np.diff(path.table["error"]) >= -1e-12).all()


def test_pruning_for_nothing_changes_no_prediction(table):
    tree = odrf.odt("y" + FORMULA, table, alpha=None, honest=True, min_leaf=1, seed=1)
    pruned = tree.prune(alpha=0)
    assert pruned.n_leaves < tree.n_leaves
    assert pruned.predict().equals(tree.predict())


@pytest.mark.parametrize("options", [{"alpha": "cv"}, {"alpha": "1se"}, {"max_leaves": "sqrt"}])
def test_sizes_that_are_found(table, options):
    found = odrf.odt("y" + FORMULA, table, honest=True, seed=2, **options)
    assert 1 < found.n_leaves < 60
    found.growth_path(cv=3)


def test_a_forest_is_the_same_for_any_number_of_threads(forest, table):
    again = odrf.odrf(
        forest.formula.split(" ")[0] + FORMULA, table, n_trees=30, honest=True, seed=1, n_jobs=1
    )
    assert again.forest.value.tobytes() == forest.forest.value.tobytes()
    assert again.oob_error == forest.oob_error


def test_out_of_bag_is_what_a_tree_has_not_drawn(forest):
    fit = forest.fit
    drawn = [
        draw_counts(state.copy(), fit.data.weights, sampling)
        for state, sampling in zip(fit.streams, fit.samplings, strict=True)
    ]
    leaves = forest.predict(type="leaf").to_numpy() + fit.forest.root[:-1]
    unseen = np.array(drawn).T == 0
    value = np.einsum("ib,ibk->ik", unseen, fit.forest.value[leaves]) / unseen.sum(1)[:, None]
    y = fit.data.y
    expected = (value[:, 0] - y) ** 2 if value.shape[1] == 1 else value.argmax(axis=1) != y
    assert forest.oob_error == pytest.approx(expected.mean())
    assert (np.array([fills(forest, b) for b in range(30)]).T[unseen] == 0).all()


def test_results_of_a_forest(forest):
    assert 0 < forest.oob_error < forest.prune(alpha=10).oob_error
    assert forest.prune(rule="oob").n_leaves.mean() < forest.n_leaves.mean()
    assert forest.pruning_path().table["error"].min() <= forest.oob_error
    path = forest.growth_path()
    assert path.table["test"].iloc[-1] == pytest.approx(forest.oob_error)
    if forest.kind == "classification":
        assert (forest.strength_correlation().table["strength"] > 0).all()
    for kind in ("impurity", "permutation"):
        assert set(forest.importance(type=kind).index[:2]) == {"a", "b"}
    assert "Honest" in str(forest.summary())


def test_intervals_and_quantiles(table):
    train, test = table.iloc[:160], table.iloc[160:]
    forest = odrf.odrf("y" + FORMULA, train, n_trees=150, blend=False, honest=True, seed=1)
    for interval in ({"method": "conformal"}, {"method": "quantile"}):
        ends = forest.predict(test, interval="prediction", **interval)
        assert test["y"].between(ends["conf_low"], ends["conf_high"]).mean() > 0.85
    quantiles = forest.predict(test, type="quantile", quantiles=[0.1, 0.5, 0.9])
    assert np.isin(quantiles.to_numpy(), train["y"]).all()
    assert (np.diff(quantiles.to_numpy(), axis=1) >= 0).all()
    with pytest.warns(UserWarning, match="trees are few for standard errors"):
        assert (forest.predict(test, interval="confidence")["std_error"] > 0).all()


@pytest.mark.parametrize("response", ["y", "c"])
def test_held_out_errors_are_shares_of_those_of_the_root_on_all_rows(table, response):
    tree = odrf.odt(response + FORMULA, table, alpha=None, honest=True, seed=1)
    path = tree.pruning_path(newdata=table).table
    assert path["xerror"].iloc[-1] == pytest.approx(1)
    if response == "y":
        root = tree.prune(leaves=1)
        assert path["xerror"].iloc[0] == pytest.approx(tree.training_error / root.training_error)
        pruned = odrf.odt(response + FORMULA, table, honest=True, seed=1)
        error = pruned.path.subtrees.nested["min"][0] * root.training_error
        assert f"Held-out MSE     {error:.4g} (" in str(pruned.summary())


def test_a_blend_is_honest_in_all_its_kinds(table):
    forest = odrf.odrf("c" + FORMULA, table, n_trees=60, blend=True, honest=True, seed=1)
    assert all(control.honest for control in forest.fit.kinds.values())
    assert all(sampling.honest for sampling in forest.fit.samplings)
    assert forest.oob_error < 0.5
    assert forest.importance(type="permutation").index[-1] == "noise"


def test_a_rule_of_the_rows_drawn(table, tmp_path):
    forest = odrf.odrf(
        "c" + FORMULA, table, n_trees=25, honest=True, resample="subsample", seed=1,
        sample_fraction=lambda n: n**-0.3,
    )  # fmt: skip
    size = round(240**0.7)
    assert forest.forest.count[forest.forest.root[:-1]].tolist() == [size // 2] * 25
    assert "(rule in n)" in str(forest.summary())
    forest.save(tmp_path / "forest")
    again = odrf.load(tmp_path / "forest")
    assert again.oob_error == forest.oob_error
    assert again.consistency().conclusion == forest.consistency().conclusion
    assert "[P] Theorem 2." in again.consistency().conclusion
    assert again.select_variables().table.shape[0] > 0


def test_leaves_do_not_believe_noise(table):
    noise = table.assign(c=np.random.default_rng(2).permutation(table["c"]))
    train, test = noise.iloc[:160], noise.iloc[160:]
    came, scores = pd.get_dummies(test["c"]).to_numpy(), {}
    for honest in (False, True):
        options = {"honest": honest, "alpha": None}
        trees = [odrf.odt("c" + FORMULA, train, seed=seed, **options) for seed in range(5)]
        predicted = [tree.predict(test, type="prob") for tree in trees]
        scores[honest] = np.mean([((one - came) ** 2).sum(axis=1).mean() for one in predicted])
    assert scores[True] < 0.95 * scores[False]


def test_a_few_rows():
    two = pd.DataFrame({"y": [1.0, 3.0, 2.0], "x": [0.0, 1.0, 0.5]})
    tree = odrf.odt("y ~ x", two, honest=True, min_leaf=1, seed=1)
    filling = fills(tree) > 0
    assert filling.sum() == 1
    assert tree.predict().tolist() == [two["y"][filling].item()] * 3
    forest = odrf.odrf("y ~ x", two, n_trees=9, honest=True, resample="subsample",
                       sample_fraction=0.2, seed=1)  # fmt: skip
    assert set(np.unique(forest.forest.value)) <= set(two["y"])
    levels = forest.predict(two, type="quantile", quantiles=[0.5])
    assert np.isin(levels.to_numpy(), two["y"]).all()


def test_honest_is_yes_or_no(table):
    with pytest.raises(InputError, match="honest='half': use True or False"):
        odrf.odt("y" + FORMULA, table, honest="half")
