"""Ratios of averages, some of which divide by 0."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.errors import InputError

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* trees are few for standard errors:UserWarning", "ignore::RuntimeWarning"
)


@pytest.fixture(scope="module")
def ratios():
    """Ratios of the probabilities of u and v, of which the second and the fourth are infinite."""
    rng = np.random.default_rng(1)
    level = np.repeat(["a", "b", "c"], 40)
    y = np.where((level == "a") | (rng.random(120) < 0.5), "u", "v")
    data = pd.DataFrame({"f": level, "y": y})
    fit = odrf.odrf("y ~ f", data, n_trees=20, blend=False, seed=1)
    return fit.comparisons("f", comparison="ratio")


def test_covariances_with_infinite_ratios_are_unknown(ratios):
    finite = np.isfinite(ratios.table["estimate"].to_numpy())
    assert finite.tolist() == [True, False, True, False]
    known = ratios.covariance[np.ix_(finite, finite)]
    errors = ratios.table["std_error"].to_numpy()
    np.testing.assert_allclose(np.diagonal(known), errors[finite] ** 2)
    assert np.isfinite(known).all() and known[0, 1] != 0
    assert np.isnan(ratios.covariance[~finite]).all()
    assert np.isnan(ratios.covariance[:, ~finite]).all()


@pytest.mark.parametrize("hypothesis", [["b1 = 1", "b3 = 1"], [[1, 0, 0, 0], [0, 0, 1, 0]]])
def test_finite_ratios_are_tested_beside_infinite_ones(ratios, hypothesis):
    tests = ratios.hypotheses(hypothesis, joint=True)
    alone = ratios.table.iloc[[0, 2]]
    np.testing.assert_allclose(tests.table["std_error"], alone["std_error"])
    off = isinstance(hypothesis[0], str)
    np.testing.assert_allclose(tests.table["estimate"], alone["estimate"] - off)
    assert tests.joint.df == 2 and np.isfinite(tests.joint.statistic)
    assert np.isfinite(tests.covariance).all()


@pytest.mark.parametrize("hypothesis", ["pairwise", np.eye(4), [[0, 1, 0, 0]]])
def test_hypotheses_about_infinite_ratios_are_refused(ratios, hypothesis):
    with pytest.raises(InputError, match="b2 has no finite value"):
        ratios.hypotheses(hypothesis)


def test_a_ratio_of_0_to_0_has_a_reason(ratios):
    assert "NaN where both" not in str(ratios.summary())
    data = pd.DataFrame({"a": np.arange(40.0), "y": np.repeat([0.0, 1.0], 20)})
    fit = odrf.odt("y ~ a", data, alpha=None, projection="axis", seed=1)
    found = fit.comparisons("a", contrast=[5.0, 6.0], comparison="ratio")
    assert np.isnan(found.table["estimate"].iloc[0])
    assert "NaN where both predictions are 0" in str(found.summary())
