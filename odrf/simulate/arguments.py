"""Checks of the arguments of simulated problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from odrf.checks import MOST, checked_seed, checked_whole, is_number
from odrf.errors import InputError

__all__ = ["checked_below", "checked_count", "checked_range", "layout_generator"]


def checked_count(argument: str, value: Any, least: int) -> int:
    """Return `value`; raise `InputError` unless it is whole, and from `least` to a million."""
    return checked_whole(argument, value, least, MOST)


def checked_range(argument: str, value: Any, least: int, most: int, what: str) -> int:
    """Return the whole number `value`; raise `InputError` if it is not from `least` to `most`.

    `what` explains the upper limit in the message.
    """
    whole = checked_count(argument, value, least)
    if whole > most:
        raise InputError(f"{argument}={value!r}: use a whole number of at most {most}, {what}")
    return whole


def checked_below(argument: str, value: Any, below: float) -> float:
    """Return the number `value`; raise `InputError` if it is not from 0 to below `below`."""
    if not is_number(value) or not 0 <= float(value) < below:
        raise InputError(f"{argument}={value!r}: use a number from 0 to below {below:.4g}")
    return float(value)


def layout_generator(layout: Any) -> np.random.Generator:
    """Return the generator for the random parameters of a problem, from its seed `layout`."""
    try:
        return np.random.default_rng(checked_seed(layout))
    except InputError as error:
        raise InputError(str(error).replace("seed", "layout", 1)) from None
