"""The weights of the models of a stack."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.fits.stack.weights import (
    LEAST_GAIN_IN_SCORE,
    errors_of,
    models_used,
    put_together,
    rises_without,
    stack_rows,
    stacking_weights,
)


def plain_loss(values, y, known, weights, n_classes):
    """The mean loss of a stack whose weights these values find."""
    data = rows(y, weights)
    share, power = stacking_weights(stack_rows(values, data))
    total = whole = 0.0
    for i in np.flatnonzero(known):
        row = put_together([value[i : i + 1] for value in values], list(share), power)[0]
        loss = (row[0] - y[i]) ** 2 if n_classes == 1 else -np.log(row[int(y[i])])
        total, whole = total + weights[i] * loss, whole + weights[i]
    return total / whole


@pytest.mark.parametrize("n_classes", [1, 3])
def test_the_rise_without_a_model_is_that_of_the_mean_loss_of_the_others(n_classes):
    rng = np.random.default_rng(n_classes)
    y = rng.normal(size=60) if n_classes == 1 else rng.integers(3, size=60).astype(float)
    weights = rng.uniform(0, 2, 60) * (np.arange(60) > 5)
    if n_classes == 1:
        values = [y[:, None] + rng.normal(size=(60, 1)) for _ in range(3)]
    else:
        scores = [np.exp(np.eye(3)[y.astype(int)] + rng.normal(size=(60, 3))) for _ in range(3)]
        values = [score / score.sum(axis=1, keepdims=True) for score in scores]
    values[1][7] = np.nan
    found = rises_without(stack_rows(values, rows(y, weights)), range(3))
    known = (np.arange(60) != 7) & (weights > 0)
    counted = np.where(known, weights, 0.0)
    whole = plain_loss(values, y, known, counted, n_classes)
    for g in range(3):
        others = [value for h, value in enumerate(values) if h != g]
        expected = plain_loss(others, y, known, counted, n_classes) / whole - 1
        assert found[g] == pytest.approx(expected, rel=1e-6)
    assert np.isnan(rises_without(stack_rows(values[:1], rows(y, weights)), [0])).all()


def rows(y, weights=None):
    n = len(y)
    return SimpleNamespace(
        y=np.asarray(y, float), weights=np.ones(n) if weights is None else weights
    )


def test_of_a_number_the_squares_of_the_mean_are_small():
    rng = np.random.default_rng(1)
    y = rng.normal(size=2000)
    good, bad = y + rng.normal(size=2000), y + 3 * rng.normal(size=2000)
    weights, power = stacking_weights(stack_rows([good[:, None], bad[:, None]], rows(y)))
    assert power == 1
    assert weights.sum() == pytest.approx(1)
    assert weights == pytest.approx([0.9, 0.1], abs=0.03)


def test_rows_without_a_prediction_or_weight_do_not_count():
    y = np.array([0.0, 1.0, 2.0, 3.0, 9.0, 9.0])
    value = (y + np.array([1.0, -1, 1, -1, 50, 0]))[:, None]
    value[5] = np.nan
    data = rows(y, np.array([1.0, 1, 1, 1, 0, 1]))
    assert errors_of([value], data, False) == pytest.approx([1.0])
    other, _ = stacking_weights(stack_rows([value, y[:, None]], data))
    # as few rows pull the weights towards equal ones
    assert 0.5 < other[1] < 1
    nothing, power = stacking_weights(stack_rows([np.full((6, 1), np.nan)] * 2, data))
    assert nothing.tolist() == [1, 0] and power == 1


def test_of_classes_the_better_model_has_more_weight_and_modest_probabilities_a_power():
    rng = np.random.default_rng(2)
    truth = rng.uniform(0.02, 0.98, 2000)
    y = (rng.random(2000) < truth).astype(float)
    odds = truth / (1 - truth)
    modest = np.sqrt(odds) * np.exp(rng.normal(size=2000) / 9)
    noisy = np.sqrt(odds) * np.exp(rng.normal(size=2000))
    values = [np.stack([1 / (1 + o), o / (1 + o)], axis=1) for o in (modest, noisy)]
    weights, power = stacking_weights(stack_rows(values, rows(y)))
    assert weights.sum() == pytest.approx(1) and weights[0] > 0.8
    assert power == pytest.approx(2, rel=0.2)
    found = put_together(values, weights, power)[:, 1]
    assert np.mean((found - truth) ** 2) < 0.5 * np.mean((values[0][:, 1] - truth) ** 2)


def test_each_row_can_have_its_own_weights():
    values = [np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [4.0], [9.0]])]
    weights = [np.array([1.0, 0.5, 0.0]), np.array([0.0, 0.5, 1.0])]
    assert put_together(values, weights, 1.0)[:, 0].tolist() == [1, 3, 9]
    shares = [np.array([[0.2, 0.8]] * 3), np.array([[0.6, 0.4]] * 3)]
    one, both, other = put_together(shares, weights, 2.0)
    assert one[1] == pytest.approx(0.64 / 0.68) and other[1] == pytest.approx(0.16 / 0.52)
    assert both[1] == pytest.approx(0.32 / 0.44)


# ------------------------------------------------------------------------------------------------
# Which models of a stack are used.
# ------------------------------------------------------------------------------------------------


def drawn(seed, n=60, K=3, strength=0.5):
    """Probabilities of two models for classes, the first one of `strength`; case weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    scores = [np.exp(s * np.eye(K)[y] + rng.normal(size=(n, K))) for s in (1.0, strength)]
    values = [score / score.sum(axis=1, keepdims=True) for score in scores]
    weights = rng.uniform(0, 2, n) * (np.arange(n) > 3)
    return stack_rows(values, SimpleNamespace(y=y.astype(float), weights=weights))


def plain_score(rows, models):
    """The Brier score of each row, of some models weighed without the others."""
    some = rows.by(models)
    shares, power = stacking_weights(some)
    scores = []
    for i, code in enumerate(rows.y):
        p = put_together([value[i : i + 1] for value in some.values], list(shares), power)[0]
        scores.append(sum((p[k] - (k == code)) ** 2 for k in range(len(p))))
    return scores


@given(st.integers(0, 10_000), st.integers(2, 4), st.floats(0, 1.5))
def test_they_are_all_used_if_they_lower_the_score_by_more_than_chance(seed, K, strength):
    rows = drawn(seed, K=K, strength=strength)
    alone, together = plain_score(rows, [0]), plain_score(rows, [0, 1])
    share = rows.weights / rows.weights.sum()
    gain = sum(w * (a - t) for w, a, t in zip(share, alone, together, strict=True))
    variance = sum(
        (w * (a - t - gain)) ** 2 for w, a, t in zip(share, alone, together, strict=True)
    )
    useful = gain > LEAST_GAIN_IN_SCORE * variance**0.5
    assert models_used(rows) == ([0, 1] if useful else [0])


def test_a_model_of_chance_is_left_out_and_a_good_one_is_not():
    chance = [models_used(drawn(seed, strength=0.0)) for seed in range(40)]
    assert np.mean([used == [0] for used in chance]) > 0.6
    good = [models_used(drawn(seed, strength=1.5)) for seed in range(40)]
    assert good == [[0, 1]] * 40


def test_numbers_and_what_has_no_rows_use_all_models():
    y = np.arange(9.0)
    data = SimpleNamespace(y=y, weights=np.ones(9))
    values = [y[:, None], 5 - y[:, None]]
    assert models_used(stack_rows(values, data)) == [0, 1]
    nothing = [np.full((9, 2), np.nan)] * 2
    assert models_used(stack_rows(nothing, data)) == [0, 1]
    assert models_used(drawn(1).by([0])) == [0]


def test_without_a_model_that_is_not_used_nothing_changes():
    rows = drawn(3)
    rises = rises_without(rows, [0])
    assert rises[1] == 0
    loss = [
        np.average(
            [-np.log(p[0, int(code)]) for p, code in zip(plain(rows.by([g])), rows.y, strict=True)],
            weights=rows.weights,
        )
        for g in (0, 1)
    ]
    assert rises[0] == pytest.approx(loss[1] / loss[0] - 1)


def plain(rows):
    """The prediction of each row by one model."""
    shares, power = stacking_weights(rows)
    return [put_together([value], list(shares), power) for value in rows.values[0][:, None]]
