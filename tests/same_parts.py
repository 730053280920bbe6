"""Whether two fits are the same, part by part and bit by bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from odrf.design.evaluation import Evaluation
from odrf.options.sizes import RuleFunction

__all__ = ["assert_same_parts"]


def assert_same_parts(one: Any, other: Any, where: str = "fit") -> None:
    """Raise `AssertionError` at the first difference; functions are the same by their names."""
    assert type(one) is type(other), (where, type(one), type(other))
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        assert other.flags.writeable and other.flags.aligned, where
        assert other.flags.c_contiguous or not one.flags.c_contiguous, where
        by_bytes = one.dtype not in (object, np.longdouble)  # which has bytes without a meaning
        same = one.tobytes() == other.tobytes() if by_bytes else (one == other).all()
        assert same, where
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_exact=True, check_freq=True)
        assert one.attrs == other.attrs, where
    elif isinstance(one, pd.Index):
        pd.testing.assert_index_equal(one, other, exact=True)
    elif isinstance(one, dict):
        assert list(one) == list(other), where
        for key in one:
            assert_same_parts(one[key], other[key], f"{where}[{key!r}]")
    elif isinstance(one, tuple | list):
        assert len(one) == len(other), where
        for i in range(len(one)):
            assert_same_parts(one[i], other[i], f"{where}[{i}]")
    elif isinstance(one, Evaluation):
        assert_same_parts(one.__getstate__(), other.__getstate__(), where)
    elif isinstance(one, RuleFunction):
        assert (one.option, one.name) == (other.option, other.name), where
    elif is_dataclass(one):
        for field in fields(one):
            name = field.name
            assert_same_parts(getattr(one, name), getattr(other, name), f"{where}.{name}")
    else:
        assert one is other or one == other, (where, one, other)
