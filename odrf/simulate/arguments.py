"""What the arguments of problems may be."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from odrf.checks import checked_seed, checked_whole, is_number
from odrf.errors import InputError

__all__ = ["checked_below", "checked_range", "layout_chance"]


def checked_range(argument: str, value: Any, least: int, most: int, what: str) -> int:
    """Return the whole number `value`; raise `InputError` where it is not `least` to `most`.

    `what` says what the most is.
    """
    whole = checked_whole(argument, value, least)
    if whole > most:
        raise InputError(f"{argument}={value!r}: use a whole number of at most {most}, {what}")
    return whole


def checked_below(argument: str, value: Any, below: float) -> float:
    """Return the number `value`; raise `InputError` where it is not from 0 to under `below`."""
    if not is_number(value) or not 0 <= float(value) < below:
        raise InputError(f"{argument}={value!r}: use a number from 0 to below {below:.4g}")
    return float(value)


def layout_chance(layout: Any) -> np.random.Generator:
    """Return the generator of what is random in a problem itself, from its seed `layout`."""
    whole = isinstance(layout, Integral)
    return np.random.default_rng(
        checked_whole("layout", layout, 0) if whole else checked_seed(layout)
    )
