"""Random search for a method's options within a number of seconds, and an ensemble of the best.

The first trial is the method's defaults, the others are random options from TabArena's spaces, as
pytabkit has them.  A trial is fitted without each of five folds of the training rows; each fit
stops on a fifth of its own rows.  The seconds are those of one processor, so that other work on the
machine takes none of them: with several threads they are multiplied by their number.  After the
last trial that fits into the time, greedy selection with replacement (Caruana et al. 2004) weighs
the trials by what they predict of the folds left out.
"""

from __future__ import annotations

import io
import time
from contextlib import redirect_stdout
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.methods.methods import Predict, Setting, class_of

__all__ = ["TUNED", "greedy_weights", "tuned"]

TUNED = {"lightgbm": "LGBM", "catboost": "CatBoost", "realmlp": "RealMLP"}
FOLDS, STEPS = 5, 40
LEAST_PROBABILITY = 1e-15


class Trial(NamedTuple):
    """Models without each fold, and what they predict of it (n, K)."""

    models: list[Any]
    left_out: NDArray


def tuned(family: str, seconds: float, train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Search the options of a family of pytabkit that long, and average the trials by weights."""
    X, y = train.drop(columns="y"), train["y"].to_numpy()
    classes = None
    if task == "classification":
        y, classes = pd.factorize(train["y"], sort=True)
    folds = KFold if classes is None else StratifiedKFold
    splits = list(folds(FOLDS, shuffle=True, random_state=setting.seed).split(X, y))
    trials: list[Trial] = []
    begin = time.process_time()
    spent = 0.0
    while not trials or spent * (len(trials) + 1) / len(trials) <= seconds:
        trials.append(_trial(family, len(trials), X, y, splits, classes, setting))
        spent = (time.process_time() - begin) / setting.threads
    weights = greedy_weights(np.stack([trial.left_out for trial in trials]), y)

    def predict(rows: pd.DataFrame) -> NDArray:
        total = 0.0
        for trial, weight in zip(trials, weights, strict=True):
            if weight > 0:
                values = [_values(model, rows, classes) for model in trial.models]
                total = total + weight * np.mean(values, axis=0)
        return np.asarray(total if classes is not None else np.ravel(total))

    return predict


def greedy_weights(left_out: NDArray, y: NDArray) -> NDArray:
    """Return the weights (T,) of trials: shares of the steps in which each lowered the loss most.

    Parameters
    ----------
    left_out : (T, n, K)
        Predictions of each trial: numbers with K = 1, else probabilities of classes 0 … K - 1.
    y : (n,)
    """
    chosen = np.zeros(len(left_out))
    total = np.zeros(left_out.shape[1:])
    for step in range(1, STEPS + 1):
        losses = [_loss((total + value) / step, y) for value in left_out]
        best = int(np.argmin(losses))
        chosen[best] += 1
        total += left_out[best]
    return chosen / STEPS


def _loss(value: NDArray, y: NDArray) -> float:
    if value.shape[1] == 1:
        return float(np.mean((value[:, 0] - y) ** 2))
    return float(-np.log(np.maximum(value[np.arange(len(y)), y], LEAST_PROBABILITY)).mean())


def _trial(
    family: str,
    number: int,
    X: pd.DataFrame,
    y: NDArray,
    splits: list[tuple[NDArray, NDArray]],
    classes: Any,
    setting: Setting,
) -> Trial:
    task = "regression" if classes is None else "classification"
    left_out = np.zeros((len(y), 1 if classes is None else len(classes)))
    models = []
    for kept, held in splits:
        how = {"device": "cpu", "random_state": setting.seed + number, "n_threads": setting.threads}
        if number:
            how |= {"hpo_space_name": "tabarena", "n_hyperopt_steps": 1}
        name = f"{family}_HPO_" if number else f"{family}_TD_"
        with redirect_stdout(io.StringIO()):  # it prints options
            model = class_of("pytabkit", name, task)(**how).fit(X.iloc[kept], y[kept])
            left_out[held] = _values(model, X.iloc[held], classes)
        models.append(model)
    return Trial(models, left_out)


def _values(model: Any, rows: pd.DataFrame, classes: Any) -> NDArray:
    """Return numbers (n, 1), or the probabilities of all classes (n, K)."""
    if classes is None:
        return np.reshape(model.predict(rows), (-1, 1))
    value = np.zeros((len(rows), len(classes)))
    value[:, np.asarray(model.classes_, int)] = model.predict_proba(rows)
    return value
