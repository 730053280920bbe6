""""""

from __future__ import annotations

import math

import numpy as np
import patsy
import pytest
from patsy import EvalEnvironment
from patsy.splines import BS

from odrf.design.functions import (
    FUNCTIONS,
    HeldBSpline,
    OrthogonalPolynomial,
    bs,
    poly,
    users_names,
)


def test_the_users_own_meaning_wins():
    def log(x):
        return x

    assert users_names({"log", "sqrt"}, EvalEnvironment([{"log": log}])) == {"log": log}


def test_narrower_functions_of_the_same_name_give_way():
    env = EvalEnvironment([{"log": math.log, "bs": patsy.bs, "floor": math.floor}])
    assert users_names({"log", "bs", "floor"}, env) == {}


def test_elementary_functions_are_numpys():
    assert FUNCTIONS["log"] is np.log
    assert FUNCTIONS["sqrt"] is np.sqrt


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=50)


def learned(kind, *args):
    transform = kind()
    transform.memorize_chunk(X, *args)
    transform.memorize_finish()
    return transform


def test_bs_is_patsys_within_the_knots():
    np.testing.assert_array_equal(bs(X, 5), learned(BS, 5).transform(X, 5))


def test_bs_holds_beyond_the_knots():
    spline = learned(HeldBSpline, 5)
    outside = spline.transform([X.min() - 9, X.max() + 9], 5)
    np.testing.assert_array_equal(outside, spline.transform([X.min(), X.max()], 5))


def test_poly_is_orthonormal_and_spans_the_powers():
    basis = poly(X, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-12)
    powers = np.vander(X, 4)
    fitted = np.column_stack([np.ones(50), basis])
    residual = powers - fitted @ np.linalg.lstsq(fitted, powers, rcond=None)[0]
    np.testing.assert_allclose(residual, 0, atol=1e-10)


def test_poly_on_four_equidistant_points():
    expected = np.column_stack([[-3, -1, 1, 3] / np.sqrt(20), [0.5, -0.5, -0.5, 0.5]])
    np.testing.assert_allclose(poly([1, 2, 3, 4], 2), expected)


def test_poly_on_new_data_continues_the_training_polynomial():
    curve = learned(OrthogonalPolynomial, 2)
    new = np.linspace(-3, 3, 7)
    coefficients = np.polyfit(X, curve.transform(X, 2)[:, 1], 2)
    np.testing.assert_allclose(curve.transform(new, 2)[:, 1], np.polyval(coefficients, new))


@pytest.mark.parametrize("degree", [0, 3])
def test_poly_needs_more_distinct_values_than_its_degree(degree):
    with pytest.raises(ValueError, match="distinct values"):
        poly([1, 2, 3, 3], degree)
