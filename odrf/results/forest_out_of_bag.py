"""Out-of-bag results of a forest."""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.oob import OutOfBag
from odrf.fits.pruning import stages_out_of_bag
from odrf.fits.responses import forest_out_of_bag, leaves_rows_out, require_out_of_bag, residuals
from odrf.fits.scores import error_name
from odrf.pruning.growth_stages import LEAVES
from odrf.reports.paths import GrowthPath, growth_path
from odrf.results.base import TreeResults
from odrf.results.out_of_bag import OutOfBagResults

__all__ = ["ForestOutOfBag"]


class ForestOutOfBag(OutOfBagResults, TreeResults):
    """The out-of-bag results of `ODRFResults`."""

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
    def error_path(self) -> pd.Series:
        """Out-of-bag error of the first 1, 2, … trees."""
        path = self._out_of_bag.error_path
        index = pd.RangeIndex(1, len(path) + 1, name="trees")
        return pd.Series(path, index=index, name=f"out-of-bag {error_name(self.kind)}")

    def growth_path(
        self,
        newdata: pd.DataFrame | None = None,
        along: str = LEAVES,
        *,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> GrowthPath:
        """Return training and test error of the forest with its trees stopped at each size.

        The path of a pruned forest is that of the forest before pruning.

        Parameters
        ----------
        newdata : DataFrame, optional
            Test rows with responses; each counts once.  By default the out-of-bag rows.
        along : {"leaves", "depth"}, default "leaves"
            ``"leaves"``: each tree as it was when it had τ leaves, for τ = 1, 2, …, 30 and then
            about four values for each doubling of τ.  Of a forest that is no blend, the same call
            with ``max_leaves=τ``, ``blend=False`` and the same seed grows such a forest.
            ``"depth"``: each tree without its splits below depth 0, 1, ….
        n_jobs : int, optional
            Threads; by default all cores.  The result is the same for any number.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        GrowthPath
            With ``table``, ``best_size()``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If an option is unknown, if `newdata` lacks the response, a column or complete rows, or
            if no row is out of bag.

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
        out_of_bag = partial(stages_out_of_bag, progress=progress)
        by = "out-of-bag rows"
        return growth_path(self.fit, along, newdata, n_jobs, out_of_bag, by, progress)

    @property
    def _scored(self) -> NDArray[np.float64]:
        return self._oob_value

    @property
    def _scored_error(self) -> float:
        return self.oob_error

    def _noise_residuals(self) -> NDArray[np.float64]:
        if self.kind == "classification" or not leaves_rows_out(self.fit):
            return super()._noise_residuals()
        resid = residuals(self.fit, self._oob_value)
        return resid[~np.isnan(resid)]
