"""What the trees of a fit predict for the training rows that they did not draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.runs import mean_of_other_runs
from odrf.engine.boosting.sums import added_up_by_run
from odrf.engine.trees.out_of_bag_losses import OutOfBag, out_of_bag
from odrf.errors import InputError
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import Fit
from odrf.pruning.held_out import losses_of

__all__ = ["boosted_error", "boosted_out_of_bag", "forest_out_of_bag", "require_out_of_bag"]


def require_out_of_bag(fit: Fit, what: str) -> None:
    """Raise `InputError` where every tree has seen all rows; `what` needs others."""
    if fit.control.resample == "none":
        raise InputError(
            f'{what} need rows that a tree has not seen, and resample="none" leaves none: '
            'fit with resample="bootstrap" or "subsample"'
        )


def forest_out_of_bag(fit: Fit) -> OutOfBag:
    """Return out-of-bag predictions of a forest, and its error by number of trees.

    Raises
    ------
    InputError
        If every tree has seen all rows.
    """
    require_out_of_bag(fit, "Out-of-bag results")
    return out_of_bag(fit.forest, fit.data.X, fit.data.y, fit.draws)


def boosted_out_of_bag(fit: BoostedFit) -> NDArray[np.float64]:
    """Return the mean response or the class shares (n, K) by the runs that did not draw a row.

    Raises
    ------
    InputError
        If there is one run only.
    """
    if fit.control.n_runs == 1:
        raise InputError(
            "out-of-bag results need runs with rows of their own: fit with n_runs=10 or so, "
            "or hold rows out by validation="
        )
    boosted = fit.boosted
    scores = added_up_by_run(boosted.forest, fit.data.X, boosted.starts, fit.control.n_jobs)
    # rows held out are out of every bag
    missed = np.ones((fit.control.n_runs, len(fit.data.y)), dtype=bool)
    missed[:, ~fit.held] = [own.counts == 0 for own in boosted.drawn]
    return fit.loss.means(mean_of_other_runs(list(scores), missed) + fit.offset.values)


def boosted_error(fit: BoostedFit, value: NDArray[np.float64]) -> float:
    """Return the mean squared error or misclassification rate of `value` (n, K) out of bag.

    Raises
    ------
    InputError
        If all runs drew all rows.
    """
    data = fit.data
    known = ~np.isnan(value[:, 0]) & (data.weights > 0)
    if not known.any():
        raise InputError("every run drew every row: use more runs, as in n_runs=10")
    losses = losses_of(value[known], data.y[known], fit.ordered)
    return float(np.average(losses, weights=data.weights[known]))
