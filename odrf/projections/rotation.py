"""A random rotation for each tree: random rotation forests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, summing
from odrf.engine.directions.estimation import normalise
from odrf.engine.randomness import uniform
from odrf.engine.rows.rows import Rows
from odrf.engine.settings import Settings
from odrf.projections.axis import Axis
from odrf.projections.family import Table
from odrf.projections.rotated import Rotated

__all__ = ["Rotation", "draw_rotation"]


@dataclass(frozen=True)
class Rotation(Rotated):
    """The ordinary random forest on columns that a random rotation has turned (RR-RF).

    Every tree has its own orthogonal matrix, uniformly distributed (Blaser and Fryzlewicz 2016).
    Whether it reflects makes no difference to a tree.  Columns count as they are, scaled to
    [0, 1], those of a factor each.  All columns take part in every split, so that a few relevant
    ones are lost among many.

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
        """Return all of a single tree; in forests ⌈√p⌉ for classes, ⌈p/3⌉ for a regression."""
        return Axis().n_default(table._replace(P=table.p))

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: Settings
    ) -> NDArray[np.float32]:
        """Return a uniformly random orthogonal matrix (p, p)."""
        p = len(rows.X)
        matrix = np.empty((p, p))
        draw_rotation(state, matrix)
        return matrix.astype(np.float32)


@summing
def _inner(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@kernel
def draw_rotation(state, matrix):
    """Write an orthogonal matrix (p, p) to `matrix`, drawn by Haar's measure.

    Its rows are independent normal vectors made orthogonal one after the other (Gram and
    Schmidt), which is a QR decomposition whose R has a positive diagonal: so the sampler is uniform
    (Mezzadri 2007).
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
