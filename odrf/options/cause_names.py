"""The option `cause`: the cause of events that splits are about, if there are several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from odrf.design.survival_times import ONE_CAUSE
from odrf.errors import InputError, nearest
from odrf.options.criterion_names import GRAY

__all__ = ["cause_of_splits", "checked_cause"]


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

    Parameters
    ----------
    value : str or None
        The argument `cause`.
    criterion : str
        As `odrf.options.criterion_names.criterion_of` gives it.
    causes : sequence of str
        Those of the response; empty if it is no time to an event.
    truncated : bool
        Whether rows enter late.

    Raises
    ------
    InputError
        There is no such cause, or the criterion needs one, or rows that enter from the beginning.
    """
    if value is not None and tuple(causes) in ((), ONE_CAUSE):
        raise InputError(
            f"cause={value!r} is for times to events of several causes, and this response has none "
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
