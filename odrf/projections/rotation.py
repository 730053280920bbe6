"""Families that rotate all columns of a tree: random rotations, and rotation forests."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_whole
from odrf.engine.compiling import kernel, summing
from odrf.engine.directions.candidates import FEW_LEVELS, FeatureGroups
from odrf.engine.directions.estimation import normalise
from odrf.engine.directions.factors import class_shares_for
from odrf.engine.kernel_params import KernelParams
from odrf.engine.memory import require_memory
from odrf.engine.numeric import shuffle_front, uniform
from odrf.engine.resamples import BOOTSTRAP, Sampling, draw_counts
from odrf.engine.rows import Rows
from odrf.engine.running import one_thread
from odrf.projections.axis import Axis, AxisSampler
from odrf.projections.base import Family, Table, share


@dataclass(frozen=True)
class Rotated(Family):
    """Single columns, after all columns are rotated by a matrix drawn for each tree.

    The rotation is the only difference from `odrf.projections.Axis`.  The indicators of a factor
    are rotated like other columns.
    """

    mixes: ClassVar[bool] = False

    def n_distinct(self, table: Table) -> int:
        """Return p, the number of columns."""
        return table.p

    @abstractmethod
    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: KernelParams
    ) -> NDArray[np.float32]:
        """Return the orthogonal matrix (p, p) that rotates the columns of one tree."""

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> AxisSampler:
        """Return the sampler of a tree, of at most p rotated columns."""
        p = int(feature_groups.first[-1])
        return AxisSampler(
            min(number, p), np.empty(p, dtype=np.int64), settings.direction_rows, FEW_LEVELS,
            class_shares_for(feature_groups, settings),
        )  # fmt: skip

    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return 1."""
        return 1

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return 1."""
        return 1.0


# Principal components of small groups of columns for each tree: rotation forests.


@dataclass(frozen=True)
class PrincipalComponents(Rotated):
    """All principal components of random groups of M columns (rotation forest).

    For every tree the columns are divided at random into groups of M, and each group is replaced by
    its principal components, all of which are kept (Rodríguez, Kuncheva and Alonso 2006).  The
    components are computed on a bootstrap sample of part of the tree's rows and, for a
    classification, of a random nonempty subset of the classes.  This makes the trees differ.  Every
    node then tries all components.  In the paper trees are grown on all rows of the table, as with
    ``resample="none"``, which has no out-of-bag results.

    Parameters
    ----------
    size : int, default 3
        M, the number of columns of a group, as in the paper.  The last group has the remaining
        columns.  With 1 nothing is rotated.
    rows : float, default 0.75
        Number of rows drawn for a group, as a share of the rows available, as in the paper.

    Raises
    ------
    InputError
        If `size` is not a whole number of at least 1, or `rows` is not above 0 and at most 1.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> pairs = odrf.projections.PrincipalComponents(size=2)
    >>> forest = odrf.odrf("cultivar ~ .", data, projection=pairs, n_trees=50, seed=1)
    >>> forest.oob_error < 0.08
    True
    """

    size: int = 3
    rows: float = 0.75

    name: ClassVar[str] = "pca"
    sampling_in_words: ClassVar[str] = (
        "principal components of random groups of M columns, per tree"
    )
    source: ClassVar[str] = "Rodríguez, Kuncheva and Alonso (2006)"

    def __post_init__(self) -> None:
        checked_whole("size", self.size, 1)
        share("rows", self.rows)

    def n_default(self, table: Table) -> int:
        """Return p, the number of columns: all of them are tried."""
        return table.p

    @one_thread()
    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: KernelParams
    ) -> NDArray[np.float32]:
        """Return the matrix (p, p) whose columns are the components, each nonzero in its group."""
        p = len(rows.X)
        require_memory(4.0 * p * p, f"a rotation of {p} columns", "use another projection=")
        order = np.arange(p)
        shuffle_front(state, order, p)
        matrix = np.zeros((p, p), dtype=np.float32)
        for first in range(0, p, self.size):
            group = order[first : first + self.size]
            matrix[np.ix_(group, group)] = self._components(state, rows, settings.n_classes, group)
        return matrix

    def _components(
        self, state: NDArray[np.uint64], rows: Rows, n_classes: int, group: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the principal components of a group, as the columns of a matrix."""
        weights = rows.weights
        if n_classes > 1:
            weights = weights * _some_classes(state, rows.y, n_classes)[rows.y.astype(np.int64)]
        counts = draw_counts(state, weights, Sampling(BOOTSTRAP, self.rows))
        drawn = np.flatnonzero(counts)
        Z = rows.X[np.ix_(group, drawn if rows.copied else rows.at[drawn])].astype(np.float64)
        weights = weights[drawn] * counts[drawn]
        Z -= np.average(Z, axis=1, weights=weights)[:, None]
        # not by BLAS, whose results depend on its number of threads
        scatter = np.einsum("ji,ki->jk", Z * weights, Z)
        return np.linalg.eigh(scatter).eigenvectors


def _some_classes(
    state: NDArray[np.uint64], y: NDArray[np.float64], n_classes: int
) -> NDArray[np.bool_]:
    """Draw a nonempty subset of the classes in y, all equally likely; return its mask (K,)."""
    present = np.unique(y).astype(np.int64)
    chosen = np.zeros(n_classes, dtype=np.bool_)
    while not chosen.any():
        chosen[present] = [uniform(state) < 0.5 for _ in present]
    return chosen


# A random rotation of the columns for each tree: random rotation forests.


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
        self, state: NDArray[np.uint64], rows: Rows, settings: KernelParams
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
