"""The classifiers and regressors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from odrf.api.boosting import odbt
from odrf.api.forests import odrf
from odrf.api.guided import graf
from odrf.api.stack import auto
from odrf.api.trees import odt
from odrf.errors import InputError
from odrf.public import documented
from odrf.results.boosted import ODBTResults
from odrf.results.forest import ODRFResults
from odrf.results.guided import GRAFResults
from odrf.results.stack import AutoResults
from odrf.results.tree import ODTResults
from odrf.sklearn.estimator import (
    OF_CLASSES,
    BoostedEstimator,
    FunctionEstimator,
    Growing,
    StackedEstimator,
    Updating,
)
from odrf.sklearn.inputs import class_column, number_column, of_one_type

# The classifiers.

Same = TypeVar("Same", bound="UpdatingClassifier")


class FunctionClassifier(ClassifierMixin, FunctionEstimator):  # type: ignore[misc]
    """Base class of the classifiers."""

    _kind: ClassVar[str] = "classification"
    _own_attributes: ClassVar[str] = OF_CLASSES

    def _response(self, y: Any, n: int, fitting: bool) -> Any:
        labels = class_column(self, y, n)
        if isinstance(labels, pd.Series):
            if fitting:
                self.classes_ = np.unique(np.asarray(labels))
            return labels
        if not fitting:
            return labels
        self.classes_, codes = np.unique(labels, return_inverse=True)
        return pd.Series(pd.Categorical.from_codes(codes, pd.Index(self.classes_)))

    # Predictions
    def predict(self, X: Any) -> NDArray:
        """Return the class of each row.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        (n,) array of labels
            The most probable class, the first of ties; of ordered classes the median.
        """
        return self._labels(self._asked(X, type="class"))

    def _labels(self, labels: Any) -> NDArray:
        """Return labels (n,) of the results as they were given to `fit`."""
        return self.classes_[pd.Index(self.classes_).get_indexer(pd.Index(labels))]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        (n, K) float64
            The columns are those of `classes_`.
        """
        return self._shares(pd.DataFrame(self._asked(X, type="prob")))

    def _shares(self, shares: pd.DataFrame) -> NDArray[np.float64]:
        """Return a column (n,) for each of `classes_`: 0 for those that no row of weight had."""
        return shares.reindex(columns=self.classes_, fill_value=0.0).to_numpy(dtype=np.float64)

    # Scores
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is predicted.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
        """
        labels = np.asarray(y)
        labels = of_one_type(labels) if labels.ndim == 1 else labels
        return float(super().score(X, labels, sample_weight))

    # Predictions
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`; -inf for a probability of 0.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        (n, K) float64
            The columns are those of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class UpdatingClassifier(FunctionClassifier, Updating):
    """Base class of the classifiers with ``partial_fit``."""

    # Fit
    @documented
    def partial_fit(  # type: ignore[override]  # classes come third, as in scikit-learn
        self: Same, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Same:
        """Add rows to the fit, from which its trees continue to grow; the first call is `fit`.

        All rows are kept, so that the result is that of ``results_.update()``: the trees take new
        rows into account nearly as if they had been there from the start.  Options are those of the
        first call; of what is set later, only `n_jobs` and `progress` count.

        Parameters
        ----------
        {X, y, sample_weight}
            The first rows must have all classes.
        classes : array-like of shape (K,), optional
            The classes of all rows to come, which the first rows must have.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the first rows lack one of `classes`; if a later row has a class that they lack; if a
            column or a weight is invalid.
        """
        if classes is not None:
            known = getattr(self, "classes_", None)
            absent = np.setdiff1d(classes, np.unique(y) if known is None else known).tolist()
            if absent:
                raise InputError(
                    f"classes= names {absent[0]!r}, which no row of the first partial_fit() has: "
                    "begin with rows of all classes"
                )
        return super().partial_fit(X, y, sample_weight)


class ODTClassifier(UpdatingClassifier, function=odt):
    """An oblique decision tree as a classifier of scikit-learn; the tree of `odrf.odt`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODTClassifier
    >>> data = odrf.load_data("penguins")
    >>> tree = ODTClassifier(max_leaves=6, random_state=1)
    >>> tree = tree.fit(data.drop(columns="species"), data["species"])
    >>> tree.classes_.tolist()
    ['Adelie', 'Chinstrap', 'Gentoo']
    >>> print(tree.results_.call)
    odt('species ~ .', data, max_leaves=6, kind='classification', seed=1)
    """

    results_: ODTResults


class ODRFClassifier(UpdatingClassifier, Growing, function=odrf):
    """A forest of oblique decision trees as a classifier of scikit-learn; that of `odrf.odrf`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODRFClassifier
    >>> data = odrf.load_data("breast_cancer")
    >>> X, y = data.drop(columns="diagnosis"), data["diagnosis"]
    >>> forest = ODRFClassifier(n_trees=20, random_state=1).fit(X[:400], y[:400])
    >>> bool(forest.score(X[400:], y[400:]) > 0.9)
    True
    >>> forest.results_.nobs
    400
    """

    results_: ODRFResults


class GRAFClassifier(FunctionClassifier, Growing, function=graf):
    """A guided random forest as a classifier of scikit-learn; that of `odrf.graf`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import GRAFClassifier
    >>> data = odrf.load_data("wine")
    >>> X, y = data.drop(columns="cultivar"), data["cultivar"]
    >>> forest = GRAFClassifier(n_trees=20, random_state=1).fit(X[::2], y[::2])
    >>> bool(forest.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    results_: GRAFResults


class ODBTClassifier(FunctionClassifier, BoostedEstimator, function=odbt):
    """Boosted oblique trees as a classifier of scikit-learn; those of `odrf.odbt`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODBTClassifier
    >>> data = odrf.load_data("breast_cancer")
    >>> X, y = data.drop(columns="diagnosis"), data["diagnosis"]
    >>> fit = ODBTClassifier(n_trees=20, random_state=1).fit(X[:400], y[:400])
    >>> bool(fit.score(X[400:], y[400:]) > 0.9)
    True
    """

    results_: ODBTResults

    # Predictions
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of each row: the sums of the trees.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        (n,) or (n, K) float64
            Of two classes the log odds of the second one; of more a column for each of `classes_`,
            whose differences are log odds.  Of ordered classes they are the logarithms of
            `predict_proba`.
        """
        check_is_fitted(self)
        if len(self.classes_) > 2 and self.results_.control.loss != "multinomial":
            return self.predict_log_proba(X)
        link = self._asked(X, type="link")
        if isinstance(link, pd.DataFrame):
            return link.reindex(columns=self.classes_, fill_value=-np.inf).to_numpy(np.float64)
        classes = self.results_.classes
        turned = classes is not None and classes[-1] != self.classes_[-1]
        return (-link if turned else link).to_numpy(dtype=np.float64)

    def staged_predict(self, X: Any) -> Iterator[NDArray]:
        """Yield the class of each row after each round, as if it were the last.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Yields
        ------
        (n,) array of labels
        """
        for value in self._staged(X):
            yield self._labels(self.results_._of_means(value))

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probability of each class after each round, as if it were the last.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Yields
        ------
        (n, K) float64
            The columns are those of `classes_`.
        """
        for value in self._staged(X):
            shares = pd.DataFrame(value, columns=self.results_.classes)
            yield self._shares(shares)


class AutoClassifier(FunctionClassifier, StackedEstimator, function=auto):
    """A stack of several models as a classifier of scikit-learn; that of `odrf.auto`.

    It is for the best prediction.  For leaves, paths, and more trees or rows, see its forest:
    ``results_.part("forest").to_sklearn()``.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import AutoClassifier
    >>> data = odrf.load_data("wine")
    >>> X, y = data.drop(columns="cultivar"), data["cultivar"]
    >>> stack = AutoClassifier(n_trees=20, random_state=1).fit(X[::2], y[::2])
    >>> bool(stack.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    results_: AutoResults


# The regressors.


class FunctionRegressor(RegressorMixin, FunctionEstimator):  # type: ignore[misc]
    """Base class of the regressors."""

    _kind: ClassVar[str] = "regression"
    _left_out: ClassVar[tuple[str, ...]] = ("class_weights",)

    def _response(self, y: Any, n: int, fitting: bool) -> Any:
        return number_column(self, y, n)

    # Predictions
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


class ODTRegressor(FunctionRegressor, Updating, function=odt):
    """An oblique decision tree as a regressor of scikit-learn; the tree of `odrf.odt`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODTRegressor
    >>> data = odrf.load_data("diabetes")
    >>> tree = ODTRegressor(max_leaves=6, random_state=1)
    >>> tree = tree.fit(data.drop(columns="progression"), data["progression"])
    >>> tree.results_.n_leaves
    6
    """

    results_: ODTResults


class ODRFRegressor(FunctionRegressor, Updating, Growing, function=odrf):
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

    results_: ODRFResults

    # Predictions
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


class GRAFRegressor(FunctionRegressor, Growing, function=graf):
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

    results_: GRAFResults


class ODBTRegressor(FunctionRegressor, BoostedEstimator, function=odbt):
    """Boosted oblique trees as a regressor of scikit-learn; those of `odrf.odbt`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODBTRegressor
    >>> data = odrf.load_data("diabetes")
    >>> X, y = data.drop(columns="progression"), data["progression"]
    >>> fit = ODBTRegressor(random_state=1).fit(X[:300], y[:300], eval_set=(X[300:400], y[300:400]))
    >>> bool(fit.score(X[400:], y[400:]) > 0.3)
    True
    >>> bool(fit.results_.n_rounds < 100)
    True
    """

    results_: ODBTResults

    # Predictions
    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the predicted response of each row after each round, as if it were the last.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Yields
        ------
        (n,) float64
        """
        for value in self._staged(X):
            yield value[:, 0]


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

    results_: AutoResults
