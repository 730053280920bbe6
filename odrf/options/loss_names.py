"""Losses of boosting in words."""

from __future__ import annotations

__all__ = ["loss_in_words"]

SPELLED = {
    "huber": "Huber",
    "poisson": "Poisson",
    "cox": "Cox",
    "weibull": "Weibull",
    "lognormal": "log-normal",
    "loglogistic": "log-logistic",
}


def loss_in_words(name: str) -> str:
    """Return a loss by its name in texts.

    Examples
    --------
    >>> loss_in_words("squared_error"), loss_in_words("cox")
    ('squared error', 'Cox')
    """
    return SPELLED.get(name, name.replace("_", " "))
