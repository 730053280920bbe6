"""What a prediction is judged by.

* RPE, the relative prediction error of a regression: Σ (ŷ − y)² / Σ (ȳ_train − y)² over the test
  rows.
* Misclassification rate in per cent.
* Cohen's κ: agreement of predicted with true classes beyond what chance would give, 1 at best.
* AUC, the area under the ROC curve of two classes: it says what a misclassification rate hides
  where one class is rare.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score, roc_auc_score

__all__ = ["measures"]


def measures(task: str, prediction: NDArray, train: pd.Series, test: pd.Series) -> dict[str, float]:
    """Judge the predictions of the test rows, given the responses of training and test rows.

    Those of classes are probabilities, one column for each label in `train`, sorted.
    """
    if not np.isfinite(prediction).all():
        raise ValueError("predictions are not all finite")
    if task == "regression":
        y = test.to_numpy(float)
        return {"rpe": float(np.sum((prediction - y) ** 2) / np.sum((train.mean() - y) ** 2))}
    labels = sorted(train.unique())
    predicted = np.array(labels, dtype=object)[prediction.argmax(axis=1)]
    y = test.to_numpy(object)
    judged = {
        "error_percent": 100 * float(np.mean(predicted != y)),
        "kappa": float(cohen_kappa_score(y.astype(str), predicted.astype(str))),
    }
    if len(labels) == 2 and set(y) == set(labels):
        judged["auc"] = float(roc_auc_score(y == labels[1], prediction[:, 1]))
    return judged
