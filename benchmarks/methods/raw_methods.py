"""Methods on tables as they come, with factors and empty cells, beside those of ``methods.py``.

CatBoost, LightGBM and XGBoost get factors as factors here, and empty cells as they are, like
scikit-learn's HistGradientBoosting (``hgb``) and random forest (``rf``, factors as indicators) in
``methods.py``.  For CatBoost an empty cell of a factor is one more level.  This package gets empty
cells as they are, with one of its options, or filled:

* ``odrf_split``: splits say on which side empty cells go, ``missing="split"``;
* ``odrf_median``: medians and most frequent levels of the training rows, ``missing="median"``;
* ``odrf_drop``: rows with empty cells do not train, ``missing="drop"``.  Test rows are filled by
  medians and most frequent levels of the training rows, because every row has to be predicted;
* ``odrf_iterative``: scikit-learn's IterativeImputer.  It gets a factor as one indicator per level,
  and the level with the largest imputed indicator is taken.

``odrf_indicators`` gets one column of 0 and 1 per level instead of a factor.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module

import pandas as pd

from benchmarks.methods.methods import (
    Method,
    Predict,
    Setting,
    class_of,
    fitted,
    indicators,
    is_factor,
    with_formula,
)

__all__ = ["RAW_METHODS", "fill_by_median"]

Fill = Callable[[pd.DataFrame], pd.DataFrame]
EMPTY = "empty cell"


def catboost(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """CatBoost's boosted trees; factors as text."""
    model = class_of("catboost", "CatBoost", task)(
        cat_features=[name for name in train if name != "y" and is_factor(train[name])],
        random_seed=setting.seed,
        thread_count=setting.threads,
        allow_writing_files=False,
        verbose=False,
    )
    return fitted(model, _text, train, task)


def lightgbm(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """LightGBM's boosted trees; factors as they are."""
    model = class_of("lightgbm", "LGBM", task)(
        random_state=setting.seed, n_jobs=setting.threads, verbosity=-1
    )
    return fitted(model, _copied, train, task)


def xgboost(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """XGBoost's boosted trees; factors as they are."""
    model = class_of("xgboost", "XGB", task)(
        random_state=setting.seed, n_jobs=setting.threads, enable_categorical=True
    )
    return fitted(model, _copied, train, task)


def split_on_holes(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Forest of this package; splits say where empty cells go."""
    return _forest(train, task, setting, missing="split")


def median(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Forest of this package on medians and most frequent levels."""
    return _forest(train, task, setting, missing="median")


def whole_rows(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Forest of this package on rows without empty cells."""
    return _after(fill_by_median(train), _forest(train, task, setting, missing="drop"))


def iterative(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Forest of this package on cells imputed by regressions on the other predictors."""
    fill = _fill_by_regressions(train, setting)
    return _after(fill, _forest(fill(train), task, setting))


def forest_of_indicators(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Forest of this package; factors as indicators."""
    return _after(_as_indicators, _forest(_as_indicators(train), task, setting))


def _forest(train: pd.DataFrame, task: str, setting: Setting, **options: str) -> Predict:
    return with_formula(
        "odrf",
        train,
        task,
        n_trees=setting.trees,
        seed=setting.seed,
        n_jobs=setting.threads,
        **options,
    )


def _after(prepare: Fill, predict: Predict) -> Predict:
    return lambda rows: predict(prepare(rows))


def fill_by_median(train: pd.DataFrame) -> Fill:
    """Return a function that fills by medians and most frequent levels of the training rows."""
    predictors = train.drop(columns="y")
    centres = {
        name: column.mode().iloc[0] if is_factor(column) else column.median()
        for name, column in predictors.items()
        if column.notna().any()
    }
    return lambda rows: rows.fillna(centres)


def _fill_by_regressions(train: pd.DataFrame, setting: Setting) -> Fill:
    import_module("sklearn.experimental.enable_iterative_imputer")
    imputer = import_module("sklearn.impute").IterativeImputer(
        random_state=setting.seed, skip_complete=True, keep_empty_features=True
    )
    with warnings.catch_warnings():  # that ten rounds, the default, were not enough
        warnings.simplefilter("ignore")
        imputer.fit(indicators(train.drop(columns="y")).to_numpy(copy=True))  # it writes into it

    def fill(rows: pd.DataFrame) -> pd.DataFrame:
        predictors = rows.drop(columns="y", errors="ignore")
        columns = indicators(predictors)
        imputed = imputer.transform(columns.to_numpy(copy=True))
        values = pd.DataFrame(imputed, rows.index, columns.columns)
        whole = {
            str(name): _most_likely(column, values) if is_factor(column) else values[name]
            for name, column in predictors.items()
        }
        return rows.assign(**whole)

    return fill


def _most_likely(column: pd.Series, values: pd.DataFrame) -> pd.Series:
    """Fill a factor by the level whose imputed indicator is the largest."""
    levels = column.cat.categories
    likely = values[[f"{column.name}_{level}" for level in levels]].to_numpy().argmax(axis=1)
    return column.fillna(pd.Series(levels[likely], column.index))


def _as_indicators(rows: pd.DataFrame) -> pd.DataFrame:
    columns = indicators(rows.drop(columns="y", errors="ignore"))
    columns = columns.set_axis([f"c{j}" for j in range(columns.shape[1])], axis=1)
    return columns.assign(y=rows["y"]) if "y" in rows else columns


def _text(rows: pd.DataFrame) -> pd.DataFrame:
    factors = [name for name in rows if is_factor(rows[name])]
    return rows.astype(dict.fromkeys(factors, object)).fillna(dict.fromkeys(factors, EMPTY))


def _copied(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.copy()


RAW_METHODS: dict[str, Method] = {
    "odrf_split": Method("odrf", split_on_holes),
    "odrf_median": Method("odrf", median),
    "odrf_drop": Method("odrf", whole_rows),
    "odrf_iterative": Method("odrf", iterative),
    "odrf_indicators": Method("odrf", forest_of_indicators),
    "catboost": Method("catboost", catboost),
    "lightgbm_raw": Method("lightgbm", lightgbm),
    "xgboost_raw": Method("xgboost", xgboost),
}
