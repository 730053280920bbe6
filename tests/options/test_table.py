"""Which device guided forests are grown on, and what is said where there is none."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import array_api_compat.numpy
import numpy as np
import pytest
from numba import cuda

import odrf
from odrf import InputError, graf, simulate
from odrf.engine.guided.device import running_sums
from odrf.options import table as devices
from odrf.options.table import device_for, device_if_there


def library(finds: bool) -> ModuleType:
    """A module in the place of CuPy or PyTorch."""
    module = ModuleType("cupy")
    module.cuda = SimpleNamespace(is_available=lambda: finds)
    return module


@pytest.fixture
def no_library(monkeypatch):
    for name in devices.LIBRARIES:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def numpy_as_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", library(finds=True))
    monkeypatch.setitem(sys.modules, "array_api_compat.cupy", array_api_compat.numpy)


@pytest.fixture(scope="module")
def data():
    return simulate.hypercube(4).sample(120, seed=1)


def test_the_processor_needs_no_library(no_library):
    assert device_for("cpu") is None


def test_what_is_to_be_installed_is_said(monkeypatch, no_library, data):
    with pytest.raises(InputError, match=r"needs CuPy or PyTorch: .*pip install \"odrf\[cuda\]\""):
        graf("y ~ .", data, device="cuda")
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(InputError, match=r"needs array-api-compat: .*\"odrf\[cuda\]\""):
        graf("y ~ .", data, device="cuda")


def test_a_library_without_a_device_is_named(monkeypatch, no_library, data):
    monkeypatch.setitem(sys.modules, "torch", library(finds=False))
    message = 'device="cuda": PyTorch found no device for CUDA here.  Use device="cpu"'
    with pytest.raises(InputError, match=message):
        graf("y ~ .", data, device="cuda")
    monkeypatch.setitem(sys.modules, "cupy", library(finds=False))
    with pytest.raises(InputError, match="CuPy and PyTorch found no device"):
        graf("y ~ .", data, device="cuda")


def test_planes_are_evaluated_together(numpy_as_cupy, data):
    with pytest.raises(InputError, match='device="cuda" evaluates planes together: leave out'):
        graf("y ~ .", data, device="cuda", batched=False)
    assert graf("y ~ .", data, n_trees=2, device="cuda", seed=1).control.batched


def test_forests_of_a_device_are_those_of_the_processor(numpy_as_cupy):
    cars, birds = odrf.load_data("auto_mpg"), odrf.load_data("penguins")
    for formula, table in (("mpg ~ .", cars), ("species ~ .", birds)):
        options = {"n_trees": 8, "min_split": 5, "subspace": "all", "seed": 3}
        one, other = graf(formula, table, **options), graf(formula, table, device="cuda", **options)
        assert other.control.device == "cuda"
        assert one.codes(3).equals(other.codes(3))
        assert one.planes(3).equals(other.planes(3))
        assert np.array_equal(one.predict(), other.predict())


def test_a_fit_of_a_device_grows_on_the_processor_elsewhere(monkeypatch, numpy_as_cupy, data):
    fit = graf("y ~ .", data, n_trees=2, device="cuda", seed=1)
    assert device_if_there("cuda") is not None
    monkeypatch.setitem(sys.modules, "cupy", library(finds=False))
    monkeypatch.setitem(sys.modules, "torch", None)
    assert device_if_there("cuda") is None
    more = fit.grow(2)
    assert np.array_equal(more.predict(data), graf("y ~ .", data, n_trees=4, seed=1).predict(data))


def test_sums_are_by_our_kernel_where_numba_finds_the_device(monkeypatch, numpy_as_cupy):
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    assert device_for("cuda").add_up is running_sums
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    assert device_for("cuda").add_up.__name__ == "sums_by_blocks"


def test_sums_need_no_numba_for_cuda(monkeypatch, numpy_as_cupy):
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    assert device_for("cuda").add_up is running_sums
