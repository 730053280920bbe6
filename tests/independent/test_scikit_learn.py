"""Axis-parallel trees against those of scikit-learn: predictions, importances, forests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.inspection import permutation_importance
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from statsmodels.stats.libqsturng import qsturng

import odrf
from independent.own_draws import AXIS, CASES, ROWS, first_rows, grown
from odrf.evaluation.compare import critical_difference
from odrf.pruning.validation import held_out_sums
from odrf.sklearn import ODTClassifier, ODTRegressor
from odrf.statistics.calibration import variance_of_groups
from odrf.statistics.effects import function_of_estimates, joint_test, with_errors
from odrf.statistics.importance_tests import evaluated_differences
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


# ------------------------------------------------------------------------------------------------
# Standard errors, intervals and tests against those of statsmodels.
# ------------------------------------------------------------------------------------------------


N = 90
RNG = np.random.default_rng(5)
GROUPS = RNG.integers(0, 17, N)
WEIGHTS = RNG.uniform(0.5, 2, N)
LOSSES = RNG.normal(0.3, 1, N) + RNG.normal(size=17)[GROUPS]
X = sm.add_constant(RNG.normal(size=(N, 3)))
Y = X @ [1, 0.5, 0.2, 0.0] + RNG.normal(size=N)


def mean_by_regression(**covariance):
    """The weighted mean loss as the constant of a regression."""
    return sm.WLS(LOSSES, np.ones(N), WEIGHTS).fit(**covariance)


def test_tests_of_differences_are_those_of_a_regression_with_clusters():
    theirs = mean_by_regression(cov_type="cluster", cov_kwds={"groups": GROUPS}, use_t=True)
    estimate, error, t, p, *ends = evaluated_differences(LOSSES, WEIGHTS, GROUPS, "t", 0.9)
    assert (estimate, error, t) == pytest.approx(
        (theirs.params[0], theirs.bse[0], theirs.tvalues[0])
    )
    # theirs has two sides
    assert 2 * p == pytest.approx(theirs.pvalues[0])
    assert ends == pytest.approx(theirs.conf_int(0.1)[0])
    parts = WEIGHTS / WEIGHTS.sum() * (LOSSES - estimate)
    assert np.sqrt(variance_of_groups(parts, GROUPS)) == pytest.approx(theirs.bse[0])


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_standard_errors_of_held_out_errors_are_robust_ones(groups):
    """Without a correction for the number of rows or groups."""
    kind = (
        {"cov_type": "HC0"}
        if groups is None
        else {"cov_type": "cluster", "cov_kwds": {"groups": groups, "use_correction": False}}
    )
    theirs, ours = mean_by_regression(**kind), held_out_sums(LOSSES[None], WEIGHTS, groups)
    assert ours.mean[0] == pytest.approx(theirs.params[0])
    assert ours.standard_error[0] == pytest.approx(theirs.bse[0])


@pytest.mark.parametrize("by_t", [False, True])
def test_estimates_and_hypotheses_are_tested_alike(by_t):
    """By the normal distribution and χ², or by Student's t and F; functions by the delta method."""
    fit = sm.OLS(Y, X).fit(use_t=by_t)
    df = fit.df_resid if by_t else np.inf
    estimate, covariance = fit.params, fit.cov_params()
    ours = with_errors(pd.DataFrame(index=range(4)), estimate, fit.bse, 0.9, df=df)
    np.testing.assert_allclose(ours["statistic"], fit.tvalues)
    np.testing.assert_allclose(ours["p_value"], fit.pvalues)
    np.testing.assert_allclose(ours[["conf_low", "conf_high"]], fit.conf_int(0.1))
    found = [function_of_estimates(each, estimate) for each in ("b2 = b3", "b4 = 0.1")]
    value, gradient = (np.array(part) for part in zip(*found, strict=True))
    one_by_one = fit.t_test((gradient, [0, 0.1]))
    np.testing.assert_allclose(value, one_by_one.effect - [0, 0.1])
    np.testing.assert_allclose(np.sqrt(np.diag(gradient @ covariance @ gradient.T)), one_by_one.sd)
    together = fit.wald_test((gradient, [0, 0.1]), scalar=True)
    joint = joint_test(value, gradient @ covariance @ gradient.T, df)
    assert joint.p_value == pytest.approx(together.pvalue)
    assert joint.statistic / (joint.df if by_t else 1) == pytest.approx(together.statistic)


@pytest.mark.parametrize("methods", [3, 8])
def test_the_critical_difference_of_ranks_has_their_quantile(methods):
    """Their quantiles of the studentised range are approximations, to three digits."""
    theirs = qsturng(0.95, methods, np.inf) / np.sqrt(2) * np.sqrt(methods * (methods + 1) / 60)
    assert critical_difference(methods, 10) == pytest.approx(theirs, rel=2e-3)
