"""What all fits have in common as results, however their trees were grown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design
from odrf.engine.trees.forest_arrays import Forest
from odrf.errors import InputError, allowed
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.predicting import as_response, mean_values, predict_rows, rows_of
from odrf.fits.prediction.prior_correction import priors_of_rows, require_priors
from odrf.fits.saving import save
from odrf.reports.consistency import ConsistencyReport
from odrf.reports.importance_tables import impurity_table
from odrf.text.summary import Summary

__all__ = ["FittedResults", "Priors"]

Priors = Mapping[Any, float] | pd.Series | None
IMPORTANCES = ("impurity", "permutation")


class FittedResults(ABC):
    """A fit: the part that all share.

    Parameters
    ----------
    fit : AnyFit
        Everything else is computed from it, when asked for.
    """

    fit: AnyFit

    @property
    def call(self) -> str:
        """The call that made the fit."""
        return self.fit.call

    @property
    def design(self) -> Design:
        """The remembered design: formula, predictors, columns, response."""
        return self.fit.design

    @property
    def seed(self) -> int:
        """What repeats the fit."""
        return self.fit.control.seed

    @property
    def forest(self) -> Forest:
        """The grown trees as flat arrays."""
        return self.fit.forest

    @property
    def formula(self) -> str:
        """The formula as written."""
        return self.fit.design.formula

    @property
    def kind(self) -> str:
        """``"regression"`` or ``"classification"``."""
        return self.fit.design.response.kind

    @property
    def classes(self) -> pd.Index | None:
        """The classes, in the order of the columns of probabilities; None for a regression."""
        return self.fit.design.response.classes

    @property
    def nobs(self) -> int:
        """Number of rows the fit was made from, rows dropped for missing values not counted."""
        return len(self.fit.data.index)

    @cached_property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree (B,)."""
        return self.fit.forest.leaves()

    @cached_property
    def fittedvalues(self) -> pd.Series:
        """Predictions for the training rows: numbers, or classes."""
        return as_response(self.fit, self._fitted, self.fit.data.index)

    @cached_property
    def resid(self) -> pd.Series:
        """Residuals of the training rows.

        For a regression, response minus fitted value.  For classes, 1 minus the predicted
        probability of the row's own class: 0 where that class is certain.
        """
        data = self.fit.data
        if self.kind == "regression":
            resid = data.y - self._fitted[:, 0]
        else:
            resid = 1.0 - self._fitted[np.arange(self.nobs), data.y.astype(np.int64)]
        return pd.Series(resid, index=data.index, name="resid")

    @cached_property
    def _fitted(self) -> NDArray[np.float64]:
        """Mean response or class shares (n, K) predicted for the training rows."""
        return mean_values(self.fit, self.fit.data.X)

    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "response",
        *,
        priors: Priors = None,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows to predict.  It needs the columns that the formula uses, the response aside;
            others are ignored.  By default the training rows.
        type : str, default "response"
            - ``"response"``: the mean response (regression), or the class.
            - ``"class"``: the most probable class, the first of them if tied.  Where trees grew by
              the impurity of ordered classes (``criterion="ordinal"``) it is the median, the first
              class up to which at least half of the probability lies: that is the class whose rank
              is off by least on average, while the most probable one may be far from most others.
            - ``"prob"``: a column of probabilities for each class.
            - ``"cumulative"``: of ordered classes, a column for each but the last with the
              probability of this class or one below it.
            - ``"leaf"``: the number of the leaf that the row reaches, as in `nodes`; for a
              forest a column for each tree.
            - ``"trees"``: a column with the prediction of each tree.
        priors : mapping of class to number, or Series, optional
            The shares of all classes in the population that the rows come from, positive numbers
            that add up to 1, if they are not those of the training rows, by weight: probabilities
            are corrected by Bayes' rule, p'_k ∝ p_k·π'_k/π_k (Saerens, Latinne and Decaestecker
            2002, equation (2.4)), and classes follow from these.  For ``"response"``, ``"class"``,
            ``"prob"`` and ``"cumulative"`` of classes; see `estimate_priors`.

        Returns
        -------
        Series or DataFrame
            On the index of `newdata`.  With ``missing="drop"``, rows with missing predictors
            are missing in the prediction too.

        Raises
        ------
        InputError
            If `type` is none of these, or needs classes where there are none; if `newdata`
            lacks a column, or holds values that the fit knows nothing of; if `priors` are not one
            positive number for each class, or do not add up to 1.
        """
        return predict_rows(self.fit, rows_of(self.fit, newdata), type, priors)

    def estimate_priors(
        self, newdata: pd.DataFrame, *, max_steps: int = 1000, tolerance: float = 1e-8
    ) -> pd.Series:
        """Estimate the shares of the classes in the population of unlabelled rows.

        Classes may come more or less often there than in the training rows, if only within each
        the predictors are distributed alike.  The shares of the largest likelihood are found by
        EM (Saerens, Latinne and Decaestecker 2002, equation (2.9)), from the fit's probabilities
        as they are: forests and boosted trees do better than single trees, whose probabilities
        of training rows are too sure; of very few rows the shares are rough.

        Parameters
        ----------
        newdata : DataFrame
            The rows, as in `predict`; those with missing predictors are left out.
        max_steps : int, default 1000
            Steps of EM at most.
        tolerance : float, default 1e-8
            It ends when no share moves by more.

        Returns
        -------
        Series
            One share for each class, as ``predict(priors=)`` takes it.

        Raises
        ------
        InputError
            For a regression; if there are no rows, or an option is out of range.

        Warns
        -----
        UserWarning
            If the shares still move after `max_steps`.

        References
        ----------
        M. Saerens, P. Latinne and C. Decaestecker (2002). Adjusting the outputs of a classifier to
        new a priori probabilities: a simple procedure. Neural Computation 14, 21-41.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("breast_cancer")
        >>> fit = odrf.odrf("diagnosis ~ .", data[::2], n_trees=50, seed=1)
        >>> new = data[1::2].query("diagnosis == 'malignant' or mean_radius < 11")
        >>> priors = fit.estimate_priors(new)
        >>> bool(abs(priors["malignant"] - (new["diagnosis"] == "malignant").mean()) < 0.05)
        True
        """
        require_priors(self.design.response, "estimate_priors()")
        shares = self.predict(newdata, type="prob").dropna().to_numpy()
        return priors_of_rows(self.fit, shares, max_steps, tolerance)

    def importance(self, type: str = "impurity") -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        Parameters
        ----------
        type : {"impurity"}, default "impurity"
            The impurity that splits on the predictor removed, each split weighted by its share
            of the rows, averaged over the trees; of boosted trees, added up.  A split on several
            columns is shared among them in proportion to the size of their coefficients for
            predictors scaled to [0, 1].

        Returns
        -------
        DataFrame
            Index: predictors as in the formula, a factor being one.  Columns ``importance``, and
            ``share`` of the total.

        Raises
        ------
        InputError
            If `type` is unknown, or needs rows out of bag.
        """
        if type == "permutation":
            raise InputError(
                'type="permutation" needs rows that trees have not drawn, which only forests of '
                'odrf() have: use type="impurity"'
            )
        if type != "impurity":
            raise allowed("type", type, IMPORTANCES)
        return impurity_table(self.fit)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fit to a file, which `odrf.load` reads.

        Parameters
        ----------
        path : str or path
            Overwritten if it exists.

        Raises
        ------
        InputError
            If the formula uses a function that cannot be pickled.
        """
        save(self, path)

    @abstractmethod
    def consistency(self) -> ConsistencyReport:
        """Ask which theorem covers this fit."""

    @abstractmethod
    def summary(self) -> Summary:
        """Return a summary as an object with text, HTML and LaTeX output."""
