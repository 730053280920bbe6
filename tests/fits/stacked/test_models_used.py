"""Which models of a stack are used."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.fits.stack.weights import (
    LEAST_GAIN_IN_SCORE,
    models_used,
    put_together,
    rises_without,
    stack_rows,
    stacking_weights,
)


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
