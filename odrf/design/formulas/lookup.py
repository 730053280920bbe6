"""Where the functions in a formula are looked up when a fit is made on somebody's behalf.

`odrf.odrf` looks in the frame of its caller.  Functions of this package that fit models for their
own caller, maybe in another thread, say so here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from patsy import EvalEnvironment

__all__ = ["environment", "looked_up_in"]

_current: ContextVar[EvalEnvironment | None] = ContextVar("environment of formulas", default=None)


def environment(depth: int) -> EvalEnvironment:
    """Return the environment that was set, or that of the frame `depth` above the caller."""
    current = _current.get()
    return EvalEnvironment.capture(depth + 1) if current is None else current


@contextmanager
def looked_up_in(env: EvalEnvironment) -> Iterator[None]:
    """Let fits that are made inside look up the functions of their formulas in `env`."""
    token = _current.set(env)
    try:
        yield
    finally:
        _current.reset(token)
