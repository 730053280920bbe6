"""Losses of boosting in words."""

from __future__ import annotations

__all__ = ["loss_in_words", "mean_loss_in_words"]

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
