"""The trees of a fit as pruning by a loss sees them."""

from __future__ import annotations

from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.pruning.complexity import LOG_RANK, with_split_statistics

__all__ = ["trees_to_prune"]


def trees_to_prune(fit: Fit, loss: str) -> Forest:
    """Return the trees of a fit, with the weights and impurities by which `loss` prunes them.

    Raises
    ------
    InputError
        The loss is that of log-rank statistics, and the fit is no tree for times to an event.
    """
    if loss != LOG_RANK:
        return fit.forest
    if not isinstance(fit, SurvivalFit) or fit.hazards is None:
        raise InputError(
            f'loss="{LOG_RANK}" is for trees of times to an event, Surv(time, event): use '
            'loss="error"'
        )
    return with_split_statistics(fit.forest, fit.hazards.log_rank)
