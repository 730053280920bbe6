"""Metrics beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from odrf import InputError
from odrf.design.survival_times import SurvivalTimes
from odrf.evaluation.metrics import METRICS, metric_for, times_to_score

RNG = np.random.default_rng(8)
Y, PREDICTED = RNG.normal(size=(2, 40))
CODES = RNG.integers(0, 3, 40)
SHARES = RNG.dirichlet([1, 1, 1], 40)
LABELS = np.array(["a", "b", "c"], dtype=object)


def value(name, *arrays):
    return METRICS[name].function(*arrays)


@pytest.mark.parametrize(
    "name, twin",
    [
        ("mse", sk.mean_squared_error),
        ("rmse", sk.root_mean_squared_error),
        ("mae", sk.mean_absolute_error),
        ("r2", sk.r2_score),
    ],
)
def test_of_numbers(name, twin):
    assert value(name, Y, PREDICTED) == pytest.approx(twin(Y, PREDICTED))


def test_of_labels():
    observed, predicted = LABELS[CODES], LABELS[np.argmax(SHARES, axis=1)]
    assert value("accuracy", observed, predicted) == sk.accuracy_score(observed, predicted)
    assert value("error", observed, predicted) == pytest.approx(
        sk.zero_one_loss(observed, predicted)
    )


def test_of_probabilities():
    assert value("log_loss", CODES, SHARES) == pytest.approx(sk.log_loss(CODES, SHARES))
    came = CODES[:, np.newaxis] == [0, 1, 2]
    brier = np.mean([sum((p - c) ** 2) for p, c in zip(SHARES, came, strict=True)])
    assert value("brier", CODES, SHARES) == pytest.approx(brier)
    two = np.minimum(CODES, 1)
    p = SHARES[:, 2].round(1)  # with ties
    both = np.column_stack([1 - p, p])
    assert value("brier", two, both) == pytest.approx(2 * sk.brier_score_loss(two, p))
    assert value("auc", two, both) == pytest.approx(sk.roc_auc_score(two, p))


def test_what_was_held_impossible_costs_much_but_not_all():
    shares = np.array([[1.0, 0.0], [0.5, 0.5]])
    expected = sk.log_loss([1, 0], shares, labels=[0, 1])
    assert value("log_loss", np.array([1, 0]), shares) == pytest.approx(expected)


def test_values_that_there_are_not():
    assert np.isnan(value("r2", np.ones(3), np.arange(3.0)))
    assert np.isnan(value("auc", np.ones(3, dtype=int), np.full((3, 2), 0.5)))


def test_losses_are_less_where_predictions_are_better():
    for metric in METRICS.values():
        if metric.kind == "regression":
            good, bad = (Y, Y + PREDICTED / 100), (Y, PREDICTED)
        elif metric.kind == "survival":
            observed = times_to_score(SurvivalTimes(np.arange(1.0, 41.0), np.ones(40, np.int64)))
            late = (np.arange(1.0, 41.0)[:, np.newaxis] > observed.at) * 1.0
            right = late if metric.needs_curves else -np.arange(40.0)
            good, bad = (observed, right), (observed, right[::-1])
        elif metric.needs_probabilities:
            codes = np.minimum(CODES, 1)
            right = np.eye(2)[codes]
            good, bad = (codes, right), (codes, 1 - right)
        else:
            good, bad = (CODES, CODES), (CODES, (CODES + 1) % 3)
        assert metric.sign * metric.function(*good) < metric.sign * metric.function(*bad)


def test_choice():
    assert metric_for("auto", "regression", 1).name == "mse"
    assert metric_for("auto", "classification", 3).name == "error"
    assert metric_for("auc", "classification", 2).needs_probabilities
    own = metric_for(sk.median_absolute_error, "regression", 1)
    assert (own.name, own.greater_is_better) == ("median_absolute_error", False)


@pytest.mark.parametrize(
    "metric, kind, K, message",
    [
        ("mes", "regression", 1, "metric='mes' is not known: .*did you mean 'mse'"),
        (None, "regression", 1, "metric=None is not known"),
        ("auc", "regression", 1, "does not go with a regression: use one of 'mse', 'rmse'"),
        ("mse", "classification", 2, "does not go with 2 classes: .*'auc'$"),
        ("auc", "classification", 3, "does not go with 3 classes: .*'log_loss'$"),
    ],
)
def test_metrics_that_do_not_go(metric, kind, K, message):
    with pytest.raises(InputError, match=message):
        metric_for(metric, kind, K)
