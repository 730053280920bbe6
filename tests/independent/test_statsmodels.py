"""Standard errors, intervals and tests against those of statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.stats.libqsturng import qsturng

from odrf.evaluation.compare import critical_difference
from odrf.pruning.validation import held_out_sums
from odrf.statistics.calibration import variance_of_groups
from odrf.statistics.effects import function_of_estimates, joint_test, with_errors
from odrf.statistics.importance_tests import judged_differences

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
    estimate, error, t, p, *ends = judged_differences(LOSSES, WEIGHTS, GROUPS, "t", 0.9)
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
