"""Options that are names: criteria, losses, scales, causes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, get_args

import numpy as np

from odrf.checks import AUTO, checked_choice, is_word
from odrf.design.survival_times import ONE_CAUSE
from odrf.engine.kernel_params import ON_BOX_COX, ON_LOG, ON_NORMAL, ON_RANKS, ON_RESPONSE
from odrf.engine.splits.impurity import (
    ENTROPY,
    GINI,
    ORDINAL,
    POISSON,
    SQUARED_ERROR,
)
from odrf.errors import InputError, nearest
from odrf.options import words
from odrf.projections.base import Family

# The option `criterion`: names of impurities, and which kind of response each is for.

# Scores are split as numbers are, by their squared errors.
LOG_RANK, GRAY, EXPONENTIAL = "log_rank", "gray", "exponential"
SURVIVAL = "survival"
CRITERIA_OF = {
    "regression": {"squared_error": SQUARED_ERROR},
    "classification": {"gini": GINI, "entropy": ENTROPY, "ordinal": ORDINAL},
    SURVIVAL: {LOG_RANK: SQUARED_ERROR, GRAY: SQUARED_ERROR, EXPONENTIAL: POISSON},
}
"""The codes of the criteria that there are for each kind of response, by name."""
UNORDERED = {
    kind: [name for name in codes if name != "ordinal"] for kind, codes in CRITERIA_OF.items()
}
"""Those that need no ordered classes; the first is the default."""


def criterion_of(
    value: words.Criterion, kind: str, families: Collection[Family], ordinal: bool
) -> str:
    """Return the criterion of a call for this kind of response, resolved.

    The `families` of projections have defaults for classes; `ordinal`: three or more ordered
    classes.  Raises `InputError` if the criterion is unknown, or not for such responses.
    """
    checked_choice("criterion", value, get_args(words.Criterion))
    if ordinal and value in (AUTO, "ordinal"):
        return "ordinal"
    choices = UNORDERED[kind]
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
        if value in CRITERIA_OF[SURVIVAL]:
            raise InputError(
                f"criterion={value!r} is for survival times, with a formula such as "
                f'"Surv(time, event) ~ .", and not for a {kind}: use {suited}'
            )
        of = "survival times" if kind == SURVIVAL else f"a {kind}"
        raise InputError(f"criterion={value!r} is not for {of}: use {suited}")
    return value


# The option `cause`: the cause of events that splits are about, if there are several.


def checked_cause(value: Any, causes: Sequence[str]) -> str:
    """Return the name of a cause; raise `InputError` if there is no such cause."""
    # categories of the response may be numbers; their names are text
    name = str(value) if isinstance(value, int | np.integer) else value
    if not isinstance(name, str) or name not in causes:
        known = ", ".join(repr(cause) for cause in causes)
        raise InputError(
            f"cause={value!r} is not known: use one of {known}, of which the training rows have "
            f"events{nearest(str(name), causes)}"
        )
    return name


def cause_of_splits(
    value: Any, criterion: str, causes: Sequence[str], truncated: bool
) -> str | None:
    """Return the cause that splits are about; None if they are about all.

    `causes` are those of the response, none if it is no survival time; `truncated`: rows enter
    late.  Raises `InputError` if there is no such cause, or the criterion needs one, or rows that
    enter from the beginning.
    """
    if value is not None and tuple(causes) in ((), ONE_CAUSE):
        raise InputError(
            f"cause={value!r} is for survival times of several causes, and this response has none "
            "to choose from: leave it out"
        )
    if criterion == GRAY:
        _require_gray(value, causes, truncated)
    # the only cause of which there are events is all of them
    cause = None if value is None else checked_cause(value, causes)
    return cause if len(causes) > 1 else None


def _require_gray(value: Any, causes: Sequence[str], truncated: bool) -> None:
    if len(causes) < 2:
        raise InputError(
            'criterion="gray" is for events of several causes, and this response has one: use '
            'criterion="log_rank", which is the same then'
        )
    if value is None:
        names = ", ".join(repr(cause) for cause in causes)
        raise InputError(
            f'criterion="gray" is about the incidence of one cause: name it by cause=, one of '
            f"{names}"
        )
    if truncated:
        raise InputError(
            'criterion="gray" has no weights for rows that enter late, and the response has '
            f'starts: use criterion="log_rank" with cause={value!r}'
        )


# The option `split_scale`: names of the scales on which splits are chosen, and its checks.

RESPONSE: words.SplitScale = "response"
SPLIT_SCALES: dict[words.SplitScale, int] = {
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
NO_NUMBERS = {"classification": "has classes", "survival": "is a survival time"}
"""Kinds of responses without a scale."""


def require_split_scale(split_scale: words.SplitScale, kind: str, blended: bool) -> None:
    """Raise `InputError` if the response has no other scale, or none can be chosen.

    `kind` is that of the response, and `blended` whether the fit is a blend.
    """
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
