"""Options that may depend on n: t_n, α_n, and the share of the rows that each tree draws.

The constant of a rate is chosen later, on validation rows, when the trees have been grown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np

from odrf.checks import checked_amount, checked_whole, is_number
from odrf.errors import InputError, nearest
from odrf.pruning.growth_stages import ALPHA_RATES, IN_WORDS, LEAF_RATES

# How an option that may depend on n was determined: t_n, α_n, the share of rows of a tree.

# Not set; a number; a function of n; a rate c·r(n).
NONE, FIXED, FUNCTION, RATE = "none", "fixed", "function", "rate"
# Chosen on validation rows.
CV, ONE_SE, OOB = "cv", "1se", "oob"
KINDS = (NONE, FIXED, FUNCTION, RATE, CV, ONE_SE, OOB)


@dataclass(frozen=True)
class Rule:
    """How an option that may depend on n was determined.

    `kind`: ``"none"``, ``"fixed"``, ``"function"``, ``"rate"``, ``"cv"``, ``"1se"`` or ``"oob"``.
    `name`: the name of the function or the rate.  `constant`: c of a rate c·r(n); None until it has
    been chosen on validation rows.  `along`: values of the function or the rate at n times 10 to
    the `EXPONENTS`; empty without either.  `found_by`: the validation rows that chose the value or
    the constant, in words; empty for none.  `earlier`: whether these were rows before an update,
    which kept the value or the constant.
    """

    kind: str
    name: str = ""
    constant: float | None = None
    along: tuple[float, ...] = ()
    found_by: str = ""
    earlier: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS or (self.kind == RATE and self.name not in IN_WORDS):
            raise InputError(f"{self.kind!r} {self.name!r} is no rule for a value")

    @property
    def needs_search(self) -> bool:
        """Whether the value or the constant has yet to be chosen on validation rows."""
        return self.kind in (RATE, CV, ONE_SE, OOB) and not self.found_by

    def found(self, by: str, constant: float | None = None, along: tuple[float, ...] = ()) -> Rule:
        """Return the rule after the choice on validation rows, which `by` names."""
        return replace(self, found_by=by, constant=constant, along=along, earlier=False)

    def kept(self) -> Rule:
        """Return the rule after an update that kept what it has chosen before."""
        return replace(self, earlier=True)


# Functions of n are evaluated at n, 10·n, … 10¹²·n rows, and at values of n so large that their
# limit can be seen: ln⁴n/n^0.1, say, rises until n is about 10¹⁷.
EXPONENTS = (*range(13), 24, 48, 96, 192)


AUTO = "auto"
# With fewer rows, folds are too small to choose α by default.
FEWEST_ROWS = 20


def leaf_limit(value: Any, n: int, single_tree: bool) -> tuple[int | None, Rule]:
    """Return t_n for n rows, None for no limit, and how it was determined.

    Raises `InputError` if `value` is neither a number nor a function of n nor, for a `single_tree`,
    the name of a rate.
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

    α_n is None if it is not set, or is to be chosen on validation rows.  ``"auto"`` chooses it by
    cross-validation for a single tree of enough rows whose growth is not `limited` otherwise.
    Raises `InputError` if `value` is neither a number nor a function of n nor a name that is
    allowed for a `single_tree`, or for a forest.
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

    Raises `InputError` if `value` is neither a number above 0 and at most 1 nor a function of n
    that gives one.
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


# Functions of n that a fit keeps and can be pickled with.


class RuleFunction:
    """A function of n, given as the value of an option.

    It is pickled by its name and that of its module, and imported again when it is next needed.
    So a pickled fit can be loaded where the function does not exist.
    """

    def __init__(self, option: str, function: Callable[[int], float]) -> None:
        self.option = option
        self.module = str(getattr(function, "__module__", ""))
        self.name = str(getattr(function, "__qualname__", ""))
        self._function: Callable[[int], float] | None = function

    @property
    def function(self) -> Callable[[int], float]:
        """The function.

        Raises `InputError` if the fit was loaded and the function cannot be imported by its name.
        """
        if self._function is None:
            self._function = self._imported()
        return self._function

    @classmethod
    def named(cls, option: str, name: str, function: Callable[[int], float] | None) -> RuleFunction:
        """Return the function of a fit from a file, which holds its name alone.

        Without `function`, the fit can do all that does not need it.
        """
        rule = cls.__new__(cls)
        rule.option, rule.module, rule.name, rule._function = option, "", name, function
        return rule

    def _imported(self) -> Callable[[int], float]:
        if not self.module:
            raise InputError(
                f"{self.option}= was a function of n, {self.name!r}, which the file does not hold: "
                f"use load(path, functions={{{self.name!r}: …}})"
            )
        try:
            return attrgetter(self.name)(import_module(self.module))
        except (AttributeError, ImportError, ValueError):
            raise InputError(
                f"{self.option}= was a function of n, {self.name or 'without a name'}, which is "
                f"not found in module {self.module!r} after save() and load(): define it there by "
                "that name, or fit with a named function of a module"
            ) from None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_function": None}
