"""What a forest says of its training rows by the trees that did not draw them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.trees.out_of_bag_losses import OutOfBag
from odrf.errors import InputError
from odrf.fits.evaluating import stages_out_of_bag
from odrf.fits.out_of_bag_values import forest_out_of_bag, require_out_of_bag
from odrf.fits.prediction.predicting import as_prob
from odrf.fits.prediction.scores import confusion_table, error_name, r_squared
from odrf.pruning.growth_stages import LEAVES
from odrf.reports.growth_path import GrowthPath, growth_path
from odrf.results.base import TreeResults
from odrf.results.out_of_bag import OutOfBagResults

__all__ = ["ForestOutOfBag"]


class ForestOutOfBag(OutOfBagResults, TreeResults):
    """The part of a forest's results that its out-of-bag rows tell."""

    @cached_property
    def _out_of_bag(self) -> OutOfBag:
        return forest_out_of_bag(self.fit)

    @property
    def _oob_value(self) -> NDArray[np.float64]:
        return self._out_of_bag.value

    @property
    def oob_error(self) -> float:
        """Out-of-bag mean squared error, or misclassification rate."""
        return float(self._out_of_bag.error_path[-1])

    @property
    def oob_prob(self) -> pd.DataFrame:
        """Out-of-bag probabilities of the classes.

        Raises
        ------
        InputError
            For a regression.
        """
        if self.kind == "regression":
            raise InputError("oob_prob needs classes; for a regression see oob_prediction")
        return as_prob(self.fit, self._oob_value, self.fit.data.index)

    @property
    def r_squared(self) -> float:
        """Share of the variance that out-of-bag predictions explain.

        Raises
        ------
        InputError
            For classes.
        """
        return r_squared(self.fit, self.oob_error)

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Rows by observed (rows) and out-of-bag predicted (columns) class, and each's error.

        Rows count as often as they weigh.

        Raises
        ------
        InputError
            For a regression.
        """
        return confusion_table(self.fit, self._oob_value)

    @property
    def error_path(self) -> pd.Series:
        """Out-of-bag error of the first 1, 2, … trees together."""
        path = self._out_of_bag.error_path
        index = pd.RangeIndex(1, len(path) + 1, name="trees")
        return pd.Series(path, index=index, name=f"out-of-bag {error_name(self.kind)}")

    def growth_path(
        self,
        newdata: pd.DataFrame | None = None,
        along: str = LEAVES,
        *,
        n_jobs: int | None = None,
    ) -> GrowthPath:
        """Return training and test error of the forest with all trees stopped at each size.

        A pruned forest's path is that of the forest it was cut from.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows with responses to test on, each counted once.  By default the out-of-bag rows.
        along : {"leaves", "depth"}, default "leaves"
            Each tree as it was after τ = 1, 2, …, 30 leaves of its growth, then about four τ
            while they double; or without the splits below depth 0, 1, ….  ``max_leaves=τ``
            grows a forest (``blend=False``, the same seed) that stops there.
        n_jobs : int, optional
            Threads; by default all cores.  The result is the same for any number.

        Returns
        -------
        GrowthPath
            With ``table``, ``best``, ``chosen``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If an option is unknown, `newdata` cannot be judged on, or no row is out of bag.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ .", data, n_trees=20, seed=1)
        >>> path = forest.growth_path(along="depth")
        >>> bool(path.table["test"].iloc[-1] == forest.oob_error)
        True
        """
        if newdata is None:
            require_out_of_bag(self.fit, "Growth paths without newdata=")
        return growth_path(self.fit, along, newdata, n_jobs, stages_out_of_bag, "out-of-bag rows")

    @property
    def _scored(self) -> NDArray[np.float64]:
        return self._oob_value

    def _noise_residuals(self) -> NDArray[np.float64]:
        if self.kind == "classification" or self.control.resample == "none":
            return super()._noise_residuals()
        left = self.fit.data.y - self._oob_value[:, 0]
        return left[~np.isnan(left)]
