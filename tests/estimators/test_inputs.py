"""The estimators within the tools of scikit-learn, as users combine them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingRegressor
from sklearn.impute import SimpleImputer
from sklearn.inspection import PartialDependenceDisplay, permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from odrf.errors import InputError
from odrf.sklearn import ODRFClassifier, ODRFRegressor, ODTClassifier, ODTRegressor


@pytest.fixture(name="X")
def predictors(table):
    return table[["a", "b", "f"]]


@pytest.fixture
def forest():
    return ODRFRegressor(n_trees=12, random_state=1)


def test_pipeline_and_column_transformer(X, table):
    X = X.assign(a=X["a"].mask(np.arange(120) % 10 == 0))
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    numbers = ColumnTransformer(
        [("numbers", scaled, ["a", "b"]), ("factor", OneHotEncoder(), ["f"])]
    )
    model = make_pipeline(numbers, ODTClassifier(alpha=None, random_state=1)).fit(X, table["c"])
    assert model.score(X, table["c"]) > 0.8
    assert model[-1].n_features_in_ == 5
    assert not hasattr(model[-1], "feature_names_in_")
    named = make_pipeline(numbers, ODTClassifier(random_state=1)).set_output(transform="pandas")
    named[0].set_params(factor__sparse_output=False)
    named.fit(X, table["c"])
    assert list(named[-1].feature_names_in_) == [
        "numbers__a", "numbers__b", "factor__f_x", "factor__f_y", "factor__f_z",
    ]  # fmt: skip


def test_grid_search_in_two_processes(X, table):
    search = GridSearchCV(
        ODTRegressor(alpha=None, random_state=1), {"min_leaf": [2, 40]}, cv=3, n_jobs=2
    )
    search.fit(X, table["y"])
    assert search.best_params_ == {"min_leaf": 2}
    assert search.predict(X).shape == (120,)


def test_permutation_importance(X, table, forest):
    forest.fit(X, table["y"])
    found = permutation_importance(forest, X, table["y"], n_repeats=2, random_state=1)
    assert (found.importances_mean[:2] > 0.1).all()


def test_partial_dependence(X, table, forest):
    display = PartialDependenceDisplay.from_estimator(forest.fit(X, table["y"]), X, ["b"])
    curve = display.pd_results[0]["average"][0]
    assert curve[-1] > curve[0]


def test_calibration(X, table):
    forest = ODRFClassifier(n_trees=12, random_state=1)
    calibrated = CalibratedClassifierCV(forest, cv=3).fit(X, table["c"])
    assert calibrated.classes_.tolist() == ["low", "mid", "top"]
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    assert calibrated.score(X, table["c"]) > 0.7


def test_stacking(X, table, forest):
    members = [("forest", forest), ("tree", ODTRegressor(random_state=1))]
    stacked = StackingRegressor(members, LinearRegression(), cv=3).fit(X, table["y"])
    assert stacked.score(X, table["y"]) > 0.8


def test_groups_and_weights_are_routed(X, table):
    weights, groups = np.arange(120) % 4, np.arange(120) // 10
    tree, scorer = ODTClassifier(alpha=None, random_state=1), make_scorer(accuracy_score)
    with sklearn.config_context(enable_metadata_routing=True):
        tree.set_fit_request(sample_weight=True)
        scorer.set_score_request(sample_weight=True)
        scores = cross_val_score(
            tree, X, table["c"], scoring=scorer, cv=GroupKFold(3),
            params={"sample_weight": weights, "groups": groups},
        )  # fmt: skip
    expected = []
    for train, test in GroupKFold(3).split(X, groups=groups):
        fit = clone(tree).fit(X.iloc[train], table["c"].iloc[train], weights[train])
        right = fit.predict(X.iloc[test]) == table["c"].iloc[test]
        expected.append(np.average(right, weights=weights[test]))
    np.testing.assert_allclose(scores, expected)


def test_groups_are_routed_to_fit_if_it_asks_for_them(X, table):
    groups = np.arange(120) // 10
    tree = ODTClassifier(alpha=None, random_state=1)
    with sklearn.config_context(enable_metadata_routing=True):
        tree.set_fit_request(groups=True)
        found = cross_validate(
            tree, X, table["c"], cv=GroupKFold(3), params={"groups": groups}, return_estimator=True
        )
    for fit, (train, _) in zip(
        found["estimator"], GroupKFold(3).split(X, groups=groups), strict=True
    ):
        codes = pd.factorize(groups[train])[0]
        assert fit.results_.fit.data.structure.groups.tolist() == codes.tolist()


def test_clone_and_pickle(X, table, forest):
    forest.fit(X, table["y"])
    again = clone(forest)
    assert again.get_params() == forest.get_params()
    assert not hasattr(again, "results_")
    assert (pickle.loads(pickle.dumps(forest)).predict(X) == forest.predict(X)).all()


def test_data_frames_of_polars(X, table, forest):
    pandas = clone(forest).fit(X, table["y"])
    frame = pl.from_pandas(X.reset_index(drop=True))
    polars = clone(forest).fit(frame, pl.Series("y", table["y"].to_numpy()))
    assert polars.feature_names_in_.tolist() == ["a", "b", "f"]
    assert (polars.predict(frame) == pandas.predict(X)).all()


def test_five_thousand_columns_are_read_without_a_formula_that_lists_them():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 5000)), columns=[f"gene {j}" for j in range(5000)])
    tree = ODTClassifier(projection="axis", alpha=None, random_state=1)
    assert tree.fit(X, X["gene 7"] > 0).score(X, X["gene 7"] > 0) == 1.0
    assert tree.results_.formula == "`gene 7_` ~ ."
    assert tree.feature_importances_[7] == 1.0
    assert tree.fit(X.to_numpy(), X["gene 7"] > 0).feature_importances_[7] == 1.0


def test_arrays_with_empty_cells(table):
    X = table[["a", "b"]].to_numpy(copy=True)
    X[::7, 0] = np.nan
    tree = ODTClassifier(alpha=None, random_state=1).fit(X, table["c"])
    assert tree.score(X, table["c"]) > 0.8


@pytest.mark.parametrize("empty", [None, pd.NA, pd.NaT, np.nan])
@pytest.mark.parametrize("kind", [np.asarray, list])
def test_empty_cells_of_objects_are_those_of_numbers(table, empty, kind):
    X = table[["a", "b"]].to_numpy(copy=True)
    X[::7, 0] = np.nan
    objects = kind(np.where(np.isnan(X), empty, X.astype(object)))
    of_numbers = ODTClassifier(alpha=None, random_state=1).fit(X, table["c"])
    of_objects = ODTClassifier(alpha=None, random_state=1).fit(objects, table["c"])
    expected = of_numbers.predict_proba(X)
    assert (of_objects.predict_proba(objects) == expected).all()
    assert (of_numbers.predict_proba(objects) == expected).all()


@pytest.mark.parametrize("empty", [None, pd.NA, pd.NaT, np.nan])
@pytest.mark.parametrize(("estimator", "response"), [(ODTClassifier, "c"), (ODTRegressor, "y")])
def test_an_empty_response_is_refused(table, estimator, response, empty):
    y = table[response].to_numpy(dtype=object, copy=True)
    y[3] = empty
    for given in (y, pd.Series(y), pd.Series(y).convert_dtypes()):
        with pytest.raises(InputError, match=r"y is missing in 1 row \(index 3\): leave"):
            estimator().fit(table[["a", "b"]], given)
