"""Predicted curves of rows, and numbers of them: means over the trees, in or out of bag."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, with_rows
from odrf.engine.oob import OutOfBag, predict_out_of_bag
from odrf.engine.running import row_blocks
from odrf.engine.survival.curve_numbers import mortality, restricted_mean_at
from odrf.engine.survival.curves import mean_curves
from odrf.engine.trees.routing import EVERY_ROW, predict
from odrf.fits.survival.survival_fit import SurvivalFit

__all__ = ["PredictedRows"]

# Most numbers of the curves that are computed at a time.
AT_ONCE = 2**22
# A survival that rounding keeps above a bound has reached it.
ROUNDING = 1e-12


@dataclass(frozen=True)
class PredictedRows:
    """Rows whose curves are predicted.

    Attributes
    ----------
    fit : SurvivalFit
    X : Matrix (p, n)
        Their predictors.
    unseen : (B, n) bool or None
        The trees that predict each row, of training rows out of bag; None: all trees.
    """

    fit: SurvivalFit
    X: Matrix
    unseen: NDArray[np.bool_] | None = None

    def ranks(self, times: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how many event times are not later than each of the `times`."""
        return np.searchsorted(self.fit.event_times, times, side="right")

    def survival(
        self, times: NDArray[np.float64], advance: Callable[[int], object] = lambda n: None
    ) -> NDArray[np.float64]:
        """Return the survival (n, G) at ascending times (G,): the mean over the trees."""
        return self._at(times, True, advance)

    def hazard(
        self, times: NDArray[np.float64], advance: Callable[[int], object] = lambda n: None
    ) -> NDArray[np.float64]:
        """Return the cumulative hazard (n, G) at ascending times (G,): the mean over the trees."""
        return self._at(times, False, advance)

    def _at(
        self, times: NDArray[np.float64], survival: bool, advance: Callable[[int], object]
    ) -> NDArray[np.float64]:
        fit = self.fit
        return mean_curves(
            fit.forest, fit.curves, self.X, self.ranks(times), survival, fit.control.n_jobs,
            EVERY_ROW if self.unseen is None else self.unseen, advance,
        )  # fmt: skip

    def risk(self) -> NDArray[np.float64]:
        """Return the mortality (n,): the cumulative hazard added up over all event times."""
        return self.means([mortality(self.fit.curves, len(self.fit.event_times))])[:, 0]

    def restricted_mean(self, horizons: Sequence[float]) -> NDArray[np.float64]:
        """Return the restricted mean survival time (n, G) up to each of the horizons (G,)."""
        times = self.fit.event_times
        return self.means([restricted_mean_at(self.fit.curves, times, tau) for tau in horizons])

    def means(self, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the means (n, K) over the trees of K numbers (m,) of the nodes."""
        fit, n = self.fit, self.X.shape[1]
        forest = replace(fit.forest, value=np.column_stack(values))
        if self.unseen is None:
            return predict(forest, self.X, fit.control.n_jobs)
        found = OutOfBag(np.zeros((n, len(values))), np.zeros(n, dtype=np.int64), np.empty(0))
        ones = np.ones(n)
        predict_out_of_bag(forest, self.X, ones, ones, self.unseen, fit.control.n_jobs, found)
        return found.value

    def quantiles(
        self, shares: Sequence[float], advance: Callable[[int], object] = lambda n: None
    ) -> NDArray[np.float64]:
        """Return the time (n, G) by which each share (G,) has had the event; inf if it is never."""
        times, n = self.fit.event_times, self.X.shape[1]
        out = np.empty((n, len(shares)))
        for block in row_blocks(n, max(1, AT_ONCE // len(times))):
            mask = np.zeros(n, dtype=np.bool_)
            mask[block] = True
            part = PredictedRows(
                self.fit, with_rows(self.X, mask),
                None if self.unseen is None else self.unseen[:, block],
            )  # fmt: skip
            survival = part.survival(times, advance)
            for g, share in enumerate(shares):
                reached = survival <= 1.0 - share + ROUNDING
                found = times[reached.argmax(axis=1)]
                out[block, g] = np.where(reached.any(axis=1), found, np.inf)
                out[block, g][np.isnan(survival[:, 0])] = np.nan
        return out
