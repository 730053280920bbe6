"""Axis-parallel trees against those of scikit-learn: predictions, importances, forests."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.inspection import permutation_importance
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import odrf
from independent.own_draws import AXIS, CASES, ROWS, first_rows, grown
from odrf.sklearn import ODTClassifier, ODTRegressor
from resampled import all_counts

THEIRS = {"diabetes": DecisionTreeRegressor, "breast_cancer": DecisionTreeClassifier}
OURS = {"diabetes": ODTRegressor, "breast_cancer": ODTClassifier}
# Nodes of few rows, where several cuts can be equally good, are not split.
LIMITS = {"min_leaf": 12, "max_depth": 4}


def table_of(table, n):
    """Predictors and response; the predictors in float32, in which scikit-learn reads them."""
    data = first_rows(table, n)
    return data.iloc[:, 1:].astype(np.float32), data.iloc[:, 0]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_a_weighted_tree_of_classes_predicts_new_rows_alike(criterion):
    X, y = table_of("breast_cancer", 400)
    weights = np.random.default_rng(1).uniform(0.5, 2, ROWS)
    tree = odrf.odt(
        CASES["breast_cancer"], X[:ROWS].assign(diagnosis=y), weights=weights, criterion=criterion,
        **AXIS | LIMITS,
    )  # fmt: skip
    cart = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=12, max_depth=4)
    cart.fit(X[:ROWS], y[:ROWS], weights)
    ours = tree.predict(X[ROWS:], type="prob")[cart.classes_]
    np.testing.assert_allclose(ours, cart.predict_proba(X[ROWS:]), atol=1e-9)


@pytest.mark.parametrize("table", CASES)
def test_shares_of_importance_are_theirs(table):
    X, y = table_of(table, 400)
    cart = THEIRS[table](min_samples_leaf=12, max_depth=4, random_state=1).fit(X, y)
    tree = odrf.odt(CASES[table], X.assign(**{y.name: y}), **AXIS | LIMITS)
    ours = tree.importance("impurity")["share"].reindex(X.columns)
    np.testing.assert_allclose(ours, cart.feature_importances_, atol=1e-9)


@pytest.mark.parametrize("table", CASES)
def test_the_same_permutations_raise_the_loss_alike(table):
    X, y = table_of(table, 400)
    cart = THEIRS[table](min_samples_leaf=12, max_depth=4, random_state=1).fit(X[:ROWS], y[:ROWS])
    own = AXIS | LIMITS | {"random_state": AXIS["seed"]}
    del own["seed"]
    tree = OURS[table](**own).fit(X[:ROWS], y[:ROWS])
    ours, theirs = (
        permutation_importance(each, X[ROWS:], y[ROWS:], n_repeats=2, random_state=3).importances
        for each in (tree, cart)
    )
    assert np.ptp(theirs) > 0.05
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_a_forest_is_the_mean_of_their_trees_on_the_rows_drawn():
    forest, new = grown("diabetes")
    X, y = table_of("diabetes", ROWS + len(new))
    counts = all_counts(forest.fit.draws)
    trees = [
        DecisionTreeRegressor(max_depth=2).fit(X[:ROWS], y[:ROWS], sample_weight=count)
        for count in counts.astype(float)
    ]
    values = np.array([tree.predict(X) for tree in trees])
    np.testing.assert_allclose(forest.predict(new), values[:, ROWS:].mean(axis=0), rtol=1e-9)
    unseen = np.ma.array(values[:, :ROWS], mask=counts > 0)
    np.testing.assert_allclose(forest.oob_prediction, unseen.mean(axis=0), rtol=1e-9)
    error = ((unseen.mean(axis=0) - np.asarray(y[:ROWS])) ** 2).mean()
    assert forest.oob_error == pytest.approx(error, rel=1e-9)
