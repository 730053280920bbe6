"""The one exception the package raises for bad input, and its spelling aid."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["InputError", "allowed", "nearest"]


class InputError(ValueError):
    """Input that cannot be used; the message names the culprit and the way out."""


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the choice most like `name`, or ``""``."""
    match = get_close_matches(str(name), [str(choice) for choice in choices], n=1, cutoff=0.5)
    return f"; did you mean {match[0]!r}?" if match else ""


def allowed(argument: str, value: object, choices: Iterable[str]) -> InputError:
    """Build the error for an option value that is not among its `choices`."""
    choices = list(choices)
    listing = ", ".join(repr(choice) for choice in choices)
    return InputError(
        f"{argument}={value!r} is not known: use one of {listing}{nearest(str(value), choices)}"
    )
