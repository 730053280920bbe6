"""Measures of prediction error.

* RPE, the relative prediction error of a regression: Σ (ŷ − y)² / Σ (ȳ_train − y)² over the test
  rows.
* RAE, the relative absolute error of a regression: Σ |ŷ − y| / Σ |m_train − y|, m the median.  The
  absolute error is the continuous ranked probability score of a prediction that is one number.
* Misclassification rate in per cent.
* Log loss: the mean of −log of the probability predicted for the true class, which counts as at
  least 0.001, so that one class predicted as impossible does not decide.
* Brier score: the mean over the rows of Σ (p̂_k − 1{y = k})² over the classes k.
* Cohen's κ: agreement of predicted and true classes beyond agreement by chance; 1 is best.
* AUC, the area under the ROC curve of two classes; more informative than the misclassification
  rate if one class is rare.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score, roc_auc_score

__all__ = ["MEASURES", "measures"]

MEASURES = ("rpe", "rae", "error_percent", "log_loss", "brier", "kappa", "auc")
LEAST_PROBABILITY = 1e-3


def measures(task: str, prediction: NDArray, train: pd.Series, test: pd.Series) -> dict[str, float]:
    """Return the measures of the predictions of the test rows.

    `train` and `test` are the responses of training and test rows.  Predictions of classes are
    probabilities, one column for each label in `train`, in sorted order.
    """
    if not np.isfinite(prediction).all():
        raise ValueError("predictions are not all finite")
    if task == "regression":
        y = test.to_numpy(float)
        return {
            "rpe": float(np.sum((prediction - y) ** 2) / np.sum((train.mean() - y) ** 2)),
            "rae": float(np.abs(prediction - y).sum() / np.abs(train.median() - y).sum()),
        }
    labels = sorted(train.unique())
    predicted = np.array(labels, dtype=object)[prediction.argmax(axis=1)]
    y = test.to_numpy(object)
    scores = {
        "error_percent": 100 * float(np.mean(predicted != y)),
        **_of_probabilities(labels, prediction, y),
        "kappa": float(cohen_kappa_score(y.astype(str), predicted.astype(str))),
    }
    if len(labels) == 2 and set(y) == set(labels):
        scores["auc"] = float(roc_auc_score(y == labels[1], prediction[:, 1]))
    return scores


def _of_probabilities(labels: list[str], prediction: NDArray, y: NDArray) -> dict[str, float]:
    observed = y[:, None] == np.array(labels, dtype=object)
    probability = np.where(observed, prediction, 0.0).sum(axis=1)
    unseen = ~observed.any(axis=1)  # a class without training rows has probability 0
    squares = ((prediction - observed) ** 2).sum(axis=1) + unseen
    return {
        "log_loss": float(-np.log(np.clip(probability, LEAST_PROBABILITY, 1.0)).mean()),
        "brier": float(squares.mean()),
    }
