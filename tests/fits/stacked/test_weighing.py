"""The weights of the models of a stack."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from odrf.fits.stacked.weighing import errors_of, label_weights, stacking_weights


def rows(y, weights=None):
    n = len(y)
    return SimpleNamespace(
        y=np.asarray(y, float), weights=np.ones(n) if weights is None else weights
    )


def test_of_a_number_the_squares_of_the_mean_are_small():
    rng = np.random.default_rng(1)
    y = rng.normal(size=2000)
    good, bad = y + rng.normal(size=2000), y + 3 * rng.normal(size=2000)
    weights = stacking_weights([good[:, None], bad[:, None]], rows(y), 1, "error", False)
    assert weights.sum() == pytest.approx(1)
    assert weights == pytest.approx([0.9, 0.1], abs=0.03)


def test_rows_without_a_prediction_or_weight_do_not_count():
    y = np.array([0.0, 1.0, 2.0, 3.0, 9.0, 9.0])
    value = (y + np.array([1.0, -1, 1, -1, 50, 0]))[:, None]
    value[5] = np.nan
    data = rows(y, np.array([1.0, 1, 1, 1, 0, 1]))
    assert errors_of([value], data, False) == pytest.approx([1.0])
    other = stacking_weights([value, y[:, None]], data, 1, "error", False)
    # as few rows pull the weights towards equal ones
    assert 0.5 < other[1] < 1
    assert stacking_weights([np.full((6, 1), np.nan)] * 2, data, 1, "error", False).tolist() == [
        1,
        0,
    ]


def test_of_classes_wrong_labels_are_few_or_probabilities_good():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 400)
    right = np.eye(2)[y]
    flipped = np.where((rng.random(400) < 0.3)[:, None], 1 - right, right)
    share = np.full(400, 1 / 400)
    weights = label_weights(np.stack([flipped, right]), y.astype(float), share, False)
    assert weights[1] > 0.5
    # equally few wrong labels: the most equal weights
    assert label_weights(np.stack([right, right]), y.astype(float), share, False) == (
        pytest.approx([0.5, 0.5])
    )
    of_brier = stacking_weights([flipped, 0.8 * right + 0.1], rows(y), 2, "brier", False)
    assert of_brier[1] > 0.9 and of_brier.sum() == pytest.approx(1)
