"""Sums over the rows beyond planes: the same for every library and kernel."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from apart import script
from devices import numpy_device, planes_and_rows
from odrf.engine.guided.beyond_planes import Device, as_integers, running_sums

SIMULATED = Path(__file__).parents[2] / "simulated_cuda.py"
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_sums_are_those_of_the_twin(seed):
    case, device = planes_and_rows(seed), numpy_device()
    assert case.sums(device).tolist() == case.expected(device)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_sums_need_no_more_than_the_array_api(seed):
    strict = pytest.importorskip("array_api_strict")
    case, device = planes_and_rows(seed), Device(strict, None, np.asarray, running_sums)
    assert case.sums(device).tolist() == case.expected(device)


def test_the_kernel_for_cuda_gives_the_same_sums_and_trees():
    """By Numba's simulator, which every machine has."""
    done = script(SIMULATED, env={"NUMBA_ENABLE_CUDASIM": "1"})
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr


@pytest.mark.skipif(not cuda.is_available(), reason="no device for CUDA")
def test_the_kernel_gives_the_same_sums_on_a_device():
    cupy = pytest.importorskip("cupy")
    kernel = pytest.importorskip("odrf.engine.guided.cuda_sums").sums_by_blocks
    xp = pytest.importorskip("array_api_compat.cupy")
    for seed in range(100):
        case, device = planes_and_rows(seed, 5000), Device(xp, None, cupy.asnumpy, kernel)
        assert case.sums(device).tolist() == case.sums(numpy_device()).tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e200, 1e200), min_size=1, max_size=20))
def test_numbers_are_rounded_little(numbers):
    integers, unit = as_integers(np.array(numbers))
    assert abs(sum(map(int, integers))) < 2**62
    scale = sum(abs(Fraction(number)) for number in numbers)
    for number, integer in zip(numbers, integers, strict=True):
        error = abs(Fraction(int(integer)) * Fraction(unit) - Fraction(number))
        assert error <= max(scale / 2**60, Fraction(2) ** -1000)


def test_weights_of_few_bits_are_not_rounded():
    numbers = np.random.default_rng(1).integers(0, 2**20, 10_000) / 2**10
    integers, unit = as_integers(numbers)
    assert (integers * unit == numbers).all()
