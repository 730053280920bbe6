"""Losses of boosting: in words, and which response each is for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import AUTO, checked_choice
from odrf.design.response import SURVIVAL
from odrf.engine.boosting.losses import LOSSES, Loss
from odrf.errors import InputError
from odrf.options.table import REFIT

__all__ = [
    "checked_loss",
    "loss_in_words",
    "mean_loss_in_words",
    "require_counts",
    "require_refittable",
]

SPELLED = {
    "huber": "Huber",
    "poisson": "Poisson",
    "cox": "Cox",
    "weibull": "Weibull",
    "lognormal": "log-normal",
    "loglogistic": "log-logistic",
}
# Of these losses the mean is half of what their name says.
HALVES = {"squared_error": "half the squared error", "poisson": "half the Poisson deviance"}
# Of classes it depends on their number and order.
LOSS_OF_KIND = {"regression": "squared_error", SURVIVAL: "cox"}


def loss_in_words(name: str) -> str:
    """Return a loss by its name in texts.

    Examples
    --------
    >>> loss_in_words("squared_error"), loss_in_words("cox")
    ('squared error', 'Cox')
    """
    return SPELLED.get(name, name.replace("_", " "))


def mean_loss_in_words(name: str) -> str:
    """Return what the mean of a loss is a mean of.

    Examples
    --------
    >>> mean_loss_in_words("squared_error"), mean_loss_in_words("huber")
    ('half the squared error', 'Huber')
    """
    return HALVES.get(name, loss_in_words(name))


def checked_loss(value: Any, kind: str, n_classes: int, ordered: bool) -> str:
    """Return the name of the loss; raise `InputError` if it does not suit the response."""
    checked_choice("loss", value, [AUTO, *LOSSES])
    if value == AUTO:
        of_classes = "logistic" if n_classes == 2 else "ordinal" if ordered else "multinomial"
        return LOSS_OF_KIND.get(kind, of_classes)
    suited = [name for name, loss in LOSSES.items() if loss.kind == kind]
    if value not in suited:
        listing = " or ".join(repr(name) for name in suited)
        what = "time to an event" if kind == SURVIVAL else kind
        hint = ", or the response Surv(time, event)" if LOSSES[value].kind == SURVIVAL else ""
        raise InputError(f"loss={value!r} is not for a {what}: use {listing}{hint}")
    if LOSSES[value].binary and n_classes > 2:
        raise InputError(
            f'loss="{value}" is for two classes, the response has {n_classes}: use "auto"'
        )
    if LOSSES[value].ordered and not ordered:
        raise InputError(
            f'loss="{value}" needs ordered classes: make the response an ordered categorical, with '
            'pandas.CategoricalDtype(…, ordered=True), or use "auto"'
        )
    return str(value)


def require_refittable(leaf_values: str, loss: Loss) -> None:
    """Raise `InputError` if leaves are to be refitted and the loss is not the squared error."""
    if leaf_values == REFIT and not loss.least_squares:
        raise InputError(
            f'leaf_values="refit" fits leaves by least squares, and the loss is "{loss.name}": use '
            'leaf_values="newton" or loss="squared_error"'
        )


def require_counts(y: NDArray[np.float64]) -> None:
    """Raise `InputError` if responses (n,) are below 0, as no counts are."""
    if (y < 0).any():
        raise InputError(
            f'loss="poisson" is for responses of at least 0, the smallest is {y.min():g}: '
            'use "squared_error"'
        )
