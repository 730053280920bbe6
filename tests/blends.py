"""Blends, and stacks with them, that are grown in little time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

__all__ = ["with_few_pilots", "with_quick_stacks"]


@contextmanager
def with_few_pilots() -> Iterator[None]:
    """Grow blends of few rows with few pilot trees, where no test looks at the shares they find.

    By default there are a thousand, which take longer than all that is tested.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("odrf.fits.blending.MOST_PILOT", 8)
        yield


@contextmanager
def with_quick_stacks() -> Iterator[None]:
    """Grow stacks of few rows with few pilot trees and rounds, of which most of their time is."""
    with with_few_pilots(), pytest.MonkeyPatch.context() as patched:
        patched.setattr("odrf.api.stack.MOST_ROUNDS", 10)
        yield
