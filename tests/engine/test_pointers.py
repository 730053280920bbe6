"""Functions called by their address do and raise what they do and raise when they are called."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from odrf.engine.compiling import kernel
from odrf.engine.pointers import address_of, proposed_at
from odrf.engine.randomness import streams


def proposed(X, y, weights, m, state, columns, theta):
    if m > len(y):
        raise ValueError("too many rows")
    columns[0], theta[0] = np.argmax(y[:m]), X[m - 1, 0] * weights[0]
    return len(X)


@kernel
def called(address, X, y, weights, m, state, columns, theta):
    return proposed_at(address, X, y, weights, m, state, columns, theta)


def arguments(m):
    rng = np.random.default_rng(0)
    place, coef = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.float32)
    return rng.random((5, 3)), rng.random(5), rng.random(5), m, streams(0, 0, 1)[0], place, coef


FUNCTION = njit(proposed)


@pytest.mark.parametrize("m", [1, 4])
def test_a_call_by_address_is_a_call(m):
    address = address_of(FUNCTION)
    assert isinstance(address, int) and address == address_of(FUNCTION)
    expected, found = arguments(m), arguments(m)
    assert called(address, *found) == proposed(*expected) == 5
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


def test_what_it_raises_is_raised():
    with pytest.raises(ValueError, match="too many rows"):
        called(address_of(FUNCTION), *arguments(6))


def test_one_kernel_serves_all_functions():
    @njit
    def seven(X, y, weights, m, state, columns, theta):
        return 7

    called(address_of(FUNCTION), *arguments(1))
    before = len(called.signatures)
    assert called(address_of(seven), *arguments(1)) == 7
    assert len(called.signatures) == before


def test_other_arguments_are_refused():
    X, *others = arguments(1)
    with pytest.raises(TypingError):
        called(address_of(FUNCTION), X.astype(np.float32), *others)


def test_what_is_not_compiled_is_called_itself():
    assert address_of(proposed) is proposed
