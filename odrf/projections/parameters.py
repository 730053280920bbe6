"""Checks of the parameters of families."""

from __future__ import annotations

import math
from typing import Any

from odrf.checks import checked_whole, is_number, is_whole
from odrf.errors import InputError

__all__ = [
    "extent",
    "from_zero_to_one",
    "grid_shape",
    "positive_or_auto",
    "require_pixels",
    "share",
    "share_or_auto",
    "whole_or_auto",
]


def share_or_auto(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is "auto" or a number above 0, up to 1."""
    if isinstance(value, str) and value == "auto":
        return
    if not is_number(value) or not 0 < float(value) <= 1:
        raise InputError(f'{argument}={value!r}: use "auto" or a number above 0, up to 1')


def share(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is a number above 0, up to 1."""
    if not is_number(value) or not 0 < float(value) <= 1:
        raise InputError(f"{argument}={value!r}: use a number above 0, up to 1")


def positive_or_auto(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is "auto" or a number above 0."""
    if isinstance(value, str) and value == "auto":
        return
    if not is_number(value) or not 0 < float(value) < math.inf:
        raise InputError(f'{argument}={value!r}: use "auto" or a number above 0')


def from_zero_to_one(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is a number between 0 and 1."""
    if not is_number(value) or not 0 <= float(value) <= 1:
        raise InputError(f"{argument}={value!r}: use a number between 0 and 1")


def whole_or_auto(argument: str, value: Any, least: int) -> None:
    """Raise `InputError` unless the value is "auto" or a whole number of at least `least`."""
    if not (isinstance(value, str) and value == "auto"):
        checked_whole(argument, value, least)


def grid_shape(argument: str, value: Any) -> tuple[int, int]:
    """Return a height and a width; raise `InputError` unless both are whole and at least 1."""
    if not _is_pair(value) or min(value) < 1:
        raise InputError(
            f"{argument}={value!r}: use (height, width), two whole numbers of at least 1; "
            "(1, length) for series"
        )
    return int(value[0]), int(value[1])


def require_pixels(channels: int, height: int, width: int, P: int, p: int) -> None:
    """Raise `InputError` unless the predictors are single columns, one for each pixel."""
    pixels = channels * height * width
    if not P == p == pixels:
        of = f"{channels} channels of " if channels > 1 else ""
        columns = f" of {p} columns" if p != P else ""
        raise InputError(
            f"{of}shape={(height, width)} are {pixels} pixels, but the formula has {P} predictors"
            f"{columns}: use the pixels, in the order channel, row, column, as the only predictors"
        )


def extent(argument: str, value: Any) -> tuple[int, int]:
    """Return the least and the largest length; a single number is both.

    Raise `InputError` unless they are whole, at least 1 and in order.
    """
    if is_whole(value) and value >= 1:
        return int(value), int(value)
    if not _is_pair(value) or not 1 <= value[0] <= value[1]:
        raise InputError(
            f'{argument}={value!r}: use "auto", a whole number of at least 1, or a pair '
            "(least, largest) of these"
        )
    return int(value[0]), int(value[1])


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(is_whole(part) for part in value)
    )
