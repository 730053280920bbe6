"""The option `split_scale`: names of the scales on which splits are chosen, and its checks."""

from __future__ import annotations

from typing import Any

from odrf.checks import AUTO, checked_choice, is_word
from odrf.engine.kernel_params import ON_BOX_COX, ON_LOG, ON_NORMAL, ON_RANKS, ON_RESPONSE
from odrf.errors import InputError

__all__ = ["IN_WORDS", "RESPONSE", "SPLIT_SCALES", "require_split_scale"]

RESPONSE = "response"
SPLIT_SCALES = {
    RESPONSE: ON_RESPONSE,
    "log": ON_LOG,
    "box_cox": ON_BOX_COX,
    "normal": ON_NORMAL,
    "ranks": ON_RANKS,
}
"""The scales by their names; each has its code in `odrf.engine.kernel_params`."""
IN_WORDS = {
    "log": "the logarithm of the response",
    "box_cox": "a power of the response",
    "normal": "normal scores of the response",
    "ranks": "ranks of the response",
}
"""What splits are chosen on, if it is not the response."""
NO_NUMBERS = {"classification": "has classes", "survival": "is a time to an event"}
"""Kinds of responses without a scale."""


def require_split_scale(split_scale: Any, kind: str, blended: bool) -> None:
    """Raise `InputError` for an invalid `split_scale`, or if nothing can be chosen by it.

    `kind` is that of the response, and `blended` whether the fit is a blend.
    """
    checked_choice("split_scale", split_scale, (AUTO, *SPLIT_SCALES))
    if split_scale == RESPONSE:
        return
    if kind in NO_NUMBERS:
        raise InputError(
            f'split_scale="{split_scale}" is for a response that is a number, and this one '
            f"{NO_NUMBERS[kind]}: leave it out"
        )
    if is_word(split_scale, AUTO) and not blended:
        raise InputError(
            'split_scale="auto" chooses the scale in a forest of several kinds of trees, and this '
            f"fit has a single kind: use blend=True, or one of {', '.join(map(repr, SPLIT_SCALES))}"
        )
