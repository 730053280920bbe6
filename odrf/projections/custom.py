"""A family of the user's own: a function that proposes one direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import njit, objmode
from numba.core.dispatcher import Dispatcher

from odrf.engine.compiling import ZERO, allocating
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.samplers import draws
from odrf.engine.randomness import streams
from odrf.engine.rows.rows import load_column
from odrf.engine.settings import Settings
from odrf.errors import InputError
from odrf.projections.estimated.on_subsets import few_directions
from odrf.projections.family import Family, Table

__all__ = ["Custom", "CustomSampler"]

PROBE = 12


class CustomSampler(NamedTuple):
    """Directions by a user's function.

    Attributes
    ----------
    number : int
    function : compiled function
    columns : (p, n) float64
    X : (n, p) float64
    y, weights : (n,) float64
        What a node's rows are copied to.
    """

    number: int
    function: Any
    columns: np.ndarray
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Custom(Family):
    """Directions that a function of the user's proposes.

    ``projection=function`` means this family.

    Parameters
    ----------
    function : callable
        ``function(X, y, weights, rng)`` returns ``(index, coef)``: distinct numbers of columns,
        from 0, int64, and their coefficients, float64, of any length but 0.  X (m, p) float64 are
        the node's rows, in random order, the columns of the design scaled to [0, 1]; y (m,) the
        response, or class codes 0 … K - 1; weights (m,) case weights times multiplicity.  `rng`
        is the random stream of the tree: draw from it by ``odrf.projections.uniform(rng)`` and
        ``odrf.projections.below(rng, n)``, so that a seed repeats the forest.  Compiled by
        ``numba.njit`` it is about as fast as a family of the package, but compiled anew in every
        process; a plain function of Python holds the interpreter, tens of times slower.

    Raises
    ------
    InputError
        If `function` cannot be called, or, when a forest is grown, does not return this.

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
                f"function={self.function!r} cannot be called: give one of (X, y, weights, rng)"
            )

    def n_default(self, table: Table) -> int:
        """Return max(5, ⌈√P⌉), as where directions are estimated."""
        return few_directions(table.P)

    def require(self, table: Table) -> None:
        """Try the function on a few rows."""
        super().require(table)
        rng = np.random.default_rng(0)
        X, y = rng.random((PROBE, table.p)), np.arange(PROBE) % table.n_classes * 1.0
        if table.n_classes == 1:
            y = X.sum(axis=1)
        name = getattr(self.function, "__name__", "function")
        try:
            index, coef = self.function(X, y, np.ones(PROBE), streams(0, 0, 1)[0])
        except Exception as error:  # whatever a function of the user's may raise
            raise InputError(
                f"projection={name} fails on {PROBE} rows: {type(error).__name__}: {error}"
            ) from error
        index, coef = np.asarray(index), np.asarray(coef)
        whole = index.ndim == 1 and np.issubdtype(index.dtype, np.integer)
        if not whole or coef.shape != index.shape or len(set(index.tolist())) < len(index):
            raise InputError(
                f"projection={name} returns {index!r}, {coef!r}: return distinct whole numbers of "
                "columns and as many coefficients"
            )
        if len(index) and not 0 <= index.min() <= index.max() < table.p:
            raise InputError(
                f"projection={name} names the columns {index!r}: they are numbered 0 to "
                f"{table.p - 1}"
            )

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> CustomSampler:
        """Return the sampler of a tree."""
        p = int(feature_groups.first[-1])
        return CustomSampler(
            number,
            compiled(self.function),
            np.empty((p, n)),
            np.empty((n, p)),
            np.empty(n),
            np.empty(n),
        )

    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return p."""
        return int(feature_groups.first[-1])

    def looked_at(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return p."""
        return float(feature_groups.first[-1])


@cache
def compiled(function: Callable[..., Any]) -> Dispatcher:
    """Return the function as kernels can call it: itself, or a call of the interpreter."""
    if isinstance(function, Dispatcher):
        return function

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
            load_column(rows, lo, m, j, False, sampler.columns, j)
        for i in range(m):
            sampler.y[i], sampler.weights[i] = rows.y[lo + i], rows.weights[lo + i]
            for j in range(p):
                sampler.X[i, j] = sampler.columns[j, i]
    for _ in range(first, last):
        size = _ask(sampler.function, sampler.X, sampler.y, sampler.weights, m, state, proposals, c)
        proposals.sizes[c] = size
        c += size > 0
    return c, last


@allocating
def _ask(function, X, y, weights, m, state, proposals, c):
    """Write the function's direction, scaled to length 1, as the c-th; return its size."""
    index, coef = function(X[:m], y[:m], weights[:m], state)
    length, size = 0.0, min(len(index), len(coef))
    for j in range(size):
        length += coef[j] ** 2
    if not 0.0 < length < np.inf:
        return 0
    used = 0
    for j in range(size):
        if 0 <= index[j] < X.shape[1] and used < proposals.columns.shape[1]:
            proposals.columns[c, used] = index[j]
            proposals.theta[c, used] = coef[j] / math.sqrt(length)
            used += 1
    return used
