"""What tests of benchmarks have in common: no time is lost for the sake of times."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True)
def no_search_for_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what comes before each timing: among all that other tests left it takes seconds."""
    monkeypatch.setattr(gc, "collect", lambda: 0)
