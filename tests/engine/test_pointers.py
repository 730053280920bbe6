"""Functions called by their address do and raise what they do and raise when they are called."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError

from odrf.engine.compiling import (
    PLACE,
    ROOM,
    address_for,
    address_of,
    address_within,
    called_at,
    called_with,
    kernel,
    part,
    read_tuple,
    write_tuple,
)

KINDS = types.float64[::1], types.int64
first_of = called_at(types.float64, *KINDS)


def largest(numbers, m):
    if m > len(numbers):
        raise ValueError("too many rows")
    return numbers[:m].max()


@kernel
def called(address, numbers, m):
    return first_of(address, (numbers, m))


@kernel
def write_twice(number, out):
    out[0] = 2 * number


@kernel
def called_for_nothing(address, number, out):
    called_with(address, (number, out))


LARGEST, NUMBERS = njit(largest), np.array([1.0, 3.0, 2.0, 7.0])


@pytest.mark.parametrize("m", [1, 2, 4])
def test_a_call_by_address_is_a_call(m):
    address = address_of(LARGEST, KINDS)
    assert isinstance(address, int) and address == address_of(LARGEST, KINDS)
    assert called(address, NUMBERS, m) == largest(NUMBERS, m)


def test_what_it_raises_is_raised():
    with pytest.raises(ValueError, match="too many rows"):
        called(address_of(LARGEST, KINDS), NUMBERS, 6)


def test_one_kernel_serves_all_functions():
    @njit
    def seven(numbers, m):
        return 7.0

    called(address_of(LARGEST, KINDS), NUMBERS, 1)
    before = len(called.signatures)
    assert called(address_of(seven, KINDS), NUMBERS, 1) == 7
    assert len(called.signatures) == before


def test_arguments_of_another_type_are_refused():
    with pytest.raises(TypingError):
        called(address_of(LARGEST, KINDS), NUMBERS.astype(np.float32), 1)


Scores = namedtuple("Scores", ["total", "flag", "matrix", "absent"])


@part
def _sum_at(place, factor):
    name, scores, cells = read_tuple(place)
    cells[0] += 1
    if scores.absent is not None or not scores.flag:
        raise ValueError("cells")
    return factor * (name + scores.total[0] + scores.matrix[1, 0] + scores.matrix.shape[1])


address_of_sum = address_within(_sum_at, types.int64)
sum_at = called_at(types.float64, PLACE, types.int64)


@kernel
def put(values, memory):
    return write_tuple(values, memory), address_of_sum(values)


@kernel
def take(place, address, factor):
    return sum_at(address, (place, factor))


def scores(flag):
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    return 2, Scores((0.5, np.int8(1)), flag, matrix, None), np.zeros(1, dtype=np.int32)


def test_what_is_stored_is_what_is_called_with():
    values, memory = scores(True), np.empty(ROOM, dtype=np.int64)
    place, address = put(values, memory)
    assert memory.ctypes.data == place
    assert [take(place, address, factor) for factor in (1, 10)] == [8.5, 85.0]
    assert values[2][0] == 2
    values[1].matrix[1, 0] = 100
    assert take(place, address, 1) == 105.5


def test_what_a_stored_call_raises_is_raised():
    values, memory = scores(False), np.empty(ROOM, dtype=np.int64)
    place, address = put(values, memory)
    with pytest.raises(ValueError, match="cells"):
        take(place, address, 1)


def test_a_tuple_that_is_too_long_is_refused():
    values = tuple(NUMBERS for _ in range(150))
    with pytest.raises(Exception, match="bytes"):
        put_long(values, np.empty(ROOM, dtype=np.int64))


@kernel
def put_long(values, memory):
    return write_tuple(values, memory)


def test_a_kernel_that_returns_nothing_is_called_with_any_arguments():
    out = np.zeros(1)
    for number in (3, 1.5):
        called_for_nothing(address_for(write_twice, (number, out)), number, out)
        assert out[0] == 2 * number
