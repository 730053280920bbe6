"""Functions that a formula may use without importing them: bases, ``Surv(time, event)``."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import patsy.builtins
from numpy.typing import ArrayLike, NDArray
from patsy import EvalEnvironment, stateful_transform
from patsy.splines import BS

from odrf.engine.running import one_thread
from odrf.errors import InputError, UnknownArgumentError
from odrf.public.frames import in_native_order


class HeldBSpline(BS):  # type: ignore[misc]
    """patsy's ``bs``, held constant beyond the boundary knots, where patsy raises an error."""

    def transform(self, x: ArrayLike, *args: Any, **options: Any) -> NDArray[np.float64]:
        """Return the basis (n, df) at `x` (n,)."""
        knots = self._all_knots
        return super().transform(np.clip(np.asarray(x), knots[0], knots[-1]), *args, **options)


class OrthogonalPolynomial:
    """R's ``poly(x, degree)``, orthonormal over the training rows, as a three-term recurrence."""

    def __init__(self) -> None:
        self._rows: list[NDArray[np.float64]] = []
        self._degree = 1
        self._centres: list[float] = []
        self._squares: list[float] = []

    def memorize_chunk(self, x: ArrayLike, degree: int = 1) -> None:
        """Take training rows `x` (n,)."""
        self._degree = degree
        self._rows.append(_real(x))

    @one_thread()
    def memorize_finish(self) -> None:
        """Compute the recurrence from all training rows."""
        x = np.concatenate(self._rows)
        self._rows = []
        if not 1 <= self._degree < len(np.unique(x)):
            raise ValueError("degree must be at least 1 and below the number of distinct values")
        for _ in range(self._degree):
            last = self._polynomials(x)[-1]
            self._squares.append(float(last @ last))
            self._centres.append(float(x @ last**2) / self._squares[-1])
        last = self._polynomials(x)[-1]
        self._squares.append(float(last @ last))

    def transform(self, x: ArrayLike, degree: int = 1) -> NDArray[np.float64]:
        """Return the polynomials of degree 1 to `degree` at `x` (n,), as (n, degree)."""
        polynomials = self._polynomials(_real(x))
        return np.column_stack(polynomials[1:]) / np.sqrt(self._squares[1:])

    def _polynomials(self, x: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the monic orthogonal polynomials computed so far, from degree 0."""
        polynomials = [np.ones_like(x)]
        for k, centre in enumerate(self._centres):
            new = (x - centre) * polynomials[k]
            if k > 0:
                new -= self._squares[k] / self._squares[k - 1] * polynomials[k - 1]
            polynomials.append(new)
        return polynomials


def _real(x: ArrayLike) -> NDArray[np.float64]:
    if np.iscomplexobj(x):
        raise TypeError("poly() needs real numbers")
    return np.asarray(x, dtype=np.float64)


bs = stateful_transform(HeldBSpline)
poly = stateful_transform(OrthogonalPolynomial)


START, TIME, EVENT = "start", "time", "event"
# The types of R's Surv() that are known, by the number of columns.
TYPES = {1: "right", 2: "right", 3: "counting"}


@dataclass(frozen=True, eq=False)
class Censored:
    """Times and events as `Surv` was given them, one of each for every row; `start` may be None."""

    time: Any
    event: Any
    start: Any = None

    def columns(self) -> pd.DataFrame:
        """Return a frame (n, 2 or 3) with the columns "time", "event" and, if given, "start"."""
        columns = {TIME: self.time, EVENT: self.event}
        if self.start is not None:
            columns[START] = self.start
        return pd.DataFrame({name: _plain(values) for name, values in columns.items()})


def Surv(*times: Any, **named: Any) -> Censored:  # noqa: N802 - as statisticians know it
    """Make a response of survival times, some of which are censored.

    It stands on the left side of a formula: ``Surv(time, event) ~ .``, or with left truncation
    ``Surv(start, stop, event) ~ .``, as in R's package survival.  ``Surv(time) ~ .`` is for times
    that all end with the event.  Formulas know it without import, and no other object of this name.

    Parameters
    ----------
    *times : columns of n values each
        `time`; or `time` and `event`; or `start`, `stop` and `event`.

        `time` : numbers, at least 0, or durations.  The end of the observation of each row, in any
        unit.  Durations, such as differences of dates, are read as days, with parts of a day.

        `start`, `stop` : numbers or durations, start < stop.  A row is observed from after `start`
        to `stop`.

        `event` : bool, 0 and 1, or categorical.  Whether the event happened at the end: False and 0
        mean that the row was censored.  Of a categorical the first category means censored, and
        each of the others is a cause (competing risks); causes without events are left out.
    **named
        `type`, as in R: "right" is that of `time` and `event`, "counting" that of `start`, `stop`
        and `event`.  All others are refused.

    Returns
    -------
    Censored

    Raises
    ------
    InputError
        There are not one to three columns, or they are of another type of censoring.

    Examples
    --------
    >>> import pandas as pd
    >>> import odrf
    >>> odrf.Surv(pd.Series([5.0, 8.0]), pd.Series([True, False])).columns()
       time  event
    0   5.0   True
    1   8.0  False
    """
    for name in named:
        if name != "type":
            raise UnknownArgumentError(f"Surv() takes no argument by name, such as {name!r}")
    if "type" in named and named["type"] != TYPES.get(len(times)):
        raise InputError(
            f"type={named['type']!r} of Surv() is not known for {len(times)} columns: observations "
            "end at the event or before it, as Surv(time, event), and may begin late, as "
            "Surv(start, stop, event); several causes are the categories of event"
        )
    times = tuple(map(in_native_order, times))
    if len(times) == 1:
        return Censored(*times, np.ones(np.shape(times[0])[:1], dtype=np.bool_))
    if len(times) == 2:
        return Censored(*times)
    if len(times) == 3:
        start, stop, event = times
        return Censored(stop, event, start)
    raise UnknownArgumentError(
        f"Surv() takes (time), (time, event) or (start, stop, event), not {len(times)} columns"
    )


def _plain(values: Any) -> Any:
    """Return values without an index, so that columns of different indexes are put together."""
    return values.reset_index(drop=True) if isinstance(values, pd.Series) else values


_ELEMENTWISE = (
    *(np.exp, np.expm1, np.log, np.log10, np.log1p, np.log2, np.sqrt),
    *(np.cos, np.sin, np.tan, np.ceil, np.floor),
)

FUNCTIONS: dict[str, Any] = {
    "np": np,
    "bs": bs,
    "poly": poly,
    "factor": patsy.builtins.C,
    "Surv": Surv,
    **{function.__name__: function for function in _ELEMENTWISE},
}
"""Beside these, patsy's are known: C, I, Q, center, scale, standardize, cr, cc, te."""

ELSEWHERE: dict[str, str] = {
    "strata": "name the column in the argument strata=",
    **dict.fromkeys(("cluster", "frailty"), "name the column in the argument groups="),
    "offset": "name the column in the argument offset= of odbt()",
    **dict.fromkeys(("s", "ti", "pspline"), "trees need no smooth terms: write the column alone"),
    **dict.fromkeys(("ns", "rcs"), "write cr(…), a natural cubic spline"),
    **dict.fromkeys(("Hist", "Event"), "write Surv(…)"),
    **dict.fromkeys(("cbind", "mvbind"), "fit one model for each response"),
}
"""What to write in place of functions that formulas of R have: survival, mgcv, rms, prodlim."""


def users_names(names: set[str], env: EvalEnvironment) -> dict[str, Any]:
    """Return the values of those `names` that are defined in the user's environment.

    They come before `FUNCTIONS`, except for functions of ``math``, which do not accept columns,
    patsy's ``bs``, which does not accept data outside its knots, and ``Surv``, a name in other
    packages.
    """
    defined = {name: env.namespace[name] for name in names if name in env.namespace}
    return {
        name: value
        for name, value in defined.items()
        if name != "Surv" and not (name in FUNCTIONS and _narrower(name, value))
    }


def _narrower(name: str, value: object) -> bool:
    return any(value is getattr(module, name, None) for module in (math, patsy.builtins))


def as_meant_in_r(code: str) -> str | None:
    """Return how to write an expression that fails here and means something in R; else None."""
    tree = ast.parse(code, mode="eval").body
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if any(
        ast.unparse(call.func) in ("log", "np.log") and len(call.args) + len(call.keywords) > 1
        for call in calls
    ):
        return "log() takes no base: write log2(x), log10(x) or log(x)/log(2)"
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return (
            "'|' is a logical or, of columns of True and False: to add a predictor write '+'; to "
            "name the column of subjects use groups="
        )
    return None


# `odrf.odrf` uses the environment of its caller.  A function of this package that fits models,
# maybe in another thread, sets the environment of its own caller here.

_current: ContextVar[EvalEnvironment | None] = ContextVar("environment of formulas", default=None)


def environment(depth: int) -> EvalEnvironment:
    """Return the environment set by `looked_up_in`, or that of the frame `depth` levels up.

    A function that is decorated once, as public ones are, is called two levels below the
    code of the user.
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
