"""The option `criterion`: names of impurities, and which kind of response each is for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from odrf.checks import AUTO, checked_choice
from odrf.engine.splits.impurity import (
    CRITERIA,
    ENTROPY,
    GINI,
    ORDINAL,
    POISSON,
    SQUARED_ERROR,
)
from odrf.errors import InputError
from odrf.projections.base import Family

__all__ = ["EXPONENTIAL", "GRAY", "LOG_RANK", "criteria_of", "criterion_of", "require_no_penalty"]

CRITERION_CODES = {
    "squared_error": SQUARED_ERROR,
    "gini": GINI,
    "entropy": ENTROPY,
    "ordinal": ORDINAL,
}
# Scores are split as numbers are, by their squared errors.
LOG_RANK, GRAY, EXPONENTIAL = "log_rank", "gray", "exponential"
SURVIVAL_CODES = {LOG_RANK: SQUARED_ERROR, GRAY: SQUARED_ERROR, EXPONENTIAL: POISSON}
SURVIVAL = "survival"


def criteria_of(kind: str) -> dict[str, int]:
    """Return the codes of the criteria that there are for this kind of response, by name."""
    if kind == SURVIVAL:
        return SURVIVAL_CODES
    of_classes = kind == "classification"
    return {
        name: code
        for name, code in CRITERION_CODES.items()
        if CRITERIA[code].of_classes == of_classes
    }


def criterion_of(value: Any, kind: str, families: Collection[Family], ordinal: bool) -> str:
    """Return the criterion of a call for this kind of response, resolved.

    Parameters
    ----------
    value : str
        The argument `criterion`.
    kind : {"regression", "classification", "survival"}
    families : collection of Family
        They have defaults for classes.
    ordinal : bool
        Whether there are three or more ordered classes.

    Raises
    ------
    InputError
        It is unknown, or not for such responses.
    """
    choices = [name for name, code in criteria_of(kind).items() if not CRITERIA[code].ordered]
    checked_choice("criterion", value, [AUTO, *CRITERION_CODES, *SURVIVAL_CODES])
    if ordinal and value in (AUTO, "ordinal"):
        return "ordinal"
    if value == AUTO:
        defaults = {family.criterion for family in families}
        return defaults.pop() if kind == "classification" and len(defaults) == 1 else choices[0]
    if value not in choices:
        suited = " or ".join(repr(choice) for choice in choices)
        if value == "ordinal" and kind == "classification":
            raise InputError(
                'criterion="ordinal" needs three or more ordered classes: make the response an '
                "ordered categorical, with pandas.CategoricalDtype(…, ordered=True), or use "
                f"{suited}"
            )
        if value in SURVIVAL_CODES:
            raise InputError(
                f"criterion={value!r} is for times to an event, with a formula such as "
                f'"Surv(time, event) ~ .", and not for a {kind}: use {suited}'
            )
        of = "times to an event" if kind == SURVIVAL else f"a {kind}"
        raise InputError(f"criterion={value!r} is not for {of}: use {suited}")
    return str(value)


def require_no_penalty(criterion: str, penalty: str | None) -> None:
    """Raise `InputError` if the penalty is charged to an impurity that is no mean of squares."""
    if criterion == EXPONENTIAL and penalty is not None:
        raise InputError(
            f'penalty="{penalty}" is not for criterion="exponential": leave it out, and prune by '
            "alpha="
        )
