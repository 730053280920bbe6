from __future__ import annotations

import numpy as np
import pytest
import statsmodels.formula.api as smf

import odrf
from odrf import InputError

COLUMNS = ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper", "obs_ci_lower", "obs_ci_upper"]


@pytest.fixture(scope="module")
def forest(table):
    return odrf.odrf("y ~ a + b + f", table, n_trees=60, seed=1)


@pytest.mark.filterwarnings("ignore:60 trees are few")
@pytest.mark.parametrize("of_training", [True, False])
def test_it_has_the_numbers_of_predict(forest, table, of_training):
    new = None if of_training else table[::3]
    frame = forest.get_prediction(new).summary_frame(level=0.8)
    assert list(frame) == COLUMNS
    means = forest.predict(new, interval="confidence", level=0.8)
    responses = forest.predict(new, interval="prediction", level=0.8)
    assert frame.index.equals(means.index)
    assert (frame["mean"] == means["estimate"]).all()
    assert (frame["mean_se"] == means["std_error"]).all()
    for end, own in (("lower", "conf_low"), ("upper", "conf_high")):
        np.testing.assert_allclose(frame[f"mean_ci_{end}"], means[own], rtol=1e-12)
        np.testing.assert_allclose(frame[f"obs_ci_{end}"], responses[own], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:60 trees are few")
def test_intervals_are_one_by_one_what_the_frame_has(forest, table):
    prediction = forest.get_prediction(table[:7])
    frame = prediction.summary_frame()
    assert (prediction.conf_int() == frame[["mean_ci_lower", "mean_ci_upper"]]).all(axis=None)
    assert (prediction.conf_int(obs=True) == frame[["obs_ci_lower", "obs_ci_upper"]]).all(axis=None)
    assert (prediction.var_pred_mean == frame["mean_se"] ** 2).all()
    assert "mean_se" in repr(prediction)


def test_columns_are_those_of_statsmodels(forest, table):
    linear = smf.ols("y ~ a + b", table).fit()
    assert list(linear.get_prediction(table).summary_frame()) == COLUMNS


def test_only_forests_of_numbers_have_it(table, class_forest, number_tree):
    with pytest.raises(InputError, match="needs a regression"):
        class_forest.get_prediction(table)
    with pytest.raises(AttributeError, match="it is of forests"):
        number_tree.get_prediction(table)
    every = odrf.odrf("y ~ a + b + f", table, n_trees=3, resample="none", seed=1)
    with pytest.raises(InputError, match=r"out-of-bag|out of bag"):
        every.get_prediction(table)


@pytest.mark.filterwarnings("ignore:60 trees are few")
@pytest.mark.parametrize("level", [0, 1, -0.1, "x", None])
def test_the_level_is_a_share(forest, table, level):
    with pytest.raises(InputError, match="level="):
        forest.get_prediction(table[:3]).summary_frame(level=level)


@pytest.mark.filterwarnings("ignore:60 trees are few")
def test_alpha_of_statsmodels_is_answered_by_the_level(forest, table):
    prediction = forest.get_prediction(table[:3])
    for call in (prediction.summary_frame, prediction.conf_int):
        with pytest.raises(
            InputError, match=r"no argument 'alpha': use level=, which is 1 - alpha"
        ):
            call(alpha=0.1)
    with pytest.raises(InputError, match=r"use level=, which is 1 - alpha"):
        forest.predict(table[:3], interval="prediction", alpha=0.1)
    with pytest.raises(InputError, match="did you mean 'level'"):
        forest.predict(table[:3], interval="prediction", conf_level=0.9)
    with pytest.raises(
        TypeError, match=r"takes none by position, .*summary_frame\(…, name=value\)"
    ):
        prediction.summary_frame(0.1)
