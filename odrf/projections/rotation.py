"""A random rotation of the columns for each tree: random rotation forests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, summing
from odrf.engine.directions.estimation import normalise
from odrf.engine.kernel_params import Settings
from odrf.engine.memory import require_memory
from odrf.engine.numeric import uniform
from odrf.engine.rows import Rows
from odrf.projections.axis import Axis
from odrf.projections.family import Table
from odrf.projections.rotated import Rotated

__all__ = ["Rotation", "draw_rotation"]


@dataclass(frozen=True)
class Rotation(Rotated):
    """A random forest on randomly rotated columns (RR-RF).

    For every tree an orthogonal matrix is drawn from the uniform (Haar) distribution (Blaser and
    Fryzlewicz 2016); reflections are included, which make no difference to a tree.  All columns,
    scaled to [0, 1], are rotated, the indicators of factors too.  Every split uses all columns: so
    accuracy suffers if only a few of many columns are relevant.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> forest = odrf.odrf("cultivar ~ .", data, projection="rotation", n_trees=50, seed=1)
    >>> forest.oob_error < 0.08
    True
    """

    name: ClassVar[str] = "rotation"
    sampling_in_words: ClassVar[str] = "columns of one uniformly random rotation per tree"
    source: ClassVar[str] = "Blaser and Fryzlewicz (2016)"

    def n_default(self, table: Table) -> int:
        """Return p for a single tree; in forests ⌈√p⌉ for classes, ⌈p/3⌉ for a regression."""
        return Axis().n_default(table._replace(P=table.p))

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: Settings
    ) -> NDArray[np.float32]:
        """Return a uniformly random orthogonal matrix (p, p)."""
        p = len(rows.X)
        require_memory(12.0 * p * p, f"a rotation of {p} columns", "use another projection=")
        matrix = np.empty((p, p))
        draw_rotation(state, matrix)
        return matrix.astype(np.float32)

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return whether there is one column: rotated columns are sums of all."""
        return p == 1


@summing
def _inner(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@kernel
def draw_rotation(state, matrix):
    """Write an orthogonal matrix (p, p) to `matrix`, uniform with respect to Haar measure.

    Rows of independent normal variables are made orthonormal by the Gram-Schmidt process.  This is
    a QR decomposition whose R has a positive diagonal, so the matrix is uniform (Mezzadri 2007).
    """
    p = len(matrix)
    for j in range(p):
        row = matrix[j]
        for i in range(p):
            radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
            row[i] = radius * math.cos(2.0 * math.pi * uniform(state))
        for k in range(j):
            share = _inner(row, matrix[k])
            for i in range(p):
                row[i] -= share * matrix[k, i]
        normalise(row, p)
