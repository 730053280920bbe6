"""Checks of the parameters of families."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from odrf.errors import InputError

__all__ = ["share", "share_or_auto", "whole"]


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
