"""Columns that are mostly zero, such as the indicators of many levels, as they are saved."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["WithSparseColumns", "with_sparse_columns"]

# A nonzero number of a sparse column takes 8 bytes, a number of another column 4.
FEW_NONZEROS = 0.25


class WithSparseColumns(NamedTuple):
    """A matrix (p, n), in two parts.

    Attributes
    ----------
    dense : (q, n) float32
        The rows of the matrix that have many nonzero numbers.
    sparse : csr_array (p - q, n) of float32
        The others.
    is_sparse : (p,) bool
        Which these are.
    """

    dense: NDArray[np.float32]
    sparse: scipy.sparse.csr_array
    is_sparse: NDArray[np.bool_]

    def matrix(self) -> NDArray[np.float32]:
        """Return the matrix (p, n)."""
        X = np.empty((len(self.is_sparse), self.dense.shape[1]), dtype=np.float32)
        X[~self.is_sparse] = self.dense
        X[self.is_sparse] = self.sparse.toarray()
        return X


def with_sparse_columns(X: NDArray[np.float32]) -> WithSparseColumns:
    """Return the matrix X (p, n) in two parts."""
    few = np.array([np.count_nonzero(row) for row in X]) < FEW_NONZEROS * X.shape[1]
    return WithSparseColumns(X[~few], scipy.sparse.csr_array(X[few]), few)
