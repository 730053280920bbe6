"""The environment in which the functions of a formula are looked up.

`odrf.odrf` uses the environment of its caller.  A function of this package that fits models, maybe
in another thread, sets the environment of its own caller here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from patsy import EvalEnvironment

__all__ = ["environment", "looked_up_in"]

_current: ContextVar[EvalEnvironment | None] = ContextVar("environment of formulas", default=None)


def environment(depth: int) -> EvalEnvironment:
    """Return the environment set by `looked_up_in`, or that of the frame `depth` levels up.

    A function that is decorated by `odrf.public.public` is called two levels below the user's code.
    """
    current = _current.get()
    return EvalEnvironment.capture(depth + 1) if current is None else current


@contextmanager
def looked_up_in(env: EvalEnvironment) -> Iterator[None]:
    """Within this context, look up the functions of formulas in `env`."""
    token = _current.set(env)
    try:
        yield
    finally:
        _current.reset(token)
