"""Checks of the parameters of families."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from odrf.errors import InputError

__all__ = [
    "from_zero_to_one",
    "positive_or_auto",
    "share",
    "share_or_auto",
    "whole",
    "whole_or_auto",
]


def share_or_auto(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is "auto" or a number above 0, up to 1."""
    if isinstance(value, str) and value == "auto":
        return
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise InputError(f'{argument}={value!r}: use "auto" or a number above 0, up to 1')


def share(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is a number above 0, up to 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise InputError(f"{argument}={value!r}: use a number above 0, up to 1")


def whole(argument: str, value: Any, least: int) -> int:
    """Return the whole number `value`; raise `InputError` where it is none, or below `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{argument}={value!r}: use a whole number of at least {least}")
    return int(value)


def positive_or_auto(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is "auto" or a number above 0."""
    if isinstance(value, str) and value == "auto":
        return
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 < float(value) < math.inf:
        raise InputError(f'{argument}={value!r}: use "auto" or a number above 0')


def from_zero_to_one(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is a number between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise InputError(f"{argument}={value!r}: use a number between 0 and 1")


def whole_or_auto(argument: str, value: Any, least: int) -> None:
    """Raise `InputError` unless the value is "auto" or a whole number of at least `least`."""
    if not (isinstance(value, str) and value == "auto"):
        whole(argument, value, least)
