"""Loaded objects hold what their annotations say, also where an alias stands for a type."""

from __future__ import annotations

import sys
import typing
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from odrf.fits.files.validation import is_as_annotated

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass
class Arrays:
    """Arrays of a known and of any type."""

    numbers: NDArray[np.float64]
    some: NDArray | None
    many: tuple[NDArray[np.int64], ...]


def check_arrays():
    assert is_as_annotated(Arrays, "numbers", np.zeros(2))
    assert not is_as_annotated(Arrays, "numbers", np.zeros(2, dtype=np.int64))
    assert not is_as_annotated(Arrays, "numbers", [0.0])
    assert is_as_annotated(Arrays, "some", np.zeros(2, dtype=np.int8))
    assert is_as_annotated(Arrays, "some", None)
    assert not is_as_annotated(Arrays, "some", 1)
    assert is_as_annotated(Arrays, "many", (np.arange(2), np.arange(3)))
    assert not is_as_annotated(Arrays, "many", (np.arange(2), np.zeros(3)))


def test_arrays_are_of_their_type():
    check_arrays()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="aliases by `type` came with Python 3.12")
def test_an_alias_by_type_stands_for_its_value(monkeypatch):
    """NDArray is one from NumPy 2.5 on; no fit could be loaded then."""
    alias: Any = typing.TypeAliasType(
        "NDArray", np.ndarray[Any, np.dtype[Scalar]], type_params=(Scalar,)
    )
    hints = {
        "numbers": alias[np.float64],
        "some": alias | None,
        "many": tuple[alias[np.int64], ...],
    }
    monkeypatch.setattr("odrf.fits.files.validation._annotations", lambda kind: hints)
    check_arrays()
