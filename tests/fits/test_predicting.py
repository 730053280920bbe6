"""Predictions of every kind, held to one another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.design import Response
from odrf.engine.trees.forest import most_likely
from odrf.fits.predicting import class_labels


def test_default_is_the_training_rows(number_tree, number_forest, table):
    for fit in (number_tree, number_forest):
        pd.testing.assert_series_equal(fit.predict(training="in-bag"), fit.predict(table))
        pd.testing.assert_series_equal(fit.predict(), fit.fittedvalues)
        assert fit.predict().index.equals(table.index)
        assert fit.predict().name == "y"


def test_classes_are_the_most_probable(class_tree, class_forest, table):
    for fit in (class_tree, class_forest):
        prob = fit.predict(table, type="prob")
        assert list(prob.columns) == ["low", "mid", "top"]
        np.testing.assert_allclose(prob.sum(axis=1), 1.0)
        predicted = fit.predict(table, type="class")
        assert predicted.tolist() == prob.idxmax(axis=1).tolist()
        assert predicted.index.equals(table.index)
        pd.testing.assert_series_equal(fit.predict(), fit.predict(type="class"))


def test_leaves_lead_to_the_values_of_nodes(number_tree, class_tree):
    leaf = number_tree.predict(type="leaf")
    assert number_tree.nodes["leaf"][leaf].all()
    np.testing.assert_array_equal(number_tree.nodes["value"][leaf], number_tree.fittedvalues)
    leaf = class_tree.predict(type="leaf")
    assert list(class_tree.nodes["prediction"][leaf]) == list(class_tree.fittedvalues)
    counts = leaf.value_counts().sort_index()
    assert counts.to_list() == class_tree.nodes["count"][counts.index].to_list()


def test_a_forest_averages_its_trees(number_forest, table):
    trees = number_forest.predict(table, type="trees")
    assert trees.shape == (120, 12)
    np.testing.assert_allclose(trees.mean(axis=1), number_forest.predict(table))


@pytest.mark.parametrize("i", [0, 7, 11])
def test_a_forest_is_its_trees(number_forest, class_forest, table, i):
    for forest in (number_forest, class_forest):
        tree = forest.tree(i)
        for type in ("trees", "leaf"):
            column = forest.predict(table, type=type)[i]
            alone = tree.predict(table, type=type)
            alone = alone[0] if type == "trees" else alone
            assert list(column) == list(alone)
        assert list(tree.predict(table)) == list(forest.predict(table, type="trees")[i])


def test_row_order_and_index_are_kept(class_forest, table):
    some = table.loc[["row7", "row3", "row7"]]
    prediction = class_forest.predict(some)
    assert list(prediction.index) == ["row7", "row3", "row7"]
    assert list(prediction) == list(class_forest.predict(table).loc[["row7", "row3", "row7"]])


@pytest.mark.parametrize("type", ["response", "leaf", "trees"])
def test_rows_with_missing_values_stay_missing(table, type):
    fit = odrf.odrf("y ~ a + b + f", table, n_trees=3, missing="drop", seed=1)
    holed = table.copy()
    holed.loc[["row2", "row5"], "a"] = np.nan
    prediction = fit.predict(holed, type=type)
    missing = prediction.isna() if prediction.ndim == 1 else prediction.isna().all(axis=1)
    assert list(prediction.index[missing]) == ["row2", "row5"]
    rest = prediction.drop(["row2", "row5"])
    assert (rest == fit.predict(holed.drop(["row2", "row5"]), type=type)).to_numpy().all()


@pytest.mark.parametrize(
    "labels", [["low", "mid", "top"], [1, 2, 3], pd.CategoricalIndex(["b", "a", "c"])]
)
def test_classes_with_missing_values_keep_their_labels(table, labels):
    index = pd.Index(labels)
    codes = pd.Categorical(table["c"]).codes
    data = table.assign(c=pd.Series(index[codes], index=table.index))
    fit = odrf.odrf("c ~ a + b", data, kind="classification", n_trees=3, missing="drop", seed=1)
    assert set(fit.predict(data)) <= set(labels)
    data.loc["row4", "b"] = np.nan
    for type in ("class", "trees"):
        prediction = pd.DataFrame(fit.predict(data, type=type))
        assert prediction.loc["row4"].isna().all()
        assert set(prediction.drop("row4").to_numpy().ravel()) <= set(labels)
    assert fit.predict(data, type="prob").loc["row4"].isna().all()


def test_no_complete_row_at_all(class_forest, table):
    fit = odrf.odrf("c ~ a + b", table, n_trees=2, missing="drop", seed=1)
    holed = table.head(2).assign(a=np.nan)
    assert fit.predict(holed).isna().all()
    assert fit.predict(table.head(0)).empty


def test_ties_go_to_the_first_class():
    shares = np.array([[0.5, 0.5, 0.0], [0.2, 0.4, 0.4], [np.nan] * 3])
    codes = most_likely(shares)
    assert list(codes) == [0, 1, -1]
    labels = class_labels(codes, Response("c", "classification", pd.Index([10, 20, 30])))
    assert list(labels[:2]) == [10, 20]
    assert pd.isna(labels[2])


@pytest.mark.parametrize("type", ["class", "prob"])
def test_a_regression_has_no_classes(number_tree, type):
    with pytest.raises(InputError, match=f"type='{type}' needs classes.*kind=\"classification\""):
        number_tree.predict(type=type)


def test_unknown_type(number_tree):
    with pytest.raises(InputError, match=r"'leaf', 'trees'; did you mean 'prob'\?"):
        number_tree.predict(type="probs")
