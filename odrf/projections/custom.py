"""A family given by a function of the user, which proposes one direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import njit, objmode, types
from numba.core.dispatcher import Dispatcher

from odrf.engine.compiling import NO, ZERO, address_of, called_at
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.samplers import draws
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import streams
from odrf.engine.rows import load_column
from odrf.errors import InputError
from odrf.projections.base import AbsentFunction, Family, Table

# Rows on which the function is tried before a forest is grown.
PROBE = 12
# Of a function (X, y, weights, m, state, columns, theta) that returns a size.
ARGUMENTS = (
    *(types.float64[:, ::1], types.float64[::1], types.float64[::1], types.int64),
    *(types.uint64[::1], types.int64[::1], types.float32[::1]),
)
propose_at: Any = called_at(types.int64, *ARGUMENTS)


class CustomSampler(NamedTuple):
    """Directions proposed by a function of the user.

    `columns` (p, n), `X` (n, p).  `address`: of the function of `proposal`.  `y`, `weights` (n,):
    scratch for the rows of a node.
    """

    number: int
    address: Any
    columns: np.ndarray
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Custom(Family):
    """Directions proposed by a function of the user.

    ``projection=function`` is short for ``projection=Custom(function)``.

    Parameters
    ----------
    function : callable
        ``function(X, y, weights, rng)`` returns ``(index, coef)``: distinct column numbers, from 0,
        as int64, and as many coefficients as float64.  The coefficients are scaled to length 1;
        empty arrays, or coefficients that are all 0, propose no direction.  The arguments are
        X (m, p) float64, the node's rows in random order, columns of the design scaled to [0, 1],
        and those with empty cells so that their mean is 0; y (m,), the response or class codes
        0 … K - 1; weights (m,), case weights times multiplicity; and `rng`, the random stream of
        the tree.  Draw random numbers only by ``odrf.projections.uniform(rng)`` and
        ``odrf.projections.below(rng, n)``: then a seed repeats the forest.  A function compiled by
        ``numba.njit`` is about as fast as the families of the package (the page "Families of
        oblique splits" measures it); each process compiles it anew.  A plain Python function needs
        the interpreter lock, so that threads wait for each other, and is much slower.

    Raises
    ------
    InputError
        If `function` is not callable; or if it raises an error or returns something else when it
        is tried on 12 random rows before a fit.

    Notes
    -----
    What the function returns for the rows of a node is not checked: columns that there are not are
    left out.  An error that it raises there ends the fit.

    Examples
    --------
    >>> import odrf
    >>> from numba import njit
    >>> from odrf.projections import below
    >>> @njit
    ... def difference(X, y, weights, rng):
    ...     first = below(rng, X.shape[1])
    ...     second = (first + 1 + below(rng, X.shape[1] - 1)) % X.shape[1]
    ...     return np.array([first, second]), np.array([1.0, -1.0])
    >>> data = odrf.load_data("wine")
    >>> forest = odrf.odrf("cultivar ~ .", data, projection=difference, n_trees=30, seed=1)
    >>> forest.oob_error < 0.15
    True
    """

    function: Callable[..., Any]

    name: ClassVar[str] = "custom"
    sampling_in_words: ClassVar[str] = "what a function returns"
    source: ClassVar[str] = "the user"
    by_name: ClassVar[bool] = False
    narrows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                f"function={self.function!r} is not callable: use a function of "
                "(X, y, weights, rng)"
            )

    def require(self, table: Table) -> None:
        """Raise `InputError` unless the function works on a few rows.

        The rows are random, with as many columns and classes as the table.
        """
        super().require(table)
        rng = np.random.default_rng(0)
        X, y = rng.random((PROBE, table.p)), np.arange(PROBE) % table.n_classes * 1.0
        if table.n_classes == 1:
            y = X.sum(axis=1)
        name = getattr(self.function, "__name__", "function")
        try:
            index, coef = self.function(X, y, np.ones(PROBE), streams(0, 0, 1)[0])
        except Exception as error:  # the function may raise anything
            raise InputError(
                f"projection={name} raised {type(error).__name__}: {error}; it was called as "
                f"{name}(X, y, weights, rng) with {PROBE} rows and {table.p} columns"
            ) from error
        index, coef = np.asarray(index), np.asarray(coef)
        whole = index.ndim == 1 and np.issubdtype(index.dtype, np.integer)
        if not whole or coef.shape != index.shape or len(set(index.tolist())) < len(index):
            raise InputError(
                f"projection={name} returns {index!r}, {coef!r}: return (index, coef), distinct "
                "column numbers as integers and as many coefficients"
            )
        if len(index) and not 0 <= index.min() <= index.max() < table.p:
            raise InputError(
                f"projection={name} returns the column numbers {index!r}: use 0 to {table.p - 1}"
            )

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> CustomSampler:
        """Return the sampler of a tree."""
        p = int(feature_groups.first[-1])
        return CustomSampler(
            number, address_of(proposal(self.function), ARGUMENTS), np.empty((p, n)),
            np.empty((n, p)), np.empty(n), np.empty(n),
        )  # fmt: skip

    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return p, the number of columns."""
        return int(feature_groups.first[-1])

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return p, the number of columns."""
        return float(feature_groups.first[-1])


# Threads that ask at once get the same function: an address is good as long as its function exists.
_lock = Lock()


def proposal(function: Callable[..., Any]) -> Any:
    """Return the function that writes a direction proposed by `function`, and returns its size."""
    with _lock:
        return _proposal(function)


@cache
def _proposal(function: Callable[..., Any]) -> Any:
    propose = compiled(function)

    @njit(nogil=True, error_model="numpy")
    def write(X, y, weights, m, state, columns, theta):
        index, coef = propose(X[:m], y[:m], weights[:m], state)
        return _write_direction(index, coef, X.shape[1], columns, theta)

    return write


def compiled(function: Callable[..., Any]) -> Any:
    """Return the function as kernels can call it: itself if compiled, else a call from a kernel."""
    if isinstance(function, Dispatcher):
        return function
    if isinstance(function, AbsentFunction):
        function()

    def arrays(X, y, weights, rng):
        index, coef = function(X, y, weights, rng)
        return np.asarray(index, dtype=np.int64), np.asarray(coef, dtype=np.float64)

    @njit
    def call(X, y, weights, rng):
        with objmode(index="int64[:]", coef="float64[:]"):
            index, coef = arrays(X, y, weights, rng)
        return index, coef

    return call


@draws(CustomSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    c, last, p = ZERO, min(first + ROUND, sampler.number), sampler.columns.shape[0]
    if first == 0:
        for j in range(p):
            load_column(rows, lo, m, j, NO, sampler.columns, j)
        for i in range(m):
            sampler.y[i], sampler.weights[i] = rows.y[lo + i], rows.weights[lo + i]
            for j in range(p):
                sampler.X[i, j] = sampler.columns[j, i]
    for _ in range(first, last):
        arguments = (
            sampler.X, sampler.y, sampler.weights, m, state, proposals.columns[c],
            proposals.theta[c],
        )  # fmt: skip
        size = propose_at(sampler.address, arguments)
        proposals.sizes[c] = size
        c += size > 0
    return c, last


@njit(nogil=True, error_model="numpy")
def _write_direction(index, coef, p, columns, theta):
    """Write the direction, scaled to length 1; return its size."""
    length, size = 0.0, min(len(index), len(coef))
    for j in range(size):
        length += coef[j] ** 2
    if not 0.0 < length < np.inf:
        return 0
    used = 0
    for j in range(size):
        if 0 <= index[j] < p and used < len(columns):
            columns[used] = index[j]
            theta[used] = coef[j] / math.sqrt(length)
            used += 1
    return used
