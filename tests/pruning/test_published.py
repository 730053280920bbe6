"""Weakest links against scikit-learn's and rpart's, on trees that they grow alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import odrf


def frame(bunch):
    """The table as float32, in which scikit-learn searches for cuts."""
    X = bunch.data.astype(np.float32).astype(float)
    data = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    return data.assign(y=bunch.target)


def cart(data, kind, **options):
    return odrf.odt(
        "y ~ .",
        data,
        projection="axis",
        alpha=None,
        kind=kind,
        split_search="exact",
        seed=1,
        **options,
    )


def scaled(data):
    """Predictors as the engine sees them, so that both cut between the same numbers."""
    X = data.drop(columns="y")
    return ((X - X.min()) / (X.max() - X.min())).astype(np.float32)


# Grown until no node can be split: on these tables no two cuts of a node tie in gain.
@pytest.mark.parametrize(
    ("load", "kind"),
    [
        (load_diabetes, "regression"),
        (load_breast_cancer, "classification"),
        (load_wine, "classification"),
    ],
)
def test_the_sequence_is_that_of_scikit_learn(load, kind):
    data = frame(load())
    table = cart(data, kind, min_leaf=1).pruning_path(cv=None, loss="impurity").table
    model = DecisionTreeRegressor if kind == "regression" else DecisionTreeClassifier
    theirs = model(random_state=0).cost_complexity_pruning_path(scaled(data), data["y"])
    alphas, impurities = theirs.ccp_alphas, theirs.impurities
    root = impurities[-1]
    # of subtrees that the same α ties, the smallest is theirs too
    last = np.append(np.diff(alphas) > 1e-11 * root, True)
    np.testing.assert_allclose(table["alpha"] / root, alphas[last] / root, rtol=0, atol=1e-10)
    np.testing.assert_allclose(table["error"] / root, impurities[last] / root, rtol=0, atol=1e-10)


def test_iris_has_the_complexity_parameters_that_rpart_prints():
    # printcp(rpart(Species ~ ., iris)): CP 0.50, 0.44, 0.01; relative error 1.00, 0.50, 0.06
    data = frame(load_iris())
    tree = cart(data, "classification", max_leaves=3)
    table = tree.pruning_path(cv=None).table
    root = table["error"].iloc[-1]
    assert table["leaves"].tolist() == [3, 2, 1]
    np.testing.assert_allclose(table["alpha"] / root, [0.0, 0.44, 0.50], atol=1e-12)
    np.testing.assert_allclose(table["relative_error"], [0.06, 0.50, 1.00], atol=1e-12)
