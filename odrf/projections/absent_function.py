"""What stands for a function of the user in a fit from a file, which does not hold functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from odrf.errors import InputError

__all__ = ["AbsentFunction"]


@dataclass(frozen=True)
class AbsentFunction:
    """A function that was not given when the fit was loaded; calling it says so.

    Attributes
    ----------
    name : str
    """

    name: str

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Raise `InputError`."""
        raise InputError(
            f"projection= was the function {self.name!r}, which the file does not hold: use "
            f"load(path, functions={{{self.name!r}: …}})"
        )
