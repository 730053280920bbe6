"""Rows of several draws, each different row once: against comparing row by row."""

from __future__ import annotations

import numpy as np
import pytest

from odrf.engine.factors import stored
from odrf.fits.importance_tests import distinct_draws


def drawn(seed, n=40, p=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(p, n)).astype(np.float32)
    X[0, :5] = np.nan
    draws = []
    for _ in range(4):
        draw = X.copy()
        draw[1] = rng.integers(0, 3, n)
        draw[3, ::2] = rng.normal(size=n // 2)
        draws.append(draw)
    X[1] = rng.integers(0, 3, n)
    return X, draws


@pytest.mark.parametrize("seed", range(3))
def test_each_different_row_is_there_once(seed):
    X, draws = drawn(seed)
    changed, row, number = distinct_draws(X, draws)
    for d, draw in enumerate(draws):
        for i in range(X.shape[1]):
            same = np.array_equal(draw[:, i], X[:, i], equal_nan=True)
            assert (number[d, i] < 0) == same
            if not same:
                assert row[number[d, i]] == i
                np.testing.assert_array_equal(stored(changed)[:, number[d, i]], draw[:, i])
    different = {
        (i, draw[:, i].tobytes())
        for draw in draws
        for i in range(X.shape[1])
        if draw[:, i].tobytes() != X[:, i].tobytes()
    }
    assert len(row) == len(different)


def test_nothing_has_changed():
    X, _ = drawn(0)
    changed, row, number = distinct_draws(X, [X.copy(), X.copy()])
    assert changed.shape == (5, 0) and not len(row) and (number == -1).all()
