"""The methods whose speed is compared, each with the input format that suits it best.

A method has two parts.  ``arrange`` converts rows to the format of the library; it is not timed.
``fit`` trains and returns functions that predict, a class as its number; both are timed.  This
package takes a formula and a data frame; scikit-learn and the boosters take float32 arrays, ydf a
dictionary of float32 columns, ranger a matrix in R's memory.

A single row is given in the format that suits the method best, too.  This package predicts it with
``fit.row_predictor()``, which takes the p raw values as a float64 array.  The others use the same
function for one row and for many; scikit-learn and the boosters take a float32 array (1, p).

All forests have the same number of trees.  Random forests are grown until their leaves are pure,
except for ``odrf``, which is this package's default.  ``odrf_sparse``, ``ydf_oblique`` and
``treeple`` try p projections at each node, each with 3 nonzero weights of ±1 on average (SPORF's
d = p and λ = 3/p).  At every node ydf tries single predictors as well; ``odrf_sparse_more`` tries
as many additional projections instead.  Out-of-bag errors are switched off where they cost time.
``odt`` and ``obliquetree`` are single trees, whatever the number of trees: compare them with each
other.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import ceil, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import odrf
from benchmarks.methods.methods import Setting
from odrf.options import words

__all__ = ["SINGLE_TREES", "SPEED_METHODS", "SpeedMethod", "missing", "version"]

NONZEROS = 3
RANGER = "benchmarks.speed.ranger_bridge"
SINGLE_TREES = ("odt", "obliquetree")

Arrange = Callable[[pd.DataFrame, "NDArray | None"], Any]
Predict = Callable[[Any], Any]


@dataclass(frozen=True)
class Model:
    """A trained model: functions that predict many rows, and one row."""

    predict: Predict
    predict_row: Predict


Fit = Callable[[Any, words.Kind, Setting], Model]


@dataclass(frozen=True)
class SpeedMethod:
    """A method: the module it needs, how rows and one row are arranged, its fit, its process."""

    module: str
    arrange: Arrange
    arrange_row: Callable[[pd.DataFrame], Any]
    fit: Fit
    pid: Callable[[], int] = os.getpid


def missing(name: str) -> str | None:
    """Return why the method cannot run here; None if it can."""
    try:
        import_module(SPEED_METHODS[name].module)
    except ImportError as error:
        return str(error)
    return None


def version(name: str) -> str:
    """Version of the method's library."""
    return str(import_module(SPEED_METHODS[name].module).__version__)


def frame(X: pd.DataFrame, y: NDArray | None = None) -> pd.DataFrame:
    """One data frame, the response in its last column."""
    return X.copy() if y is None else X.assign(y=y)


def values(X: pd.DataFrame) -> NDArray:
    """Values of the one row of X (1, p), as (p,) float64."""
    return X.to_numpy(np.float64)[0]


def arrays(X: pd.DataFrame, y: NDArray | None = None) -> Any:
    """Row-major float32 array, and the response."""
    return _rows(X, np.float32, y)


def doubles(X: pd.DataFrame, y: NDArray | None = None) -> Any:
    """Row-major float64 array, and the response."""
    return _rows(X, np.float64, y)


def columns(X: pd.DataFrame, y: NDArray | None = None) -> dict[str, NDArray]:
    """Float32 columns by name, and the response."""
    named = {str(name): X[name].to_numpy(np.float32) for name in X}
    return named if y is None else {**named, "y": y}


def in_r(X: pd.DataFrame, y: NDArray | None = None) -> Any:
    """Rows in R's memory."""
    return import_module(RANGER).rows(X, y)


def _rows(X: pd.DataFrame, dtype: type[np.floating], y: NDArray | None) -> Any:
    matrix = np.array(X, dtype, order="C")  # writable, as obliquetree wants it
    return matrix if y is None else (matrix, y)


def fit_default(data: pd.DataFrame, task: words.Kind, setting: Setting) -> Model:
    """Forest of this package at its defaults."""
    return _forest(odrf.odrf, data, task, setting)


def fit_grown(data: pd.DataFrame, task: words.Kind, setting: Setting) -> Model:
    """Forest of this package, leaves down to one row."""
    return _forest(odrf.odrf, data, task, setting, min_leaf=1)


def fit_axis(data: pd.DataFrame, task: words.Kind, setting: Setting) -> Model:
    """Forest of this package with single predictors only, leaves down to one row."""
    return _forest(odrf.odrf, data, task, setting, projection="axis", min_leaf=1)


def fit_sparse(data: pd.DataFrame, task: words.Kind, setting: Setting) -> Model:
    """Forest of this package with sparse random projections, leaves down to one row."""
    p = data.shape[1] - 1
    return _forest(odrf.odrf, data, task, setting, projection="sparse", n_projections=p, min_leaf=1)


def fit_sparse_more(data: pd.DataFrame, task: words.Kind, setting: Setting) -> Model:
    """Such a forest with as many more projections as ydf tries single predictors."""
    p = data.shape[1] - 1
    singles = ceil(p / 3) if task == "regression" else ceil(sqrt(p))
    return _forest(
        odrf.odrf, data, task, setting, projection="sparse", n_projections=p + singles, min_leaf=1
    )


def _forest(
    grow: Callable[..., Any], data: pd.DataFrame, task: words.Kind, setting: Setting, **options: Any
) -> Model:
    forest = _grown(grow, data, task, setting, **options)
    return Model(forest.predict, _made_first(forest.row_predictor))


def _grown(
    grow: Callable[..., Any], data: pd.DataFrame, task: words.Kind, setting: Setting, **options: Any
) -> Any:
    return grow(
        "y ~ .",
        data,
        kind=task,
        n_trees=setting.trees,
        seed=setting.seed,
        n_jobs=setting.threads,
        **options,
    )


def fit_guided(data: pd.DataFrame, task: words.Kind, setting: Setting) -> Model:
    """Guided forest of this package at its defaults."""
    return _forest(odrf.graf, data, task, setting)


def fit_guided_together(data: pd.DataFrame, task: words.Kind, setting: Setting) -> Model:
    """Such a forest, all planes of a step evaluated by one matrix product."""
    return _forest(odrf.graf, data, task, setting, batched=True)


def fit_boosted(data: pd.DataFrame, task: words.Kind, setting: Setting) -> Model:
    """Boosted trees of this package at its defaults, as many rounds as the setting has trees."""
    return _same_for_one_row(_grown(odrf.odbt, data, task, setting).predict)


def fit_tree(data: pd.DataFrame, task: words.Kind, setting: Setting) -> Model:
    """One tree of this package, leaves down to one row, as grown."""
    tree = odrf.odt(
        "y ~ .", data, kind=task, alpha=None, min_leaf=1, seed=setting.seed, n_jobs=setting.threads
    )
    return Model(tree.predict, _made_first(tree.row_predictor))


def _made_first(make: Callable[[], Predict]) -> Predict:
    """Return a function that is made when it is called first: that is no part of training."""
    made = cache(make)
    return lambda row: made()(row)


def estimator(module: str, family: str, **options: Any) -> Fit:
    """Classifier or regressor in the manner of scikit-learn; `family` ends neither way."""

    def fit(data: tuple[NDArray, NDArray], task: words.Kind, setting: Setting) -> Model:
        ending = "Regressor" if task == "regression" else "Classifier"
        model = getattr(import_module(module), family + ending)(
            n_estimators=setting.trees,
            random_state=setting.seed,
            n_jobs=setting.threads,
            **options,
        )
        return _same_for_one_row(model.fit(*data).predict)

    return fit


def fit_treeple(data: tuple[NDArray, NDArray], task: words.Kind, setting: Setting) -> Model:
    """Treeple's oblique forest, as many projections as predictors."""
    p = data[0].shape[1]
    fit = estimator(
        "treeple", "ObliqueRandomForest", max_features=p, feature_combinations=min(NONZEROS, p)
    )
    return fit(data, task, setting)


def fit_obliquetree(data: tuple[NDArray, NDArray], task: words.Kind, setting: Setting) -> Model:
    """One tree of obliquetree at its defaults, which grow it fully."""
    module = import_module("obliquetree")
    model = (module.Regressor if task == "regression" else module.Classifier)(
        random_state=setting.seed
    )
    model.fit(*data)
    return _same_for_one_row(model.predict)


def fit_ydf_axis(data: dict[str, NDArray], task: words.Kind, setting: Setting) -> Model:
    """Yggdrasil's random forest of single predictors."""
    return _fit_ydf(data, task, setting)


def fit_ydf_oblique(data: dict[str, NDArray], task: words.Kind, setting: Setting) -> Model:
    """Yggdrasil's random forest with sparse oblique splits."""
    return _fit_ydf(
        data,
        task,
        setting,
        split_axis="SPARSE_OBLIQUE",
        sparse_oblique_num_projections_exponent=1.0,
        sparse_oblique_projection_density_factor=float(NONZEROS),
        sparse_oblique_weights="BINARY",
    )


def _fit_ydf(data: dict[str, NDArray], task: words.Kind, setting: Setting, **options: Any) -> Model:
    ydf = import_module("ydf")
    ydf.verbose(0)
    model = ydf.RandomForestLearner(
        label="y",
        task=getattr(ydf.Task, task.upper()),
        num_trees=setting.trees,
        random_seed=setting.seed,
        num_threads=setting.threads,
        min_examples=1,
        max_depth=-1,
        winner_take_all=False,
        compute_oob_performances=False,
        **options,
    ).train(data)
    if task == "regression":
        return _same_for_one_row(lambda rows: model.predict(rows, num_threads=setting.threads))
    numbers = np.array([int(label) for label in model.label_classes()])
    return _same_for_one_row(
        lambda rows: numbers[_class_number(model.predict(rows, num_threads=setting.threads))]
    )


def fit_ranger(data: Any, task: words.Kind, setting: Setting) -> Model:
    """Random forest of R's ranger."""
    return _same_for_one_row(import_module(RANGER).fit(data, task, setting))


def pid_of_r() -> int:
    """Process that ranger runs in."""
    return import_module(RANGER).pid()


def _same_for_one_row(predict: Predict) -> Model:
    return Model(predict, predict)


def _class_number(probability: NDArray) -> NDArray:
    """Most probable class, from one column for each or that of the second class alone."""
    return probability.argmax(axis=1) if probability.ndim == 2 else (probability > 0.5).astype(int)


SPEED_METHODS: dict[str, SpeedMethod] = {
    "odrf": SpeedMethod("odrf", frame, values, fit_default),
    "odrf_grown": SpeedMethod("odrf", frame, values, fit_grown),
    "odrf_sparse": SpeedMethod("odrf", frame, values, fit_sparse),
    "odrf_sparse_more": SpeedMethod("odrf", frame, values, fit_sparse_more),
    "odrf_axis": SpeedMethod("odrf", frame, values, fit_axis),
    "graf": SpeedMethod("odrf", frame, values, fit_guided),
    "graf_batched": SpeedMethod("odrf", frame, values, fit_guided_together),
    "odbt": SpeedMethod("odrf", frame, frame, fit_boosted),
    "rf": SpeedMethod("sklearn", arrays, arrays, estimator("sklearn.ensemble", "RandomForest")),
    "rf_sqrt": SpeedMethod(
        "sklearn",
        arrays,
        arrays,
        estimator("sklearn.ensemble", "RandomForest", max_features="sqrt"),
    ),
    "et": SpeedMethod("sklearn", arrays, arrays, estimator("sklearn.ensemble", "ExtraTrees")),
    "ydf_oblique": SpeedMethod("ydf", columns, columns, fit_ydf_oblique),
    "ydf_axis": SpeedMethod("ydf", columns, columns, fit_ydf_axis),
    "ranger": SpeedMethod(RANGER, in_r, in_r, fit_ranger, pid_of_r),
    "treeple": SpeedMethod("treeple", arrays, arrays, fit_treeple),
    "xgboost": SpeedMethod("xgboost", arrays, arrays, estimator("xgboost", "XGB")),
    "lightgbm": SpeedMethod(
        "lightgbm", arrays, arrays, estimator("lightgbm", "LGBM", verbosity=-1)
    ),
    "odt": SpeedMethod("odrf", frame, values, fit_tree),
    "obliquetree": SpeedMethod("obliquetree", doubles, doubles, fit_obliquetree),
}
