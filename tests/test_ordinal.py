"""Ordered classes: cumulative splits, medians, and the results of a classification."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf import InputError
from odrf.engine.compiling import kernel
from odrf.engine.oob import loss_of
from odrf.engine.splits.impurity import ORDINAL
from odrf.engine.trees.forest import MEDIAN, mean_ranks_off, predicted_classes
from odrf.pruning.validation import losses_of
from reference.impurity import cuts, gain
from reference.impurity import impurity as twin

LEVELS = ["bad", "fair", "good", "best"]
ORDERED = pd.CategoricalDtype(LEVELS, ordered=True)
FORMULA = "grade ~ a + b + f"


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    data["f"] = rng.choice(["x", "y", "z"], 160)
    hidden = 1.5 * data["a"] + (data["f"] == "x") + rng.logistic(size=160)
    data["grade"] = pd.Categorical.from_codes(np.digitize(hidden, [-1.5, 0.3, 2.5]), dtype=ORDERED)
    data["plain"] = data["grade"].astype(str)
    data["y"] = hidden
    return data


@pytest.fixture(scope="module")
def tree(table):
    return odrf.odt(FORMULA, table, max_leaves=8, seed=1)


@pytest.fixture(scope="module")
def forest(table):
    return odrf.odrf(FORMULA, table, n_trees=30, seed=1)


@kernel
def loss_from_python(value, y, prediction_rule):
    return loss_of(value, y, prediction_rule)


@st.composite
def rows_of_shares(draw):
    """Shares of 3 to 6 classes that come from counts, so that halves are exact, or nearly."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    counts = rng.integers(0, 4, (5, draw(st.integers(3, 6))))
    counts[:, 0] += counts.sum(axis=1) == 0
    return counts / counts.sum(axis=1, keepdims=True)


@settings(deadline=None)
@given(rows_of_shares())
def test_the_median_errs_by_the_fewest_ranks(shares):
    ranks = np.arange(shares.shape[1])
    off = shares @ np.abs(ranks[:, None] - ranks)
    predicted = predicted_classes(shares, True)
    rows = np.arange(len(shares))
    np.testing.assert_allclose(off[rows, predicted], off.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(mean_ranks_off(shares), off.min(axis=1), atol=1e-12)
    # the first of those that err alike
    assert (predicted == np.argmax(off < off.min(axis=1, keepdims=True) + 1e-9, axis=1)).all()
    for y in ranks:
        losses = [loss_from_python(row, float(y), MEDIAN) for row in shares]
        assert losses == losses_of(shares, np.full(len(shares), float(y)), True).tolist()


def test_medians_of_missing_shares_are_missing():
    assert predicted_classes(np.array([[np.nan] * 3, [0.2, 0.4, 0.4]]), True).tolist() == [-1, 1]


def test_nodes_and_splits_follow_the_definition(table):
    options = {"projection": "axis", "min_leaf": 3, "max_leaves": 6, "seed": 1}
    table = table.head(100)  # few enough for all cuts to be tried
    weights = np.random.default_rng(1).uniform(0.5, 2, 100)
    fit = odrf.odt("grade ~ a + b", table, weights=weights, **options)
    y, ones = table["grade"].cat.codes.to_numpy().astype(float), np.ones(100, dtype=int)
    inside = {0: np.ones(100, dtype=bool)}
    assert fit.control.criterion == "ordinal"
    for node, line in fit.nodes.iterrows():
        own, w = y[inside[node]], weights[inside[node]]
        assert line["impurity"] == pytest.approx(twin(own, w, ORDINAL), abs=1e-12)
        if line["leaf"]:
            continue
        some, best = table.loc[inside[node], ["a", "b"]].to_numpy(), []
        for values in some.T:
            best += [gain(own, w, left, ORDINAL) for left in cuts(values, ones[: len(own)], 3)]
        assert line["gain"] == pytest.approx(max(best), abs=1e-9)
        split = fit.splits[fit.splits["node"] == node].iloc[0]
        goes = split["coefficient"] * table[split["column"]].to_numpy() <= split["threshold"]
        inside[line["left"]], inside[line["right"]] = inside[node] & goes, inside[node] & ~goes


def test_of_two_ordered_classes_all_is_as_of_unordered(table):
    low = table["grade"].isin(["bad", "fair"])
    grade = pd.Categorical.from_codes(1 - low, ["l", "h"], ordered=True)
    two = table.assign(grade=grade)
    one = odrf.odrf(FORMULA, two, n_trees=20, blend=True, seed=1)
    same = odrf.odrf(FORMULA, two.assign(grade=two["grade"].cat.as_unordered()), n_trees=20,
                     blend=True, seed=1)  # fmt: skip
    assert one.predict(type="prob").equals(same.predict(type="prob"))
    assert one.control.criterion == "gini"
    assert one.predict(type="cumulative").columns.tolist() == ["l"]


def test_predictions(forest, table):
    prob, up_to = forest.predict(type="prob"), forest.predict(type="cumulative")
    assert up_to.columns.tolist() == LEVELS[:-1]
    np.testing.assert_allclose(up_to, prob.cumsum(axis=1).iloc[:, :-1])
    predicted = pd.Categorical(forest.predict(), dtype=ORDERED).codes
    assert (predicted == (up_to < 0.5 - 1e-9).sum(axis=1)).all()
    assert (forest.predict(type="class") == forest.predict()).all()
    assert (predicted != prob.to_numpy().argmax(axis=1)).any()
    trees = forest.predict(type="trees")
    seen = trees[0].isna()
    assert trees[0][~seen].tolist() == forest.tree(0).predict()[~seen].tolist()
    row = forest.row_predictor()
    by_row = [row(table.loc[i, ["a", "b", "f"]]) for i in range(20)]
    assert by_row == forest.predict(table[:20]).tolist()
    moved = forest.predict(
        type="cumulative", priors=dict(zip(LEVELS, [0.7, 0.1, 0.1, 0.1], strict=True))
    )
    assert (moved["bad"] >= up_to["bad"] - 1e-12).all()


def test_scores(forest, tree, table):
    codes = table["grade"].cat.codes
    for fit, predicted in ((tree, tree.predict()), (forest, forest.oob_prediction)):
        off = (pd.Categorical(predicted, dtype=ORDERED).codes - codes).abs()
        assert fit.mean_rank_error == pytest.approx(off.mean())
    assert forest.oob_error == pytest.approx((forest.oob_prediction != table["grade"]).mean())
    wrong = 1 - np.trace(forest.confusion_matrix.iloc[:, :4]) / 160
    assert wrong == pytest.approx(forest.oob_error)
    assert "Mean rank error (OOB)" in str(forest.summary())
    assert "Mean rank error (training)" in str(tree.summary())
    assert "(4 ordered classes)" in str(tree.summary())
    unordered = odrf.odt("plain ~ a", table, max_leaves=3, seed=1)
    assert "rank" not in str(unordered.summary())
    with pytest.raises(InputError, match="mean_rank_error needs ordered classes"):
        unordered.mean_rank_error  # noqa: B018


def test_texts_and_plots_show_the_median(tree):
    predicted = pd.Categorical(tree.nodes["prediction"], dtype=ORDERED).codes
    shares = tree.nodes[[f"P({level})" for level in LEVELS]].to_numpy()
    assert (predicted == predicted_classes(shares, True)).all()
    rules = tree.rules().splitlines()[3:]
    for node, code in enumerate(predicted):
        line = next(line for line in rules if line.strip().startswith(f"{node})"))
        assert f"  {LEVELS[code]} (" in line
    texts = [text.get_text() for text in tree.plot().texts]
    assert any(LEVELS[code] in text for code in predicted for text in texts)


@pytest.mark.parametrize("rule", ["weakest_link", "growth"])
def test_pruning_lowers_the_rank_error_leaf_by_leaf(table, rule):
    tree = odrf.odt(FORMULA, table, min_leaf=2, seed=1)
    path = tree.pruning_path(rule, cv=5)
    assert (np.diff(path.table["error"]) > -1e-12).all()
    for k in range(0, len(path.table), 4):
        assert path.tree(k).mean_rank_error == pytest.approx(path.table["error"][k])
    root = path.tree(len(path.table) - 1)
    assert path.table["xerror"].iloc[-1] == pytest.approx(1, abs=0.2)
    assert root.training_error > path.best("min").training_error
    assert "mean rank error" in str(path.summary())


def test_results_of_a_forest(forest, table):
    path = forest.growth_path()
    assert path.table["test"].iloc[-1] == pytest.approx(forest.oob_error)
    assert forest.importance("permutation").index[0] == "a"
    assert forest.importance().index[0] == "a"
    assert forest.prune(rule="oob").forest.ordered
    assert forest.grow(2).forest.ordered and forest.grow(2).forest.n_trees == 32
    assert (forest.strength_correlation().table["error"] < 1).all()
    assert "median" not in forest.consistency().conclusion
    honest = odrf.odrf(FORMULA, table, n_trees=20, honest=True, seed=1)
    assert honest.forest.ordered and honest.mean_rank_error < 1.2
    balanced = odrf.odrf(FORMULA, table, n_trees=20, class_weights="balanced", seed=1)
    assert balanced.control.criterion == "ordinal"


def test_a_blend_has_one_criterion(table, tmp_path):
    blend = odrf.odrf(FORMULA, table, n_trees=20, blend=True, seed=1)
    assert {kind.criterion for kind in blend.fit.kinds.values()} == {"ordinal"}
    assert "sparse" in blend.fit.kinds
    blend.save(tmp_path / "fit")
    assert odrf.load(tmp_path / "fit").predict().equals(blend.predict())


def test_the_order_can_be_ignored(table):
    for formula, options in ((FORMULA, {"criterion": "gini"}), ("C(grade) ~ a + b + f", {})):
        fit = odrf.odt(formula, table, max_leaves=8, seed=1, **options)
        same = odrf.odt(FORMULA, table.assign(grade=table["grade"].cat.as_unordered()),
                        max_leaves=8, seed=1)  # fmt: skip
        assert (
            fit.predict(type="prob").to_numpy().tolist()
            == same.predict(type="prob").to_numpy().tolist()
        )
        assert fit.predict().tolist() == fit.predict(type="prob").idxmax(axis=1).tolist()
    assert odrf.odt(FORMULA, table, criterion="gini", max_leaves=8, seed=1).mean_rank_error < 1
    nominal = odrf.graf(FORMULA, table, n_trees=5, seed=1)
    assert nominal.predict().tolist() == nominal.predict(type="prob").idxmax(axis=1).tolist()


def test_missing_predictors_and_unused_levels(table):
    few = table[table["grade"] != "fair"]
    fit = odrf.odt(FORMULA, few, missing="drop", max_leaves=6, seed=1)
    assert list(fit.classes) == ["bad", "good", "best"]
    holes = few.head(4).assign(a=[np.nan, 0, 1, 2])
    assert fit.predict(holes).isna().tolist() == [True, False, False, False]
    assert fit.predict(holes, type="cumulative")["bad"].isna().tolist() == [True] + [False] * 3


@pytest.mark.parametrize("response", ["plain", "y"])
def test_order_is_needed(table, response):
    with pytest.raises(InputError, match=r"criterion=.?ordinal"):
        odrf.odt(f"{response} ~ a", table, criterion="ordinal")
    fit = odrf.odt(f"{response} ~ a", table, max_leaves=3, seed=1)
    match = "needs ordered classes" if response == "plain" else "needs classes, but 'y' was fitted"
    with pytest.raises(InputError, match=match):
        fit.predict(type="cumulative")
