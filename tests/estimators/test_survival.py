"""The estimators for survival times: their functions, in the form of scikit-survival."""

from __future__ import annotations

import inspect
import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import odrf
from odrf import simulate
from odrf.errors import InputError
from odrf.sklearn import ODBTSurvival, ODRFSurvival, ODTSurvival
from odrf.statistics.survival.discrimination import harrells_c

FOREST = ODRFSurvival(n_trees=12, random_state=1)
SHORT = [FOREST, ODBTSurvival(n_trees=12, random_state=1), ODTSurvival(random_state=1)]
FUNCTIONS = {ODRFSurvival: odrf.odrf, ODBTSurvival: odrf.odbt, ODTSurvival: odrf.odt}
PREDICTORS = ["x1", "x2", "x3"]
FORMULA = "Surv(time, event) ~ x1 + x2 + x3"

each_kind = pytest.mark.parametrize("estimator", SHORT, ids=lambda each: type(each).__name__)


@pytest.fixture(scope="module", name="data")
def lifetimes():
    data = simulate.proportional_hazards(p=3, relevant=2).sample(160, seed=1)
    return data.set_index(pd.Index([f"row {i}" for i in range(160)]))


@pytest.fixture(scope="module", name="X")
def predictors(data):
    return data[PREDICTORS]


@pytest.fixture(scope="module", name="y")
def structured(data):
    """As ``Surv.from_arrays`` of scikit-survival gives it."""
    y = np.empty(len(data), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = data["event"], data["time"]
    return y


@each_kind
def test_the_fit_is_that_of_the_function(estimator, X, y, data):
    fitted = clone(estimator).fit(X, y)
    size = {} if estimator is SHORT[-1] else {"n_trees": 12}
    fit = FUNCTIONS[type(estimator)](FORMULA, data, seed=1, **size)
    assert type(fitted.results_) is type(fit)
    assert fitted.results_.formula == "Surv(time, event) ~ ."
    assert fitted.predict(X).tolist() == fit.predict(data).tolist()
    assert fitted.unique_times_.tolist() == fit.event_times.tolist()
    assert fitted.n_features_in_ == 3
    assert fitted.feature_names_in_.tolist() == PREDICTORS
    shares = fit.importance("impurity")["share"].reindex(PREDICTORS)
    np.testing.assert_allclose(fitted.feature_importances_, shares)
    assert fitted.apply(X).tolist() == fit.predict(data, type="leaf").to_numpy().tolist()


@each_kind
@pytest.mark.parametrize(
    ("method", "type", "before"),
    [
        ("predict_survival_function", "survival", 1.0),
        ("predict_cumulative_hazard_function", "hazard", 0.0),
    ],
)
def test_curves_are_step_functions_or_an_array(estimator, method, type, before, X, y, data):
    fitted = clone(estimator).fit(X, y)
    times = fitted.unique_times_
    values = getattr(fitted, method)(X[:5], return_array=True)
    assert values.tolist() == fitted.results_.predict(data[:5], type=type).to_numpy().tolist()
    curves = getattr(fitted, method)(X[:5])
    assert curves.shape == (5,)
    for curve, line in zip(curves, values, strict=True):
        assert curve.x.tolist() == times.tolist()
        assert curve.y.tolist() == line.tolist()
        assert curve.domain == (0.0, times[-1])
        assert curve(times).tolist() == line.tolist()
        assert curve(0.0) == before
        assert curve((times[3] + times[4]) / 2) == line[3]
        assert curve(2 * times[-1]) == line[-1]
    with pytest.raises(InputError, match="at least 0"):
        curves[0]([-1.0, 1.0])
    again = pickle.loads(pickle.dumps(curves[0]))
    assert again(times).tolist() == values[0].tolist()


@each_kind
def test_the_score_is_harrells_c(estimator, X, y):
    fitted = clone(estimator).fit(X[:100], y[:100])
    weights = 1.0 + np.arange(60) % 3
    risk, time, event = fitted.predict(X[100:]), y["time"][100:], y["event"][100:]
    assert fitted.score(X[100:], y[100:]) == harrells_c(time, event, risk).estimate > 0.6
    weighted = fitted.score(X[100:], y[100:], sample_weight=weights)
    assert weighted == harrells_c(time, event, risk, weights).estimate
    with pytest.raises(InputError, match="no two rows"):
        fitted.score(X[:1], y[:1])


@each_kind
def test_there_and_back(estimator, X, y):
    fitted = clone(estimator).fit(X, y)
    back = fitted.results_.to_sklearn()
    assert type(back) is type(fitted)
    assert back.predict(X).tolist() == fitted.predict(X).tolist()
    assert back.feature_names_in_.tolist() == PREDICTORS
    assert clone(back).fit(X, y).predict(X).tolist() == fitted.predict(X).tolist()
    assert pickle.loads(pickle.dumps(fitted)).predict(X).tolist() == fitted.predict(X).tolist()
    assert not hasattr(clone(fitted), "results_")
    with pytest.raises(NotFittedError):
        clone(fitted).predict(X)


@each_kind
def test_tools_of_scikit_learn(estimator, X, y):
    scores = cross_val_score(estimator, X, y, cv=3)
    assert (scores > 0.5).all()
    assert scores.shape == (3,)
    search = GridSearchCV(estimator, {"min_leaf": [2, 20]}, cv=3).fit(X, y)
    assert search.best_params_["min_leaf"] in (2, 20)
    pipeline = make_pipeline(StandardScaler(), clone(estimator)).fit(X, y)
    assert pipeline.score(X, y) > 0.6


def test_a_wide_frame_in_many_blocks_is_no_reason_for_a_warning(y, recwarn):
    text = pd.DataFrame(np.random.default_rng(1).normal(size=(len(y), 120))).to_csv(index=False)
    wide = pd.read_csv(io.StringIO(text)).add_prefix("v")
    assert ODRFSurvival(n_trees=2, random_state=1).fit(wide, y).results_.nobs == len(y)
    assert not [str(warning.message) for warning in recwarn]


@pytest.mark.parametrize("estimator", SHORT[:2], ids=lambda each: type(each).__name__)
def test_warm_start_adds_trees(estimator, X, y):
    if isinstance(estimator, ODBTSurvival):
        stopped = clone(estimator).set_params(n_trees=5, warm_start=True).fit(X, y)
        with pytest.raises(odrf.InputError, match="fit with validation=None"):
            stopped.set_params(n_trees=12).fit(X, y)
        estimator = clone(estimator).set_params(validation=None)
    warm = clone(estimator).set_params(n_trees=5, warm_start=True).fit(X, y)
    warm.set_params(n_trees=12).fit(X, y)
    assert warm.predict(X).tolist() == clone(estimator).fit(X, y).predict(X).tolist()


@each_kind
def test_rows_of_weight_0_are_left_out(estimator, X, y):
    some = np.arange(len(X)) % 3 > 0
    weighted = clone(estimator).fit(X, y, sample_weight=some)
    assert (
        weighted.predict(X).tolist() == clone(estimator).fit(X[some], y[some]).predict(X).tolist()
    )


@each_kind
def test_every_option_is_a_parameter_and_is_described(estimator):
    options = inspect.signature(FUNCTIONS[type(estimator)]).parameters
    parameters = inspect.signature(type(estimator)).parameters
    elsewhere = {"formula", "data", "weights", "kind", "class_weights", "objective"}
    expected = {"random_state" if name == "seed" else name for name in options.keys() - elsewhere}
    assert parameters.keys() - {"warm_start"} == expected
    words = inspect.getdoc(type(estimator))
    assert "unique_times_ : (R,) array" in words
    assert "classes_" not in words


def test_data_frames_and_other_names_hold_times_too(X, y, data):
    expected = clone(FOREST).fit(X, y).predict(X).tolist()
    for frame in (
        data[["event", "time"]],
        data[["time", "event"]],
        data[["event", "time"]].astype({"event": int}),
        pl.from_pandas(data[["event", "time"]].reset_index(drop=True)),
        pd.DataFrame({"x1": data["event"], "days gone": data["time"]}),
    ):
        fitted = clone(FOREST).fit(X, frame)
        assert fitted.predict(X).tolist() == expected
    assert fitted.results_.formula == "Surv(`days gone`, x1_) ~ ."
    arrays = clone(FOREST).fit(X.to_numpy(), y)
    assert not hasattr(arrays, "feature_names_in_")
    assert arrays.predict(X.to_numpy()).tolist() == expected


def test_rows_that_enter_late(X, data):
    table = data.assign(start=data["time"] / 2)
    y = table[["start", "time", "event"]]
    fitted = clone(FOREST).fit(X, y)
    fit = odrf.odrf("Surv(start, time, event) ~ x1 + x2 + x3", table, n_trees=12, seed=1)
    assert fitted.predict(X).tolist() == fit.predict(data).tolist()
    start = table["start"].to_numpy()
    event = table["event"].to_numpy()
    expected = harrells_c(table["time"].to_numpy(), event, fitted.predict(X), None, start)
    assert fitted.score(X, y) == expected.estimate


def test_causes_of_events_are_categories(X, data):
    names = pd.Series(["alive", "a", "b"])
    causes = names[np.where(data["event"], 1 + np.arange(160) % 2, 0)]
    kind = pd.Categorical(causes, categories=["alive", "a", "b"])
    y = pd.DataFrame({"kind": kind, "time": data["time"].to_numpy()})
    fitted = clone(FOREST).fit(X, y)
    assert fitted.results_.predict(X[:3], type="incidence", times=1.0).shape == (3, 2)
    assert fitted.score(X, y) > 0.6


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "it is None"),
        (np.ones(160), "takes y as a structured array.*it is ndarray"),
        (np.ones((160, 2)), "it is ndarray"),
        (pd.DataFrame({"event": np.ones(160), "time": np.ones(160)}), "2 of them events"),
        (pd.DataFrame({"status": [1, 2] * 80, "time": np.arange(160.0)}), "0 of them events"),
        (pd.DataFrame({"a": [True] * 160, "b": [True] * 160}), "2 of them events"),
        (pd.DataFrame({"event": [True] * 160}), r"columns \['event'\]"),
        (pd.DataFrame({"e": [True] * 9, "t": np.ones(9)}), "inconsistent numbers"),
        (pd.DataFrame({"e": [True] * 160, "t": [np.nan, *[1.0] * 159]}), "y is missing in 1 row"),
        (pd.DataFrame({"e": [False] * 160, "t": np.arange(160.0)}), "no events"),
        (pd.DataFrame({"e": [True] * 160, "t": np.arange(160.0) - 5}), "negative times"),
    ],
)
def test_other_responses_are_refused(y, message, X):
    with pytest.raises(ValueError, match=message):
        clone(FOREST).fit(X, y)


def test_a_loss_of_other_responses_is_refused(X, y):
    with pytest.raises(InputError, match="loss='absolute' is not for a survival time"):
        ODBTSurvival(loss="absolute").fit(X, y)
