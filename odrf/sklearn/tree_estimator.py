"""What estimators have whose results are trees of one kind: leaves, paths, and their impurity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from odrf.sklearn.estimator import FunctionEstimator
from odrf.sklearn.inputs import feature_names
from odrf.sklearn.leaf_paths import passed_nodes

__all__ = ["TreeEstimator"]


class TreeEstimator(FunctionEstimator):
    """Base class of estimators with trees of one kind."""

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row reaches.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        (n,) or (n, B) int64
            The number of the leaf within its tree: for one tree, or for each of B trees.
        """
        return self._asked(X, type="leaf").to_numpy(dtype=np.int64)

    def decision_path(self, X: Any) -> csr_matrix | tuple[csr_matrix, NDArray[np.int64]]:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        csr_matrix of shape (n, m)
            1 for the nodes on the row's way, from the root to its leaf.  Of several trees a pair:
            this matrix for the nodes of all trees one after the other, and an array (B + 1,) that
            says where the nodes of each tree begin.
        """
        leaves = self.apply(X)
        forest = self.results_.forest
        path = passed_nodes(forest, leaves.reshape(len(leaves), -1))
        return path if leaves.ndim == 1 else (path, forest.root)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Impurity decrease of each column of X, as shares of their sum.

        The rows that chose the splits also judge them, so that columns with many values seem more
        important than they are.  ``results_.importance()`` has importances by other rows.
        """
        check_is_fitted(self)
        shares = self.results_.importance("impurity")["share"]
        return shares.reindex(feature_names(self), fill_value=0.0).to_numpy(dtype=np.float64)
