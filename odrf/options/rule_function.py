"""Rules in n that are remembered with a fit, and outlast the file that it is saved in."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import Any

from odrf.errors import InputError

__all__ = ["RuleFunction"]


class RuleFunction:
    """A function of n that an option was given as.

    It pickles by the name of its module and its own, and is looked up there when it is next
    needed.  So a fit can be read where the function is not to be found.

    Parameters
    ----------
    option : str
        The option's name.
    function : callable
    """

    def __init__(self, option: str, function: Callable[[int], float]) -> None:
        self.option = option
        self.module = str(getattr(function, "__module__", ""))
        self.name = str(getattr(function, "__qualname__", ""))
        self._known: Callable[[int], float] | None = function

    @property
    def function(self) -> Callable[[int], float]:
        """The function.

        Raises
        ------
        InputError
            If the rule comes from a file and the function cannot be found by its name.
        """
        if self._known is None:
            self._known = self._found()
        return self._known

    def _found(self) -> Callable[[int], float]:
        try:
            return attrgetter(self.name)(import_module(self.module))
        except (AttributeError, ImportError, ValueError):
            raise InputError(
                f"{self.option}= was a rule in n, {self.name or 'a function without a name'}, that "
                f"is not to be found in module {self.module!r} after save() and load(): define the "
                "rule there by that name, or fit with a named function of a module"
            ) from None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": None}
