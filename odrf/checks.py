"""Checks of arguments: numbers, shares, truth values, seeds, threads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from odrf.engine.running import available_cores, usual_threads
from odrf.errors import InputError, allowed

AUTO = "auto"
"""The value that lets the package choose an option."""
LARGEST = 10**18
"""The largest whole number of any option; the engine's integers have 64 bits."""
MOST = 10**6
"""The most of what is grown, drawn or tried once for each: trees, directions, thresholds."""
MOST_DIGITS = 17
"""Significant digits of a number of 64 bits; more show nothing new."""
Seed = int | np.random.SeedSequence | np.random.Generator | None
"""What may be given as a seed."""


def is_number(value: Any) -> bool:
    """Return whether the value is a real number; True and False do not count."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Return whether the value has an integer type; 2.0 and True do not count."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_word(value: Any, word: str) -> bool:
    """Return whether the value is this text; arrays, whose comparison is an array, are not."""
    return isinstance(value, str) and value == word


def is_list(value: Any) -> bool:
    """Return whether the value is a sequence or an array, and not a text."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def require_default(argument: str, value: Any, default: Any, used: str) -> None:
    """Raise `InputError` if an argument is given that would be ignored.

    To give the `default`, which stands for an argument that is left out, is no error.  `used` says
    in words what the argument is for.
    """
    simple = isinstance(value, str) or is_number(value)
    if value is not default and not (simple and value == default):
        raise InputError(f"{argument}= is for {used}: leave {argument}= out")


def checked_choice(argument: str, value: Any, choices: Iterable[str | None]) -> Any:
    """Return `value`; raise `InputError` unless it is among the choices, texts or None."""
    choices = list(choices)
    if (value is not None and not isinstance(value, str)) or value not in choices:
        raise allowed(argument, value, choices)
    return value


def checked_whole(argument: str, value: Any, least: int, most: int = LARGEST) -> int:
    """Return `value`; raise `InputError` unless it is a whole number from `least` to `most`."""
    if not is_whole(value) or value < least:
        raise InputError(f"{argument}={value!r}: use a whole number of at least {least}")
    if value > most:
        raise InputError(f"{argument}={value!r}: use a whole number of at most {most}")
    return int(value)


def checked_part(argument: str, value: Any) -> float:
    """Return `value`; raise `InputError` unless it is a number above 0 and below 1."""
    if not is_number(value) or not 0 < float(value) < 1:
        raise InputError(f"{argument}={value!r}: use a number above 0 and below 1")
    return float(value)


def checked_share(argument: str, value: Any) -> float:
    """Return `value`; raise `InputError` unless it is a number above 0 and at most 1."""
    if not is_number(value) or not 0 < float(value) <= 1:
        raise InputError(f"{argument}={value!r}: use a number above 0 and at most 1")
    return float(value)


def checked_amount(argument: str, value: Any) -> float:
    """Return `value`; raise `InputError` unless it is a finite number of at least 0."""
    if not is_number(value) or not 0 <= float(value) < math.inf:
        raise InputError(f"{argument}={value!r}: use a finite number of at least 0")
    return float(value)


def checked_above_0(argument: str, value: Any) -> float:
    """Return `value`; raise `InputError` unless it is a finite number above 0."""
    if not is_number(value) or not 0 < float(value) < math.inf:
        raise InputError(f"{argument}={value!r}: use a finite number above 0")
    return float(value)


def checked_truth(argument: str, value: Any) -> bool:
    """Return `value`; raise `InputError` unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{argument}={value!r}: use True or False")
    return bool(value)


def checked_switch(argument: str, value: Any) -> bool | Literal["auto"]:
    """Return `value`; raise `InputError` unless it is ``"auto"``, True or False."""
    if is_word(value, AUTO):
        return "auto"
    if not isinstance(value, bool | np.bool_):
        raise InputError(f'{argument}={value!r}: use "auto", True or False')
    return bool(value)


def checked_seed(value: Any) -> int:
    """Return a seed as a whole number: drawn from a generator, or at random for None."""
    if value is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**63))
    if isinstance(value, np.random.SeedSequence):
        return int(value.generate_state(1, np.uint64)[0])
    if not is_whole(value) or value < 0:
        raise InputError(
            f"seed={value!r}: use a whole number of at least 0, a SeedSequence or a Generator"
        )
    return int(value)


def checked_jobs(value: Any) -> int:
    """Return the number of threads: by None the usual one, by -1 as many as there are cores."""
    if value is None:
        return usual_threads()
    if is_whole(value) and value == -1:
        return available_cores()
    if not is_whole(value) or not 1 <= value <= LARGEST:
        raise InputError(f"n_jobs={value!r}: use a whole number of at least 1, or -1 for all cores")
    return int(value)
