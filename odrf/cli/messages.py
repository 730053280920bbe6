"""What commands write: messages to stderr, results to stdout."""

from __future__ import annotations

import sys

__all__ = ["report", "show"]


def report(message: str) -> None:
    """Write a message to stderr."""
    print(f"odrf: {message}", file=sys.stderr)


def show(text: object, end: str = "\n") -> None:
    """Write a result to stdout, at once: a reader that has left is noticed here."""
    print(text, end=end, flush=True)
