"""A forest on the predictors that matter, for tables with many that do not.

A tree that tries predictors at random, or splits on sums of them, is the less accurate the more of
them tell nothing.  How many matter is the effective number of their importances, of order 2 or 1:
the smaller one where a few stand out, the larger one where some matter much and others less.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.stacked.fold_importance import FoldImportance
from odrf.fits.stacked.weighing import LEAST_GAIN, gain_with
from odrf.options.blend import FEWEST_TREES
from odrf.options.request import Request
from odrf.statistics.importance import effective_number, largest

__all__ = ["FewPredictors", "ForestsOnFew"]

ORDERS = (2, 1)
FEWEST_PREDICTORS = 2
# With a larger share of predictors the forest would be much like that on all of them.
LARGEST_SHARE = 0.5
# Trees of the forest, and of each that is grown without a fold, as shares of those of the forest on
# all predictors.  The latter are of one kind: finding shares of kinds would take longer.
SHARE, SHARE_WITHOUT_FOLD = 1 / 2, 1 / 5


class FewPredictors(NamedTuple):
    """A forest on few predictors.

    Attributes
    ----------
    fit : Fit
    columns : (q,) int64
        The columns of the design that it uses.
    left_out : (n, K) float64
        The prediction of each row by a forest on predictors that were chosen, and trees that were
        grown, without the row's fold.
    """

    fit: Fit
    columns: NDArray[np.int64]
    left_out: NDArray[np.float64]


class ForestsOnFew(NamedTuple):
    """What forests on few predictors are grown from.

    Attributes
    ----------
    call : str
    design : Design
    data : TrainingData
    request : Request
        The options of the forest on all predictors.
    by_fold : FoldImportance
    progress : bool
        Show a progress bar for each forest.
    """

    call: str
    design: Design
    data: TrainingData
    request: Request
    by_fold: FoldImportance
    progress: bool

    def best(self, known: NDArray[np.float64]) -> FewPredictors | None:
        """Return the forest that is of use beside the one on all predictors; None if none is.

        The first fold decides.  A forest is of use if the loss of both together is smaller there
        than that of the one on all predictors, by more than two standard errors.

        Parameters
        ----------
        known : (n, K) float64
            Out-of-bag predictions of the forest on all predictors.
        """
        left_out, best = np.full(known.shape, np.nan), 0.0
        chosen = None
        for order in self._orders():
            tried = np.full(known.shape, np.nan)
            self._predict_fold(0, order, tried)
            gain, std_error = gain_with([known], tried, self.data)
            if gain > max(best, LEAST_GAIN * std_error):
                chosen, left_out, best = order, tried, gain
        if chosen is None:
            return None
        for f in range(1, len(self.by_fold.importance) - 1):
            self._predict_fold(f, chosen, left_out)
        everything = len(self.by_fold.importance) - 1
        fit, columns = self._without(everything, chosen, self.request, SHARE)
        return FewPredictors(fit, columns, left_out)

    def _orders(self) -> list[int]:
        """Return the orders of effective numbers that are few predictors, and not the same."""
        numbers = {order: len(self._chosen(-1, order)) for order in reversed(ORDERS)}
        most = LARGEST_SHARE * len(self.design.predictors)
        of_number = {number: order for order, number in numbers.items() if number <= most}
        return list(of_number.values()) if self.by_fold.importance[-1].any() else []

    def _chosen(self, f: int, order: int) -> NDArray[np.int64]:
        """Return the numbers of the predictors that matter, as found without fold f."""
        importance = self.by_fold.importance[f][self.design.first[:-1]]
        return largest(importance, max(FEWEST_PREDICTORS, effective_number(importance, order)))

    def _without(
        self, f: int, order: int, request: Request, share: float
    ) -> tuple[Fit, NDArray[np.int64]]:
        """Return a forest that is grown without fold f, and its columns."""
        which = self._chosen(f, order).tolist()
        part, columns = self.design.keeping(which), self.design.recipe.columns_of(which)
        rows = replace(self.data, X=self.data.X[columns]).keeping(self.by_fold.without(f))
        fewer = request.giving(n_trees=max(FEWEST_TREES, int(share * request.n_trees)))
        return grow_fit(self.call, part, rows, fewer, self.progress), columns

    def _predict_fold(self, f: int, order: int, into: NDArray[np.float64]) -> None:
        """Write predictions of fold f, by a forest that is grown without it, `into` (n, K)."""
        of_one_kind = self.request.giving(blend=False)
        fit, columns = self._without(f, order, of_one_kind, SHARE_WITHOUT_FOLD)
        held = ~self.by_fold.without(f)
        into[held] = expected_response(fit, self.data.keeping(held).X[columns])
