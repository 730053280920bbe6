"""The numbers of the causes of events that an argument `cause` names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.options.criteria import checked_cause

__all__ = ["cause_numbers"]


def cause_numbers(cause: Any, causes: Sequence[str]) -> NDArray[np.int64]:
    """Return the number, from 0, of a cause as an array of one; those of all `causes` for None.

    Raises
    ------
    InputError
        There is no such cause.
    """
    if cause is None:
        return np.arange(len(causes))
    return np.array([causes.index(checked_cause(cause, causes))])
