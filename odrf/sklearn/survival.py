"""The estimators for survival times, which fit into scikit-survival's tools, too."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from odrf.api.boosting import odbt
from odrf.api.forests import odrf
from odrf.api.trees import odt
from odrf.design.formula import quoted
from odrf.design.functions import EVENT, START, TIME
from odrf.design.survival_times import read_causes, read_times
from odrf.errors import InputError
from odrf.public import documented
from odrf.results.survival.boosted import SurvivalBoostedResults
from odrf.results.survival.forest import SurvivalForestResults
from odrf.results.survival.tree import SurvivalTreeResults
from odrf.sklearn.estimator import (
    OF_TIMES,
    BoostedEstimator,
    FunctionEstimator,
    Growing,
    TreeEstimator,
)
from odrf.sklearn.inputs import step_functions, times_and_events, weights_of, with_columns
from odrf.statistics.survival.discrimination import harrells_c

Same = TypeVar("Same", bound="FunctionSurvival")
Boosted = TypeVar("Boosted", bound="ODBTSurvival")


class FunctionSurvival(FunctionEstimator):
    """Base class of the estimators for survival times."""

    _kind: ClassVar[str] = "survival"
    _own_attributes: ClassVar[str] = OF_TIMES
    _left_out: ClassVar[tuple[str, ...]] = ("class_weights", "objective")

    # Fit
    @documented
    def fit(self: Same, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Same:
        """Fit to the rows of X and y.

        Parameters
        ----------
        {X, times_and_events, sample_weight, groups_of_rows}

        Returns
        -------
        self

        Raises
        ------
        InputError
            If an option or a column is invalid.  The message names it and says what to use.
        """
        return super().fit(X, y, sample_weight, groups=groups)

    # Predictions
    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the risk of each row: the larger, the earlier the event is expected.

        With several causes it is the risk of an event of any cause, as are the curves.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        (n,) float64
        """
        return self._asked(X).to_numpy(dtype=np.float64)

    def predict_survival_function(self, X: Any, return_array: bool = False) -> NDArray[Any]:
        """Return the probability that the event comes later, for each row and time.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)
        return_array : bool, default False

        Returns
        -------
        (n,) array of functions, or (n, R) float64
            Functions of time with the attributes ``x``, ``y`` and ``domain``, as scikit-survival's
            step functions have them; or their values at `unique_times_`.  The latter are exact also
            if curves do not step, such as those of failure times; for other times see
            ``results_.predict(X, type="survival", times=...)``.
        """
        return self._curves(X, "survival", 1.0, return_array)

    def predict_cumulative_hazard_function(
        self, X: Any, return_array: bool = False
    ) -> NDArray[Any]:
        """Return the cumulative hazard of the event, for each row and time.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)
        return_array : bool, default False

        Returns
        -------
        (n,) array of functions, or (n, R) float64
            As by `predict_survival_function`.
        """
        return self._curves(X, "hazard", 0.0, return_array)

    # Scores
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Harrell's C: how often, of two rows, the one with the earlier event scores higher.

        Events of all causes count alike.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)
        y : structured array (n,) or data frame
            As in `fit`.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
            1 for the right order of all pairs, 1/2 for a random one.

        Raises
        ------
        InputError
            If no two rows can be compared.
        """
        risk = self.predict(X)
        response = self.results_.design.response
        columns = times_and_events(self, y, len(risk)).columns
        times = read_times(response.name, columns, read_causes(response.name, columns))
        weights = weights_of(sample_weight, columns)
        concordance = harrells_c(times.time, times.event, risk, weights, times.start)
        if not concordance.compared:
            raise InputError("y has no two rows of which one is known to have the event first")
        return concordance.estimate

    # Fit
    @property
    def unique_times_(self) -> NDArray[np.float64]:
        """The different times (R,) of events, ascending."""
        check_is_fitted(self)
        return self.results_.event_times

    def _curves(self, X: Any, type: str, before: float, return_array: bool) -> NDArray[Any]:
        values = self._asked(X, type=type).to_numpy(dtype=np.float64)
        return values if return_array else step_functions(self.unique_times_, values, before)

    def _with_response(
        self, frame: pd.DataFrame, y: Any, fitting: bool
    ) -> tuple[pd.DataFrame, str]:
        """Return the frame with times and events, and the left side of the formula."""
        observed = times_and_events(self, y, len(frame))
        names = observed.named_apart(frame.columns)
        table = with_columns(
            frame, {name: observed.columns[column].array for column, name in names.items()}
        )
        in_order = [names[column] for column in (START, TIME, EVENT) if column in names]
        return table, f"Surv({', '.join(map(quoted, in_order))})"

    def _fixed(self) -> dict[str, Any]:
        return {}


class ODTSurvival(FunctionSurvival, TreeEstimator, function=odt):
    """An oblique decision tree for survival times; that of `odrf.odt`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODTSurvival
    >>> data = odrf.simulate.proportional_hazards().sample(400, seed=1)
    >>> X, y = data.drop(columns=["time", "event"]), data[["event", "time"]]
    >>> tree = ODTSurvival(max_leaves=6, random_state=1).fit(X, y)
    >>> tree.results_.n_leaves
    6
    """

    results_: SurvivalTreeResults


class ODRFSurvival(FunctionSurvival, Growing, function=odrf):
    """A forest of oblique decision trees for survival times; that of `odrf.odrf`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODRFSurvival
    >>> data = odrf.simulate.proportional_hazards().sample(400, seed=1)
    >>> X, y = data.drop(columns=["time", "event"]), data[["event", "time"]]
    >>> forest = ODRFSurvival(n_trees=50, random_state=1).fit(X[:200], y[:200])
    >>> bool(forest.score(X[200:], y[200:]) > 0.6)
    True
    >>> curve = forest.predict_survival_function(X[200:])[0]
    >>> bool(curve(0.1) > curve(1.0))
    True
    """

    results_: SurvivalForestResults


class ODBTSurvival(FunctionSurvival, BoostedEstimator, function=odbt):
    """Boosted oblique trees for survival times; those of `odrf.odbt`.

    Examples
    --------
    >>> import odrf
    >>> from odrf.sklearn import ODBTSurvival
    >>> data = odrf.simulate.proportional_hazards().sample(400, seed=1)
    >>> X, y = data.drop(columns=["time", "event"]), data[["event", "time"]]
    >>> fit = ODBTSurvival(n_trees=20, random_state=1).fit(X[:200], y[:200])
    >>> bool(fit.score(X[200:], y[200:]) > 0.6)
    True
    """

    results_: SurvivalBoostedResults

    # Fit
    @documented
    def fit(
        self: Boosted,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        groups: Any = None,
    ) -> Boosted:
        """Fit to the rows of X and y.

        Parameters
        ----------
        {X, times_and_events, sample_weight}
        eval_set : pair of arrays, optional
            The pair (X, y) of further rows, or a list with one such pair: validation rows, on which
            boosting stops early, and by which curves are calibrated.
        {groups_of_rows}

        Returns
        -------
        self

        Raises
        ------
        InputError
            If an option or a column is invalid.  The message names it and says what to use.
        """
        return BoostedEstimator.fit(self, X, y, sample_weight, eval_set=eval_set, groups=groups)

    def _columns_of(self, y: Any, n: int) -> list[Any]:
        columns = times_and_events(self, y, n).columns
        return [columns[each].array for each in (START, TIME, EVENT) if each in columns]
