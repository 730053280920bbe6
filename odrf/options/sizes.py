"""Options that may depend on n: t_n, α_n, and the share of the rows that each tree draws.

The constant of a rate is chosen later, on held-out rows, when the trees have been grown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from odrf.checks import checked_amount, checked_whole, is_number
from odrf.errors import InputError, nearest
from odrf.options.rule import CV, FIXED, FUNCTION, NONE, ONE_SE, OOB, RATE, Rule
from odrf.pruning.growth_stages import ALPHA_RATES, LEAF_RATES

__all__ = ["EXPONENTS", "complexity_parameter", "leaf_limit", "rate_along", "row_share"]

# Functions of n are evaluated at n, 10·n, … 10¹²·n rows, and at values of n so large that their
# limit can be seen: ln⁴n/n^0.1, say, rises until n is about 10¹⁷.
EXPONENTS = (*range(13), 24, 48, 96, 192)


AUTO = "auto"
# With fewer rows, folds are too small to choose α by default.
FEWEST_ROWS = 20


def leaf_limit(value: Any, n: int, single_tree: bool) -> tuple[int | None, Rule]:
    """Return t_n for n rows, None for no limit, and how it was determined.

    Raises
    ------
    InputError
        If `value` is neither a number nor a function of n nor, for a `single_tree`, the name of a
        rate.
    """
    if value is None:
        return None, Rule(NONE)
    if isinstance(value, str):
        names = list(LEAF_RATES) if single_tree else []
        if value not in names:
            raise _unknown("max_leaves", value, names, "a whole number or a function of n")
        return None, Rule(RATE, value)
    if callable(value):
        leaves = _at("max_leaves", value, n, 1)
        return int(min(leaves, n)), _function_rule(value, n)
    return checked_whole("max_leaves", value, 1), Rule(FIXED)


def complexity_parameter(
    value: Any, n: int, single_tree: bool, limited: bool = False
) -> tuple[float | None, Rule]:
    """Return α_n for n rows, and how it was determined.

    α_n is None if it is not set, or is to be chosen on held-out rows.  ``"auto"`` chooses it by
    cross-validation for a single tree of enough rows whose growth is not `limited` otherwise.

    Raises
    ------
    InputError
        If `value` is neither a number nor a function of n nor a name that is allowed for a
        `single_tree`, or for a forest.
    """
    if value is None:
        return None, Rule(NONE)
    if isinstance(value, str):
        choices = (AUTO, CV, ONE_SE) if single_tree else (OOB,)
        names = [*choices, *ALPHA_RATES]
        if value not in names:
            raise _unknown("alpha", value, names, "a number or a function of n")
        if value == AUTO:
            return None, Rule(NONE if limited or n < FEWEST_ROWS else CV)
        return None, Rule(RATE, value) if value in ALPHA_RATES else Rule(value)
    if callable(value):
        return _at("alpha", value, n, 0), _function_rule(value, n)
    return checked_amount("alpha", value), Rule(FIXED)


def row_share(value: Any, n: int) -> tuple[float, Rule]:
    """Return the share of n rows that a tree draws, and how it was determined.

    Raises
    ------
    InputError
        If `value` is neither a number above 0 and at most 1 nor a function of n that gives one.
    """
    share = _at("sample_fraction", value, n, 0) if callable(value) else value
    if is_number(share) and 0 < float(share) <= 1:
        return float(share), _function_rule(value, n) if callable(value) else Rule(FIXED)
    if callable(value):
        raise InputError(
            f"sample_fraction: the function gives {share!r} for n = {n}: "
            "it must give a number above 0 and at most 1"
        )
    raise InputError(
        f'sample_fraction={value!r}: use "auto", a number above 0 and at most 1, or a function of n'
    )


def _function_rule(function: Callable[[int], Any], n: int) -> Rule:
    name = getattr(function, "__name__", "<lambda>")
    return Rule(FUNCTION, "" if name == "<lambda>" else name, along=_along(function, n))


def _along(function: Callable[[int], Any], n: int) -> tuple[float, ...]:
    """Return the values of a function at n times 10 to the `EXPONENTS`; empty if it fails there.

    A function that works for the n rows at hand is valid, so this is no error.  Those of NumPy do
    not take whole numbers beyond 64 bits, and some of others take no decimal numbers.
    """
    whole = [n * 10**k for k in EXPONENTS]
    for numbers in (whole, np.array(whole, dtype=float)):
        try:
            return tuple(float(function(number)) for number in numbers)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            continue
    return ()


def rate_along(constant: float, rate: Callable[[float], float], n: int) -> tuple[float, ...]:
    """Return constant · rate at n times 10 to the `EXPONENTS`."""
    return tuple(constant * rate(n * 10**k) for k in EXPONENTS)


def _unknown(argument: str, value: str, names: list[str], others: str) -> InputError:
    listing = "".join(f"{name!r}, " for name in names)
    return InputError(f"{argument}={value!r}: use {listing}{others}{nearest(value, names)}")


def _at(argument: str, function: Callable[[int], Any], n: int, least: float) -> float:
    try:
        value = function(n)
    except Exception as error:  # a user's function may raise anything
        raise InputError(
            f"{argument}: the function fails for n = {n}: {type(error).__name__}: {error}"
        ) from error
    if not is_number(value) or not least <= float(value) < math.inf:
        raise InputError(
            f"{argument}: the function gives {value!r} for n = {n}: "
            f"it must give a finite number of at least {least}"
        )
    return float(value)
