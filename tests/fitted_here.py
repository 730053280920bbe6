"""Fits of benchmarks in the process of the tests: to start another one takes seconds."""

from __future__ import annotations

import sys

from benchmarks.methods.fitter import Answer, Request
from benchmarks.methods.worker import answer

__all__ = ["Here"]


class Here:
    """Fits in this process, with the methods of `Fitter`, which `test_accuracy.py` tests."""

    def __init__(self, python: str, threads: int) -> None:
        assert (python, threads) == (sys.executable, 1)

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""

    def fit(self, request: Request, limit: float) -> Answer:
        """Carry out a request; an error ends the test."""
        return answer(request)
