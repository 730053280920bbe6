"""Offsets of boosted trees in all that predicts the response of new rows."""

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError


@pytest.fixture(scope="module")
def data(table):
    rng = np.random.default_rng(5)
    years = rng.uniform(0.5, 8, len(table))
    n = rng.poisson(years * np.exp(table["a"] / 2))
    return table.assign(log_years=np.log(years), n=n, c=np.where(n > 2, "many", "few"))


@pytest.fixture(scope="module")
def fit(data):
    return odrf.odbt("n ~ a + b + f", data, offset="log_years", loss="poisson", n_trees=8, seed=1)


@pytest.fixture(scope="module")
def given(data):
    values = data["log_years"].to_numpy()
    return odrf.odbt("n ~ a + b + f", data, offset=values, loss="poisson", n_trees=8, seed=1)


OF_ROWS = {
    "predictions": lambda fit, rows: fit.predictions(newdata=rows).table,
    "comparisons": lambda fit, rows: fit.comparisons("a", newdata=rows).table,
    "slopes": lambda fit, rows: fit.slopes("a", newdata=rows).table,
    "partial": lambda fit, rows: fit.partial("a", newdata=rows).table,
    "ice": lambda fit, rows: fit.ice("a", newdata=rows).table,
    "ale": lambda fit, rows: fit.ale("a", newdata=rows).table,
    "ale of two": lambda fit, rows: fit.ale(["a", "b"], newdata=rows).table,
    "ale of a factor": lambda fit, rows: fit.ale("f", newdata=rows).table,
    "interactions": lambda fit, rows: (
        fit.interactions(["a", "b"], newdata=rows, permutations=0).table
    ),
}


@pytest.mark.parametrize("name", OF_ROWS)
def test_new_rows_have_the_offsets_of_their_column(fit, given, data, name):
    of_new = OF_ROWS[name](fit, data)
    pd.testing.assert_frame_equal(of_new, OF_ROWS[name](fit, None))
    pd.testing.assert_frame_equal(of_new, OF_ROWS[name](given, None))
    later = OF_ROWS[name](fit, data.assign(log_years=data["log_years"] + np.log(10)))
    numbers = {"predictions": "estimate", "partial": "estimate"}.get(name)
    if numbers:
        np.testing.assert_allclose(later[numbers], 10 * of_new[numbers])
    with pytest.raises(InputError, match="'log_years' is not a column"):
        OF_ROWS[name](fit, data.drop(columns="log_years"))
    with pytest.raises(InputError, match="give new rows this column"):
        OF_ROWS[name](given, data)


def test_effects_are_of_predictions_with_offsets(fit, data):
    mean = fit.predictions(newdata=data).table["estimate"].iloc[0]
    assert mean == pytest.approx(fit.predict(data).mean())
    curve = fit.partial("a", values=[0.5], newdata=data).table["estimate"].iloc[0]
    assert curve == pytest.approx(fit.predict(data.assign(a=0.5)).mean())
    rows = fit.ice("a", values=[0.5], rows=1000).table
    assert rows["estimate"].mean() == pytest.approx(curve)


def test_one_prediction_is_explained_with_its_offset(fit, given, data):
    explained = fit.explain(data.iloc[[3]])
    assert explained.prediction["n"] == pytest.approx(fit.predict(data.iloc[[3]]).iloc[0])
    with pytest.raises(InputError, match="'log_years' is not a column"):
        fit.explain(data.drop(columns="log_years").iloc[[3]])
    with pytest.raises(InputError, match="give new rows this column"):
        given.explain(data.iloc[[3]])


def test_shapley_values_are_of_scores_without_offsets(fit, given, data):
    bare = data.drop(columns="log_years").head(5)
    shares, other = (each.shap(bare, background=20).values for each in (fit, given))
    np.testing.assert_allclose(shares, other)


def test_calibrated_probabilities_are_of_predictions_with_offsets(data):
    fit = odrf.odbt("c ~ a + b + f", data, offset="log_years", n_trees=8, seed=1)
    calibrated = fit.calibrate("platt")
    p = fit.predict(data, type="prob")["many"].to_numpy()
    found = calibrated.predict(data, type="prob")["many"]
    np.testing.assert_allclose(found, calibrated.recalibration.maps[1](p))
