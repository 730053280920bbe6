"""Rules in n: how large trees may get, t_n and α_n, and how many rows each draws.

What the name of a rate stands for is found on held-out rows, once the trees are grown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from odrf.checks import checked_amount, checked_whole, is_number
from odrf.errors import InputError, nearest
from odrf.pruning.choosing import ONE_SE
from odrf.pruning.rates import ALPHA_RATES, LEAF_RATES

__all__ = [
    "CROSS_VALIDATED",
    "EXPONENTS",
    "FIXED",
    "NONE",
    "NO_LIMIT",
    "OUT_OF_BAG",
    "complexity_parameter",
    "leaf_limit",
    "rate_along",
    "row_share",
    "rule_along",
]

# A tree is judged by cross-validation, a forest out of bag.
CROSS_VALIDATED, OUT_OF_BAG = "cv", "oob"
NONE, FIXED = "none", "fixed"
NO_LIMIT = "no limit"
# A rule is known at n, 10·n, … 10¹²·n rows, and so far beyond that where it goes can be seen:
# ln⁴n/n^0.1 rises until n is about 10¹⁷.
EXPONENTS = (*range(13), 24, 48, 96)


def leaf_limit(value: Any, n: int, lone: bool) -> tuple[int | None, str]:
    """Return the most leaves of a tree on n rows, None for any number, and how that came about.

    Raises
    ------
    InputError
        Where `value` is no number, rule or name, or a name and the tree is not a `lone` one.
    """
    if value is None:
        return None, NO_LIMIT
    if isinstance(value, str):
        names = list(LEAF_RATES) if lone else []
        if value not in names:
            raise _unknown("max_leaves", value, names, "a whole number or a function of n")
        return None, value
    if callable(value):
        leaves, rule = _by_rule("max_leaves", value, n, 1)
        return int(min(leaves, n)), rule
    return checked_whole("max_leaves", value, 1), FIXED


def complexity_parameter(value: Any, n: int, lone: bool) -> tuple[float | None, str]:
    """Return the price α of a leaf for n rows, None where there is none yet, and where it is from.

    Raises
    ------
    InputError
        Where `value` is no number, rule or name that goes with a `lone` tree, or with a forest.
    """
    if value is None:
        return None, NONE
    if isinstance(value, str):
        found = (CROSS_VALIDATED, ONE_SE) if lone else (OUT_OF_BAG,)
        names = [*found, *ALPHA_RATES]
        if value not in names:
            raise _unknown("alpha", value, names, "a number or a function of n")
        return None, value
    if callable(value):
        return _by_rule("alpha", value, n, 0)
    return checked_amount("alpha", value), FIXED


def row_share(value: Any, n: int) -> float:
    """Return which share of n rows a tree draws.

    Raises
    ------
    InputError
        Where `value` is no share, nor a rule that gives one.
    """
    share = _by_rule("sample_fraction", value, n, 0)[0] if callable(value) else value
    if is_number(share) and 0 < float(share) <= 1:
        return float(share)
    if callable(value):
        raise InputError(
            f"sample_fraction: the rule gives {share!r} for n = {n}: "
            "it must give a number above 0, up to 1"
        )
    raise InputError(
        f'sample_fraction={value!r}: use "auto", a number above 0, up to 1, or a function of n'
    )


def rule_along(value: Any, n: int) -> tuple[float, ...]:
    """Return what a rule in n gives at n times 10 to the `EXPONENTS`; nothing without a rule.

    A rule that cannot be asked so far out says nothing of where it goes, which is no error.
    """
    if not callable(value):
        return ()
    try:
        return tuple(float(value(n * 10**k)) for k in EXPONENTS)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return ()


def rate_along(constant: float, rate: Callable[[float], float], n: int) -> tuple[float, ...]:
    """Return what constant · rate is at n times 10 to the `EXPONENTS`."""
    return tuple(constant * rate(n * 10**k) for k in EXPONENTS)


def _unknown(argument: str, value: str, names: list[str], others: str) -> InputError:
    listing = "".join(f"{name!r}, " for name in names)
    return InputError(f"{argument}={value!r}: use {listing}{others}{nearest(value, names)}")


def _by_rule(argument: str, rule: Callable[[int], Any], n: int, least: float) -> tuple[float, str]:
    value = rule(n)
    if not isinstance(value, Real) or not least <= float(value) < math.inf:
        raise InputError(
            f"{argument}: the rule gives {value!r} for n = {n}: "
            f"it must give a finite number of at least {least}"
        )
    name = getattr(rule, "__name__", "<lambda>")
    words = "rule" if name == "<lambda>" else f"rule {name}"
    return float(value), f"{words} at n = {n}"
