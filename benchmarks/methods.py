"""The methods that the benchmarks compare, one function each.

A method takes the training rows (predictors and the response ``y``) and returns a function that
predicts ``y`` for new predictor rows.  Methods that know factors take the data frame as it is.  The
others take a matrix: predictors scaled to [0, 1] on the training rows, a factor either as one 0/1
indicator per level or, in the methods that end in ``_codes``, as the number of its level.  The
number of trees, the seed and the number of threads are given; the rest is the library's default.

To add a method, write its function and a line in ``METHODS``.  A library is imported by the methods
that use it, so that nobody needs them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.preprocessing import LabelEncoder, MinMaxScaler

import odrf

__all__ = ["METHODS", "Method", "Predictor", "Setting"]


@dataclass(frozen=True)
class Setting:
    """What every method is told: number of trees, seed, number of threads."""

    trees: int
    seed: int
    threads: int


Predictor = Callable[[pd.DataFrame], Any]
Method = Callable[[pd.DataFrame, str, Setting], Predictor]
Encoding = Callable[[pd.DataFrame], pd.DataFrame]


def oblique_forest(train: pd.DataFrame, task: str, setting: Setting) -> Predictor:
    """Forest of this package."""
    fit = odrf.odrf(
        "y ~ .", train, kind=task, n_trees=setting.trees, seed=setting.seed, n_jobs=setting.threads
    )
    return fit.predict


def oblique_tree(train: pd.DataFrame, task: str, setting: Setting) -> Predictor:
    """One tree of this package."""
    return odrf.odt("y ~ .", train, kind=task, seed=setting.seed).predict


def random_forest(train: pd.DataFrame, task: str, setting: Setting) -> Predictor:
    """scikit-learn's random forest, factors as indicators."""
    model = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return _on_matrix(_forest(model, setting), train, _indicators)


def random_forest_codes(train: pd.DataFrame, task: str, setting: Setting) -> Predictor:
    """scikit-learn's random forest, factors as codes."""
    model = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return _on_matrix(_forest(model, setting), train, _codes)


def extra_trees(train: pd.DataFrame, task: str, setting: Setting) -> Predictor:
    """scikit-learn's extremely randomised trees, factors as indicators."""
    model = ExtraTreesRegressor if task == "regression" else ExtraTreesClassifier
    return _on_matrix(_forest(model, setting), train, _indicators)


def extra_trees_codes(train: pd.DataFrame, task: str, setting: Setting) -> Predictor:
    """scikit-learn's extremely randomised trees, factors as codes."""
    model = ExtraTreesRegressor if task == "regression" else ExtraTreesClassifier
    return _on_matrix(_forest(model, setting), train, _codes)


def xgboost(train: pd.DataFrame, task: str, setting: Setting) -> Predictor:
    """XGBoost's boosted trees, factors as indicators."""
    from xgboost import XGBClassifier, XGBRegressor

    model = XGBRegressor if task == "regression" else XGBClassifier
    return _on_matrix(_forest(model, setting), train, _indicators)


def lightgbm(train: pd.DataFrame, task: str, setting: Setting) -> Predictor:
    """LightGBM's boosted trees, factors as indicators."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = LGBMRegressor if task == "regression" else LGBMClassifier
    return _on_matrix(_forest(model, setting, verbosity=-1), train, _indicators)


def ydf_forest(train: pd.DataFrame, task: str, setting: Setting) -> Predictor:
    """Yggdrasil's random forest with sparse oblique splits."""
    import ydf

    ydf.verbose(0)
    learner = ydf.RandomForestLearner(
        label="y",
        task=getattr(ydf.Task, task.upper()),
        num_trees=setting.trees,
        random_seed=setting.seed,
        num_threads=setting.threads,
        split_axis="SPARSE_OBLIQUE",
    )
    model = learner.train(_plain_text(train))
    predict = model.predict if task == "regression" else model.predict_class
    return lambda predictors: predict(_plain_text(predictors))


def _forest(model: Callable[..., Any], setting: Setting, **more: Any) -> Any:
    return model(
        n_estimators=setting.trees, random_state=setting.seed, n_jobs=setting.threads, **more
    )


def _on_matrix(model: Any, train: pd.DataFrame, encode: Encoding) -> Predictor:
    """Fit a model that wants a matrix of scaled numbers, and classes as 0 … K - 1."""
    scaler = MinMaxScaler()
    X = scaler.fit_transform(encode(train.drop(columns="y")))
    if pd.api.types.is_numeric_dtype(train["y"]):
        model.fit(X, train["y"].to_numpy())
        return lambda predictors: model.predict(scaler.transform(encode(predictors)))
    labels = LabelEncoder()
    model.fit(X, labels.fit_transform(train["y"]))
    return lambda predictors: labels.inverse_transform(
        np.asarray(model.predict(scaler.transform(encode(predictors))))
    )


def _indicators(predictors: pd.DataFrame) -> pd.DataFrame:
    return pd.get_dummies(predictors, dtype=float)


def _codes(predictors: pd.DataFrame) -> pd.DataFrame:
    factors = predictors.select_dtypes("category")
    return predictors.assign(**{str(name): factors[name].cat.codes for name in factors})


def _plain_text(data: pd.DataFrame) -> pd.DataFrame:
    return data.astype(dict.fromkeys(data.select_dtypes("category"), object))


METHODS: dict[str, Method] = {
    "odrf": oblique_forest,
    "odt": oblique_tree,
    "rf": random_forest,
    "rf_codes": random_forest_codes,
    "et": extra_trees,
    "et_codes": extra_trees_codes,
    "xgboost": xgboost,
    "lightgbm": lightgbm,
    "ydf": ydf_forest,
}
