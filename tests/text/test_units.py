"""A split in the units of the data sends rows where the engine sends the scaled rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patsy import EvalEnvironment

from odrf.design import build_design
from odrf.text.splits import node_of_terms, user_splits
from stumps import stump


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "y": rng.normal(size=40),
            "year": rng.integers(1970, 2000, 40),
            "tiny": rng.normal(size=40) * 1e-6,
            "fixed": 7.0,
            "huge": rng.normal(size=40) * 1e9 + 1e9,
        }
    )


@pytest.fixture(scope="module")
def design(data):
    return build_design("y ~ year + tiny + fixed + huge", data, env=EvalEnvironment.capture())


def unit(values):
    return np.array(values) / np.linalg.norm(values)


@given(st.lists(st.floats(-1, 1).filter(lambda x: abs(x) > 0.01), min_size=4, max_size=4))
def test_both_units_agree_on_every_row(data, design, values):
    recipe, training = design
    theta = unit(values)
    projected = theta @ training.X
    threshold = float(np.sort(projected)[19:21].mean())
    user = user_splits(stump(dict(enumerate(theta)), threshold), recipe)
    raw = data[["year", "tiny", "fixed", "huge"]].to_numpy()
    left = raw @ user.coef <= user.threshold[0]
    clear = np.abs(projected - threshold) > 1e-9
    np.testing.assert_array_equal(left[clear], (projected <= threshold)[clear])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_single_column_has_coefficient_one(data, design, sign):
    recipe, _ = design
    user = user_splits(stump({0: sign}, sign * 0.5), recipe)
    year = data["year"]
    assert user.coef[0] == pytest.approx(sign)
    assert user.threshold[0] == pytest.approx(sign * (year.min() + year.max()) / 2)


def test_a_constant_column_has_coefficient_zero(data, design):
    recipe, _ = design
    user = user_splits(stump({0: 0.6, 2: 0.8}, 0.3), recipe)
    year = data["year"]
    np.testing.assert_allclose(user.coef, [1.0, 0.0])
    assert user.threshold[0] == pytest.approx(year.min() + 0.5 * np.ptp(year))


def test_leaves_have_no_threshold(design):
    user = user_splits(stump({0: 1.0}, 0.5), design[0])
    assert np.isnan(user.threshold[1:]).all()


def test_terms_know_their_node():
    np.testing.assert_array_equal(node_of_terms(stump({0: 0.6, 2: 0.8}, 0.3)), [0, 0])
