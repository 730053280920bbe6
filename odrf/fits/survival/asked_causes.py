"""The causes of events that a prediction is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.options.cause_names import checked_cause

__all__ = ["asked_causes"]


def asked_causes(cause: Any, causes: Sequence[str]) -> NDArray[np.int64]:
    """Return the numbers, from 0, of the cause that is asked for; of all `causes` if it is None.

    Raises
    ------
    InputError
        There is no such cause.
    """
    if cause is None:
        return np.arange(len(causes))
    return np.array([causes.index(checked_cause(cause, causes))])
