"""A weight of 2 is the same as the row twice, in all results of a fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.scores import confusion_table
from odrf.results.forest import ODRFResults
from odrf.statistics.strength import of_classes, of_numbers

AXIS = {"projection": "axis", "min_leaf": 1, "seed": 1}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(28, 2)), columns=["a", "b"])
    data["y"] = data["a"] + rng.normal(size=28)
    data["c"] = np.select([data["y"] < -1, data["y"] < 1], ["low", "mid"], "top")
    return data


@pytest.fixture(scope="module")
def times():
    return np.random.default_rng(6).integers(1, 4, 28)


@pytest.mark.parametrize("response", ["y", "c"])
def test_of_a_tree(table, times, response):
    one = odrf.odt(f"{response} ~ a + b", table, weights=times, max_leaves=4, **AXIS)
    many = odrf.odt(
        f"{response} ~ a + b", table.loc[table.index.repeat(times)], max_leaves=4, **AXIS
    )
    assert one.splits["threshold"].equals(many.splits["threshold"])
    assert one.training_error == pytest.approx(many.training_error)
    np.testing.assert_allclose(one.nodes["impurity"], many.nodes["impurity"], atol=1e-12)
    np.testing.assert_allclose(
        one.pruning_path(cv=None).table["error"], many.pruning_path(cv=None).table["error"]
    )
    if response == "c":
        assert one.confusion_matrix.equals(many.confusion_matrix)
    else:
        assert one.r_squared == pytest.approx(many.r_squared)


def test_of_a_confusion_matrix_with_broken_weights(table):
    weights = np.linspace(0.25, 2, 28)
    tree = odrf.odt("c ~ a + b", table, weights=weights, max_leaves=4, seed=1)
    matrix = tree.confusion_matrix
    counts = matrix.drop(columns="error")
    assert counts.to_numpy().sum() == pytest.approx(weights.sum())
    assert 1 - np.diag(counts).sum() / weights.sum() == pytest.approx(tree.training_error)
    assert (confusion_table(tree.fit, np.full((28, 3), np.nan)).drop(columns="error") == 0).all(
        axis=None
    )


def test_of_a_forests_confusion_matrix(table, times):
    forest = odrf.odrf("c ~ a + b", table, weights=times, n_trees=12, seed=1)
    counts = forest.confusion_matrix.drop(columns="error").to_numpy()
    known = forest.oob_prediction.notna()
    assert counts.sum() == times[known].sum()
    assert 1 - np.trace(counts) / counts.sum() == pytest.approx(forest.oob_error)


def test_of_strength_and_correlation(times):
    rng = np.random.default_rng(7)
    n, B, K = 28, 6, 3
    y = rng.integers(0, K, n)
    predicted = np.where(rng.random((n, B)) < 0.6, y[:, None], rng.integers(0, K, (n, B)))
    residual, unseen = rng.normal(size=(n, B)), rng.random((n, B)) < 0.6
    rows, ones = np.repeat(np.arange(n), times), np.ones(times.sum())
    weights = times.astype(float)
    np.testing.assert_allclose(
        of_classes(predicted, unseen, y, weights, K, [3, B]),
        of_classes(predicted[rows], unseen[rows], y[rows], ones, K, [3, B]),
    )
    np.testing.assert_allclose(
        of_numbers(residual, unseen, weights, [3, B]),
        of_numbers(residual[rows], unseen[rows], ones, [3, B]),
    )


def test_strength_takes_the_weights_of_the_fit(table, times):
    forest = odrf.odrf("y ~ a + b", table, weights=times, n_trees=12, seed=1)
    assert forest.strength_correlation().table["error"].iloc[-1] == pytest.approx(forest.oob_error)
    data = replace(forest.fit.data, weights=np.ones(28))
    plain = ODRFResults(replace(forest.fit, data=data)).strength_correlation().table
    assert (
        plain["tree_error"].iloc[-1] != forest.strength_correlation().table["tree_error"].iloc[-1]
    )


@pytest.mark.parametrize("response", ["y", "c"])
def test_of_boosted_trees(table, times, response):
    options = {"n_trees": 4, "max_depth": 2, **AXIS}
    one = odrf.odbt(f"{response} ~ a + b", table, weights=times, **options)
    many = odrf.odbt(f"{response} ~ a + b", table.loc[table.index.repeat(times)], **options)
    np.testing.assert_allclose(one.loss_path, many.loss_path)
    assert one.training_error == pytest.approx(many.training_error)
