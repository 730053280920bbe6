"""What all estimators share: they call a function of the package, and predict by its result."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from odrf.design.formula import quoted
from odrf.errors import InputError
from odrf.sklearn.constructors import ASIDE, constructor_with, defaults_of, documented
from odrf.sklearn.inputs import predictors_of, response_name, weights_of, with_columns
from odrf.sklearn.sharing import threads_for, with_threads

__all__ = ["FunctionEstimator"]

Same = TypeVar("Same", bound="FunctionEstimator")

# Choices of `missing` with which rows with empty cells are fitted and predicted.
KEEPING = ("split", "surrogate", "median")


class FunctionEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of all estimators.

    A class with ``function=`` gets its constructor and the words on its parameters from there.
    """

    _kind: ClassVar[str]
    _own_attributes: ClassVar[str] = ""
    _function: ClassVar[Callable[..., Any]]
    _left_out: ClassVar[tuple[str, ...]] = ()
    _extra: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(
        cls, *, function: Callable[..., Any] | None = None, **kwargs: Any
    ) -> None:
        if function is not None:
            defaults = defaults_of(function, cls._left_out, cls._extra)
            cls._function = staticmethod(function)
            cls.__init__ = constructor_with(cls.__name__, defaults)  # type: ignore[method-assign]
            importances = (inspect.getdoc(cls.feature_importances_) or "").partition("\n")[0]
            cls.__doc__ = documented(
                cls.__doc__ or "", function, defaults, cls._own_attributes, importances
            )
        super().__init_subclass__(**kwargs)

    def fit(self: Same, X: Any, y: Any, sample_weight: Any = None) -> Same:
        """Fit to the rows of X and y.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)
            Predictors.  Columns of text and categories of a data frame are factors; empty cells
            (NaN, None, NA) are treated as `missing` says.
        y : array-like of shape (n,)
            Responses: numbers of a regression, labels of a classification.  The categories of an
            ordered categorical series are ordered classes.
        sample_weight : array-like of shape (n,), optional
            Case weights.  Rows of weight 0 are left out.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If an option or a column is invalid.  The message names it and says what to use.
        """
        table, response, weights = self._training_table(X, y, sample_weight)
        self.results_ = self._grown(response, table, weights)
        return self

    def _training_table(
        self, X: Any, y: Any, sample_weight: Any, fitting: bool = True
    ) -> tuple[pd.DataFrame, str, NDArray[np.float64] | None]:
        """Return predictors and response, the latter in a formula, and weights if not all are 1."""
        frame = predictors_of(self, X, fitting=fitting)
        table, response = self._with_response(frame, y, fitting)
        weights = weights_of(sample_weight, frame, some_positive=fitting)
        if weights is not None and (weights == 0).any() and (weights != 0).any():
            table, weights = table[weights != 0], weights[weights != 0]
        if fitting and self._kind == "classification" and table.iloc[:, -1].nunique() < 2:
            counted = "rows" if sample_weight is None else "rows of positive weight"
            raise InputError(
                f"y has one class in all {counted}: a classifier needs two classes or more"
            )
        return table, response, weights

    def _with_response(
        self, frame: pd.DataFrame, y: Any, fitting: bool
    ) -> tuple[pd.DataFrame, str]:
        """Return the frame with y as its last column, and the left side of the formula."""
        response = self._response(y, len(frame), fitting)
        name = response_name(y, frame.columns) if fitting else self.results_.design.response.name
        values = response.array if isinstance(response, pd.Series) else response
        return with_columns(frame, {name: values}), quoted(name)

    def _response(self, y: Any, n: int, fitting: bool) -> Any:
        raise NotImplementedError

    def _options(self) -> dict[str, Any]:
        """Return the options of the function, as they are set."""
        known = inspect.signature(self._function).parameters
        options = {name: value for name, value in self.get_params().items() if name in known}
        for name in ASIDE:
            if options.get(name) is not None and not isinstance(options[name], str):
                raise InputError(
                    f"{name}= must be the name of a column of X, which predict() needs as well"
                )
        return {**options, **self._fixed(), "n_jobs": threads_for(self.n_jobs)}

    def _fixed(self) -> dict[str, Any]:
        """Return the arguments of the function that the class decides."""
        return {"kind": self._kind}

    def _seed(self) -> Any:
        """Return `random_state` as a seed: a number drawn from it, if it is a RandomState."""
        state = self.random_state
        return state.randint(2**31) if isinstance(state, np.random.RandomState) else state

    def _grown(
        self, response: str, table: pd.DataFrame, weights: NDArray[np.float64] | None
    ) -> Any:
        return self._function(
            f"{response} ~ .", table, **self._options(), weights=weights, seed=self._seed()
        )

    def _asked(self, X: Any, **how: Any) -> pd.Series | pd.DataFrame:
        """Return what the result predicts of the rows of X."""
        check_is_fitted(self)
        frame = predictors_of(self, X, fitting=False)
        results = with_threads(self.results_, threads_for(self.n_jobs))
        found = results.predict(frame, **how)
        if self.missing == "drop" and bool(np.asarray(found.isna()).any()):
            raise InputError(
                'X has rows with empty cells, which missing="drop" does not predict: use '
                'missing="split", or leave these rows out'
            )
        return found

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each column of X, as shares of their sum."""
        raise NotImplementedError

    def _keeps_empty_cells(self) -> bool:
        return self.missing in KEEPING

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._keeps_empty_cells()
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn 1.5
        return {"allow_nan": self._keeps_empty_cells()}
