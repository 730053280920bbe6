"""Estimators that go on from an earlier fit: by more trees, or by more rows."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.api.calling import grown_by
from odrf.checks import AUTO, MOST, checked_choice, checked_whole
from odrf.errors import InputError
from odrf.public.arguments import BACKENDS
from odrf.sklearn.sharing import threads_for
from odrf.sklearn.tree_estimator import TreeEstimator

__all__ = ["Growing", "Updating"]

Same = TypeVar("Same", bound="Updating")

# Options that may change between fits with warm_start=True.
FREE = ("n_trees", "n_jobs", "backend", "progress")


class Growing(TreeEstimator):
    """Base class of estimators whose fit can have more trees: with ``warm_start=True``."""

    _extra: ClassVar[dict[str, Any]] = {"warm_start": False}
    _last_fit: Any

    def _grown(
        self, response: str, table: pd.DataFrame, weights: NDArray[np.float64] | None
    ) -> Any:
        if not self.warm_start:
            self._last_fit = None
            return super()._grown(response, table, weights)
        options = {key: value for key, value in self._options().items() if key not in FREE}
        options["random_state"] = self.random_state
        rows = joblib.hash((response, table, weights))
        last = getattr(self, "_last_fit", None)
        if last is None or not hasattr(self, "results_"):
            grown = super()._grown(response, table, weights)
        elif last[:2] == (options, rows):
            grown = self._with_more(last[2])
        else:
            raise InputError(
                "warm_start=True adds trees to those of the fit before, which was to other rows "
                "or with other options: set warm_start=False for a new fit"
            )
        # only now: after an error, or Ctrl-C, the fit before is still the last one
        self._last_fit = (options, rows, self.n_trees)
        return grown

    def _with_more(self, before: int) -> Any:
        """Return the results with as many trees as `n_trees` has more than `before`."""
        more = checked_whole("n_trees", self.n_trees, 1, MOST) - before
        if more < 0:
            raise InputError(
                f"n_trees={self.n_trees}: with warm_start=True it cannot be below the {before} "
                "trees of the fit before; set warm_start=False for a new fit"
            )
        if not more:
            return self.results_
        backend = checked_choice("backend", getattr(self, "backend", AUTO), BACKENDS)
        n_jobs = threads_for(self.n_jobs)
        with grown_by(backend, n_jobs):
            return self.results_.grow(more, n_jobs=n_jobs, progress=self.progress)


class Updating(TreeEstimator):
    """Base class of estimators whose fit can have more rows: by ``partial_fit``."""

    def partial_fit(self: Same, X: Any, y: Any, sample_weight: Any = None) -> Same:
        """Add rows to the fit, from which its trees continue to grow; the first call is `fit`.

        All rows are kept, so that the result is that of ``results_.update()``: the trees take new
        rows into account nearly as if they had been there from the start.  Options are those of the
        first call; of what is set later, only `n_jobs` and `progress` count.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a column or a weight is invalid.  The message names it and says what to use.
        """
        if not hasattr(self, "results_"):
            return self.fit(X, y, sample_weight)
        self._last_fit: Any = None  # with warm_start=True the next fit() begins anew
        table, _, weights = self._training_table(X, y, sample_weight, fitting=False)
        each = np.ones(len(table)) if weights is None else weights
        self.results_ = self.results_.update(
            table, weights=each, n_jobs=threads_for(self.n_jobs), progress=self.progress
        )
        return self
