"""The methods whose accuracy is compared, one function each, and their input formats.

A method takes the training rows (predictors ``x1`` … ``xp``, numbers scaled to [0, 1] by the
protocol, and the response ``y``) and returns a function that predicts for new predictor rows: the
response of a regression (n,), for classes their probabilities (n, K) in the order of the sorted
labels.  The predicted class is the most probable one.

Number of trees of a forest, seed and threads are those of the setting.  Boosters use the default
number of rounds of their libraries (100 each), and all other options are documented defaults.  A
factor is categorical with all levels of the table, also those that no training row has.  This
package, HistGradientBoosting, ydf and obliquetree take factors as factors; the others get one 0/1
indicator per level, or, in the methods that end in ``_codes``, the number of the level.

To add a method, write its function and a line in ``METHODS``.  A method imports its library when it
is called, so that not all libraries are needed, and a method may have a separate interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = [
    "BUDGETS",
    "FORESTS",
    "METHODS",
    "Fit",
    "Method",
    "Predict",
    "Setting",
    "class_of",
    "fitted",
    "indicators",
    "is_factor",
    "with_formula",
]


BUDGETS = (30, 60, 300, 600)
"""Seconds of methods with a budget, whose names tell them."""


@dataclass(frozen=True)
class Setting:
    """Options of every method: number of trees, seed, number of threads."""

    trees: int
    seed: int
    threads: int


Predict = Callable[[pd.DataFrame], NDArray]
Fit = Callable[[pd.DataFrame, str, Setting], Predict]
Encoding = Callable[[pd.DataFrame], Any]


@dataclass(frozen=True)
class Method:
    """A method: the module of its library, and the function that fits it.

    Before its first fit, one with few rows is not timed, unless `warm_up` is false.
    """

    library: str
    fit: Fit
    warm_up: bool = True


def one_kind(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Forest of this package with trees of one kind; factors as they are."""
    return with_formula(
        "odrf",
        train,
        task,
        n_trees=setting.trees,
        seed=setting.seed,
        n_jobs=setting.threads,
        blend=False,
    )


def oblique_forest(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Forest of this package; factors as they are."""
    return with_formula(
        "odrf", train, task, n_trees=setting.trees, seed=setting.seed, n_jobs=setting.threads
    )


def several_models(
    budget: float | str, train: pd.DataFrame, task: str, setting: Setting
) -> Predict:
    """Weighted mean of several models of this package; factors as they are."""
    return with_formula(
        "auto",
        train,
        task,
        n_trees=setting.trees,
        seed=setting.seed,
        n_jobs=setting.threads,
        budget=budget,
    )


def guided_forest(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Guided forest of this package; factors as they are."""
    return with_formula(
        "graf", train, task, n_trees=setting.trees, seed=setting.seed, n_jobs=setting.threads
    )


def boosted_trees(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Boosted trees of this package, default number of rounds; factors as they are."""
    return with_formula("odbt", train, task, seed=setting.seed, n_jobs=setting.threads)


def oblique_tree(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """One tree of this package; factors as they are."""
    return with_formula("odt", train, task, seed=setting.seed)


def random_forest(encode: Encoding, train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """scikit-learn's random forest; factors as indicators or codes."""
    return _forest("sklearn.ensemble", "RandomForest", encode, train, task, setting)


def extra_trees(encode: Encoding, train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """scikit-learn's extremely randomised trees; factors as indicators or codes."""
    return _forest("sklearn.ensemble", "ExtraTrees", encode, train, task, setting)


def hist_gradient_boosting(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """scikit-learn's HistGradientBoosting; factors as they are.

    Its threads are OpenMP's; an environment variable sets their number.
    """
    model = class_of("sklearn.ensemble", "HistGradientBoosting", task)(
        categorical_features="from_dtype", random_state=setting.seed
    )
    return fitted(model, _unchanged, train, task)


def xgboost(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """XGBoost's boosted trees; factors as indicators, because by default it takes none."""
    model = class_of("xgboost", "XGB", task)(random_state=setting.seed, n_jobs=setting.threads)
    return fitted(model, _indicator_array, train, task)


def lightgbm(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """LightGBM's boosted trees; factors as indicators.

    It needs 100 rows per group of a factor, so with factors as they are it is much worse on small
    tables.
    """
    model = class_of("lightgbm", "LGBM", task)(
        random_state=setting.seed, n_jobs=setting.threads, verbosity=-1
    )
    return fitted(model, _indicator_array, train, task)


def ydf_axis(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Yggdrasil's random forest; factors as text."""
    return _ydf(train, task, setting)


def ydf_oblique(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Yggdrasil's random forest with sparse oblique splits of the numbers; factors as text."""
    return _ydf(train, task, setting, split_axis="SPARSE_OBLIQUE")


def treeple(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Oblique forest of treeple; factors as indicators."""
    if task == "regression":
        # treeple 0.10.3 sets a tag that scikit-learn 1.6 has dropped; its class allows no new ones
        base: Any = import_module("sklearn.base")
        base.RegressorTags = type("RegressorTags", (base.RegressorTags,), {})
    return _forest("treeple", "ObliqueRandomForest", _indicator_array, train, task, setting)


def obliquetree(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """One tree of obliquetree, oblique by default; factors as codes, declared as categories.

    It refuses levels that no training row has, so they are replaced by the most frequent level.
    Its threads are OpenMP's; an environment variable sets their number.
    """
    library = import_module("obliquetree")
    predictors = train.drop(columns="y")
    factors = [j for j, name in enumerate(predictors) if is_factor(predictors[name])]
    seen = {j: predictors.iloc[:, j].cat.codes.value_counts().index for j in factors}

    def encode(rows: pd.DataFrame) -> NDArray:
        codes = _codes(rows)
        for j, levels in seen.items():
            codes[~np.isin(codes[:, j], levels), j] = levels[0]
        return codes

    model = (library.Regressor if task == "regression" else library.Classifier)(
        random_state=setting.seed, categories=factors or None
    )
    return fitted(model, encode, train, task)


def with_formula(function: str, train: pd.DataFrame, task: str, **options: Any) -> Predict:
    """Fit this package's function of that name to all predictors."""
    fit = getattr(import_module("odrf"), function)("y ~ .", train, kind=task, **options)
    if task == "regression":
        return lambda rows: fit.predict(rows).to_numpy()
    labels = sorted(train["y"].unique())
    return lambda rows: _of_every_class(fit.predict(rows, type="prob"), labels)


def _forest(
    module: str, family: str, encode: Encoding, train: pd.DataFrame, task: str, setting: Setting
) -> Predict:
    model = class_of(module, family, task)(
        n_estimators=setting.trees, random_state=setting.seed, n_jobs=setting.threads
    )
    return fitted(model, encode, train, task)


def _of_every_class(probability: pd.DataFrame, labels: list[str]) -> NDArray:
    """Give 0 to classes of which no row without empty cells trained."""
    return probability.reindex(columns=labels, fill_value=0.0).to_numpy()


def class_of(module: str, family: str, task: str) -> Callable[..., Any]:
    """Return the regressor or the classifier of a library."""
    ending = "Regressor" if task == "regression" else "Classifier"
    return getattr(import_module(module), family + ending)


def fitted(model: Any, encode: Encoding, train: pd.DataFrame, task: str) -> Predict:
    """Fit a model with scikit-learn's interface, classes numbered in the order of their labels."""
    X = encode(train.drop(columns="y"))
    if task == "regression":
        model.fit(X, train["y"].to_numpy(copy=True))  # obliquetree needs a writable array
        return lambda rows: np.asarray(model.predict(encode(rows)))
    model.fit(X, pd.factorize(train["y"], sort=True)[0])
    return lambda rows: np.asarray(model.predict_proba(encode(rows)))


def _ydf(train: pd.DataFrame, task: str, setting: Setting, **options: Any) -> Predict:
    ydf = import_module("ydf")
    ydf.verbose(0)
    model = ydf.RandomForestLearner(
        label="y",
        task=getattr(ydf.Task, task.upper()),
        num_trees=setting.trees,
        random_seed=setting.seed,
        num_threads=setting.threads,
        **options,
    ).train(_plain_text(train))

    def predict(rows: pd.DataFrame) -> NDArray:
        return model.predict(_plain_text(rows), num_threads=setting.threads)

    if task == "regression":
        return predict
    labels = sorted(train["y"].unique())
    known = [labels.index(label) for label in model.label_classes()]

    def probabilities(rows: pd.DataFrame) -> NDArray:
        predicted = predict(rows)
        if predicted.ndim == 1:  # with two classes, the probability of the second
            predicted = np.column_stack([1 - predicted, predicted])
        every = np.zeros((len(rows), len(labels)))
        every[:, known] = predicted
        return every

    return probabilities


def _unchanged(rows: pd.DataFrame) -> pd.DataFrame:
    return rows


def indicators(rows: pd.DataFrame) -> pd.DataFrame:
    """Return numbers, then a column of 0 and 1 per level; all are empty where the factor is."""
    columns = pd.get_dummies(rows, dtype=float)
    for name in rows:
        if is_factor(rows[name]) and rows[name].hasnans:
            of_factor = [f"{name}_{level}" for level in rows[name].cat.categories]
            columns.loc[rows[name].isna(), of_factor] = np.nan
    return columns


def _indicator_array(rows: pd.DataFrame) -> NDArray:
    return indicators(rows).to_numpy(float)


def _codes(rows: pd.DataFrame) -> NDArray:
    columns = [rows[name].cat.codes if is_factor(rows[name]) else rows[name] for name in rows]
    return np.column_stack(columns).astype(float)


def _plain_text(rows: pd.DataFrame) -> pd.DataFrame:
    text = [name for name in rows if not pd.api.types.is_numeric_dtype(rows[name])]
    return rows.astype(dict.fromkeys(text, str)).astype(dict.fromkeys(text, object))


def is_factor(column: pd.Series) -> bool:
    """Whether a column is categorical."""
    return isinstance(column.dtype, pd.CategoricalDtype)


METHODS: dict[str, Method] = {
    "odrf": Method("odrf", oblique_forest),
    "odrf_plain": Method("odrf", one_kind),
    "graf": Method("odrf", guided_forest),
    "auto": Method("odrf", partial(several_models, "default")),
    **{f"auto_{seconds}s": Method("odrf", partial(several_models, seconds)) for seconds in BUDGETS},
    "odbt": Method("odrf", boosted_trees),
    "rf": Method("sklearn", partial(random_forest, _indicator_array)),
    "et": Method("sklearn", partial(extra_trees, _indicator_array)),
    "hgb": Method("sklearn", hist_gradient_boosting),
    "xgboost": Method("xgboost", xgboost),
    "lightgbm": Method("lightgbm", lightgbm),
    "ydf_axis": Method("ydf", ydf_axis),
    "ydf_oblique": Method("ydf", ydf_oblique),
    "treeple": Method("treeple", treeple),
    "obliquetree": Method("obliquetree", obliquetree),
    "rf_codes": Method("sklearn", partial(random_forest, _codes)),
    "et_codes": Method("sklearn", partial(extra_trees, _codes)),
    "odt": Method("odrf", oblique_tree),
}
FORESTS = ("rf", "et", "ydf_axis", "ydf_oblique", "treeple", "rf_codes", "et_codes")
"""Forests of other libraries."""
