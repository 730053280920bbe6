"""The lines of a tree's nodes: what a node predicts for a row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.factors import Matrix, indicated


@dataclass(frozen=True)
class LeafLines:
    """The line of each of m nodes, on scaled predictors, for a response of numbers.

    A node predicts ``intercept[i]`` + Σ coef·x[column] over ``start[i]:start[i + 1]``, but at least
    ``low[i]`` and at most ``high[i]``: a little more than the range of its training responses.

    Attributes
    ----------
    start : (m + 1,) int64
    column : (z,) int32
    coef : (z,) float64
    intercept, low, high : (m,) float64
    n_parameters : (m,) int32
        How many numbers were estimated for the line of the node alone, with its intercept.
    """

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n_parameters: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in vars(self).values())

    def of_nodes(self, nodes: NDArray[np.integer]) -> LeafLines:
        """Return the lines of these nodes (k,) alone, in their order."""
        sizes = np.diff(self.start)[nodes]
        start = np.append(0, np.cumsum(sizes))
        terms = np.repeat(self.start[nodes] - start[:-1], sizes) + np.arange(start[-1])
        of_each = ("intercept", "low", "high", "n_parameters")
        return replace(
            self, start=start, column=self.column[terms], coef=self.coef[terms],
            **{name: getattr(self, name)[nodes] for name in of_each},
        )  # fmt: skip

    def line(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the columns and coefficients of the line of a node."""
        terms = slice(self.start[node], self.start[node + 1])
        return self.column[terms], self.coef[terms]

    def values(
        self, nodes: NDArray[np.integer], X: Matrix, rows: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Return what `nodes` (k,) predict for these rows (k,) of X (p, n)."""
        out = np.empty(len(nodes))
        _write_values(
            indicated(X), rows.astype(np.int64), nodes.astype(np.int64), self.start, self.column,
            self.coef, self.intercept, self.low, self.high, out,
        )  # fmt: skip
        return out


@kernel
def _write_values(X, rows, nodes, start, column, coef, intercept, low, high, out):
    """Write to out (k,) what nodes (k,) predict for rows (k,) of X (p, n)."""
    for i in range(len(nodes)):
        node = nodes[i]
        value = intercept[node]
        for t in range(start[node], start[node + 1]):
            value += coef[t] * X[column[t], rows[i]]
        out[i] = min(max(value, low[node]), high[node])
