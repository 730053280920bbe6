"""Principal components of small groups of columns for each tree: rotation forests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_whole
from odrf.engine.randomness import shuffle_front, uniform
from odrf.engine.rows.rows import Rows
from odrf.engine.rows.sampling import BOOTSTRAP, Sampling, draw_counts
from odrf.engine.settings import Settings
from odrf.projections.family import Table
from odrf.projections.parameters import share
from odrf.projections.rotated import Rotated

__all__ = ["PrincipalComponents"]


@dataclass(frozen=True)
class PrincipalComponents(Rotated):
    """All principal components of random groups of M columns (rotation forest).

    For every tree the columns are parted at random into groups of M.  A group is turned to its
    principal components, all of which are kept, as they are on a bootstrap of part of the tree's
    rows, for classes on those of a random nonempty subset of classes: that is what makes the
    trees differ.  Every node then tries all turned columns (Rodríguez, Kuncheva and Alonso 2006).
    There trees see all rows of the table otherwise: ``resample="none"`` does so, without
    out-of-bag results.

    Parameters
    ----------
    size : int, default 3
        M, as in the paper.  The last group has what is left; with 1 nothing is turned.
    rows : float, default 0.75
        How many rows are drawn for a group, as a share of those that there are, as in the paper.

    Raises
    ------
    InputError
        If `size` is no whole number of at least 1, or `rows` is not above 0, or above 1.

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
        """Return p: all columns."""
        return table.p

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: Settings
    ) -> NDArray[np.float32]:
        """Return the components (p, p), those of a group in its columns."""
        p = len(rows.X)
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
        """Return the components of a group of columns, one in each column."""
        weights = rows.weights
        if n_classes > 1:
            weights = weights * _some_classes(state, rows.y, n_classes)[rows.y.astype(np.int64)]
        counts = draw_counts(state, weights, Sampling(BOOTSTRAP, self.rows))
        drawn = np.flatnonzero(counts)
        Z = rows.X[np.ix_(group, drawn if rows.copied else rows.at[drawn])].astype(np.float64)
        weights = weights[drawn] * counts[drawn]
        Z -= np.average(Z, axis=1, weights=weights)[:, None]
        # not by BLAS, whose sums depend on its number of threads
        scatter = np.einsum("ji,ki->jk", Z * weights, Z)
        return np.linalg.eigh(scatter).eigenvectors


def _some_classes(
    state: NDArray[np.uint64], y: NDArray[np.float64], n_classes: int
) -> NDArray[np.bool_]:
    """Draw which classes (K,) take part: every nonempty subset of those in y is as likely."""
    present = np.unique(y).astype(np.int64)
    chosen = np.zeros(n_classes, dtype=np.bool_)
    while not chosen.any():
        chosen[present] = [uniform(state) < 0.5 for _ in present]
    return chosen
