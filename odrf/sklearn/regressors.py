"""The regressors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from odrf.api.boosting import odbt
from odrf.api.forests import odrf
from odrf.api.guided import graf
from odrf.api.stack import auto
from odrf.api.trees import odt
from odrf.sklearn.continuing import Growing, Updating
from odrf.sklearn.estimator import FunctionEstimator
from odrf.sklearn.inputs import number_column
from odrf.sklearn.stacked_estimator import StackedEstimator
from odrf.sklearn.tree_estimator import TreeEstimator

__all__ = ["AutoRegressor", "GRAFRegressor", "ODBTRegressor", "ODRFRegressor", "ODTRegressor"]


class FunctionRegressor(RegressorMixin, FunctionEstimator):  # type: ignore[misc]
    """Base class of the regressors."""

    _kind: ClassVar[str] = "regression"
    _left_out: ClassVar[tuple[str, ...]] = ("class_weights",)

    def _response(self, y: Any, n: int, fitting: bool) -> Any:
        return number_column(self, y, n)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted response of each row.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        (n,) float64
            Means; of `odrf.odbt` with ``loss="absolute"`` medians.
        """
        return self._asked(X).to_numpy(dtype=np.float64)


class TreeRegressor(FunctionRegressor, TreeEstimator):
    """Base class of the regressors with trees of one kind."""


class ODTRegressor(TreeRegressor, Updating, function=odt):
    """An oblique decision tree as a regressor of scikit-learn; the tree of `odrf.odt`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODTRegressor
    >>> data = odrf.load_data("diabetes")
    >>> tree = ODTRegressor(max_leaves=6, random_state=1)
    >>> tree = tree.fit(data.drop(columns="progression"), data["progression"])
    >>> int(tree.results_.n_leaves[0])
    6
    """


class ODRFRegressor(TreeRegressor, Updating, Growing, function=odrf):
    """A forest of oblique decision trees as a regressor of scikit-learn; that of `odrf.odrf`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODRFRegressor
    >>> data = odrf.load_data("diabetes")
    >>> X, y = data.drop(columns="progression"), data["progression"]
    >>> forest = ODRFRegressor(n_trees=20, random_state=1).fit(X[:400], y[:400])
    >>> forest.predict_quantiles(X[400:], [0.1, 0.9]).shape
    (42, 2)
    """

    def predict_quantiles(
        self, X: Any, quantiles: float | Sequence[float] = (0.05, 0.5, 0.95)
    ) -> NDArray[np.float64]:
        """Return quantiles of the response of each row (Meinshausen 2006).

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)
        quantiles : float or sequence of float, default (0.05, 0.5, 0.95)
            Probabilities above 0 and below 1.

        Returns
        -------
        (n, q) float64
            A column for each quantile.
        """
        return self._asked(X, quantiles=quantiles).to_numpy(dtype=np.float64)


class GRAFRegressor(TreeRegressor, Growing, function=graf):
    """A guided random forest as a regressor of scikit-learn; that of `odrf.graf`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import GRAFRegressor
    >>> data = odrf.load_data("diabetes")
    >>> X, y = data.drop(columns="progression"), data["progression"]
    >>> forest = GRAFRegressor(n_trees=20, min_split=10, random_state=1).fit(X[:400], y[:400])
    >>> bool(forest.score(X[400:], y[400:]) > 0.3)
    True
    """


class ODBTRegressor(TreeRegressor, Growing, function=odbt):
    """Boosted oblique trees as a regressor of scikit-learn; those of `odrf.odbt`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODBTRegressor
    >>> data = odrf.load_data("diabetes")
    >>> X, y = data.drop(columns="progression"), data["progression"]
    >>> fit = ODBTRegressor(n_trees=20, random_state=1).fit(X[:400], y[:400])
    >>> bool(fit.score(X[400:], y[400:]) > 0.3)
    True
    """


class AutoRegressor(FunctionRegressor, StackedEstimator, function=auto):
    """A stack of several models as a regressor of scikit-learn; that of `odrf.auto`.

    It is for the best prediction.  For leaves, paths, and more trees or rows, see its forest:
    ``results_.part("forest").to_sklearn()``.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import AutoRegressor
    >>> data = odrf.load_data("diabetes")
    >>> X, y = data.drop(columns="progression"), data["progression"]
    >>> stack = AutoRegressor(n_trees=20, random_state=1).fit(X[:400], y[:400])
    >>> bool(stack.score(X[400:], y[400:]) > 0.3)
    True
    """
