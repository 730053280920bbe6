"""Levels that no training row has: nothing is known of them, and it is said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.columns.listing import listed, rows_listed
from odrf.errors import nearest
from odrf.warn import warn_user

__all__ = ["say_unseen", "unseen_levels_expected"]

_expected: ContextVar[bool] = ContextVar("unseen levels are expected", default=False)


@contextmanager
def unseen_levels_expected() -> Iterator[None]:
    """Within this context, say nothing: the training rows are a part of a table, such as a fold."""
    token = _expected.set(True)
    try:
        yield
    finally:
        _expected.reset(token)


def say_unseen(name: str, values: pd.Series, unseen: NDArray[np.bool_], known: pd.Index) -> None:
    """Warn of the `values` (n,) of a factor where `unseen` (n,): they are not among the `known`."""
    if _expected.get() or not unseen.any():
        return
    new = pd.Index(values[unseen].unique(), dtype=object)
    hint = nearest(new[0], known) if len(new) == 1 else ""
    warn_user(
        f"{name!r} has levels that no training row has: {listed(new)} in "
        f"{rows_listed(unseen, values.index)}; known are {listed(known, 10)}. They are taken "
        "to have none of the known levels: recode these rows if a level is "
        f"misspelt{hint}"
    )
