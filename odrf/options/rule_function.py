"""Functions of n that a fit keeps and can be pickled with."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import Any

from odrf.errors import InputError

__all__ = ["RuleFunction"]


class RuleFunction:
    """A function of n, given as the value of an option.

    It is pickled by its name and that of its module, and imported again when it is next needed.
    So a pickled fit can be loaded where the function does not exist.

    Parameters
    ----------
    option : str
        The option's name.
    function : callable
        Takes n.
    """

    def __init__(self, option: str, function: Callable[[int], float]) -> None:
        self.option = option
        self.module = str(getattr(function, "__module__", ""))
        self.name = str(getattr(function, "__qualname__", ""))
        self._function: Callable[[int], float] | None = function

    @property
    def function(self) -> Callable[[int], float]:
        """The function.

        Raises
        ------
        InputError
            If the fit was loaded from a file and the function cannot be imported by its name.
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
