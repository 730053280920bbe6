"""What all boosted trees tell of their rounds, whatever the response, and what they lack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from odrf import plots, reports
from odrf.errors import InputError
from odrf.fits.fit import BoostedFit
from odrf.fits.responses import rows_missed, with_rows_apart
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.results import absent
from odrf.results.absent import known
from odrf.results.base import Of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = "each tree corrects the sum of those before it"
BOOSTED_TREES = "its trees predict steps of scores, not the response: see splits"
BOOSTED = {
    "nodes": BOOSTED_TREES,
    "several trees": f"{STEPS}, so that they have no strength of their own",
    "tree": BOOSTED_TREES,
    "kinds": "its trees are of one kind",
    "error_path": "see loss_path",
    "projection_importance": "gains of different rounds are on different scales: see splits",
    "subtrees": "the number of rounds and the depth bound its size: use validation= or max_depth=",
    "growth_path": "see loss_path and staged_predict()",
    "combine": f"{STEPS}: use n_runs= for the mean of several sums",
    "select_variables": "it needs out-of-bag rows of every tree: use odrf()",
    "a distribution": f"{STEPS}, so that trees do not tell how it varies; use odrf()",
    "neighbours": f"{STEPS}, so that sharing a leaf does not mean to be near: use odrf()",
    "means of trees": f"{STEPS}, and only means of trees are exported: use odt() or odrf()",
    "row_predictor": "its predictions are sums and not means of trees: use predict()",
    "rows to add": f"{STEPS}, so that new rows would change all of them: fit again",
}
"""What boosted trees lack, whatever the response."""


@known()
def control(self: Of[BoostedFit]) -> ResolvedBoostingOptions:
    """The options of the fit, with the values that were used."""
    return self.fit.control


@known()
def n_rounds(self: Of[BoostedFit]) -> int:
    """Number of rounds that are kept; a round has a tree for every score of every run."""
    return self.fit.n_rounds


@known(absent.rows)
def held_out(self: Of[BoostedFit]) -> pd.Series:
    """True for the training rows that were held out to choose the number of rounds."""
    held = pd.Series(self.fit.held, index=self.fit.data.index, name="held_out")
    return with_rows_apart(self.fit, held, _not_held_out, out_of_bag=False)


@known(kept=True)
def loss_path(self: Of[BoostedFit]) -> pd.DataFrame:
    """Mean loss after 0, 1, 2, … rounds, including rounds that are not kept.

    Column ``training`` is the loss on the rows that the trees were grown on.  If rows were held
    out, ``validation`` is the loss on these; otherwise, with several runs, ``out-of-bag`` is the
    loss of each row by the runs that did not sample it.  The loss is half the squared error, the
    absolute error, the Huber loss with the δ of the deviations from the median, half the Poisson
    deviance, or the negative log-likelihood, with the ordinal loss the sum of those of being above
    each class; for survival times the negative log partial likelihood among these rows, or their
    negative log-likelihood, divided by the sum of their weights.
    """
    return reports.summaries.loss_path(self.fit)


def drawn_losses(self: Of[BoostedFit], ax: Axes | None) -> Axes:
    """Draw the losses against the number of rounds, with those that are kept."""
    fit = self.fit
    return plots.fits.plot_loss(
        reports.summaries.loss_path(fit), fit.n_rounds, fit.control.loss, ax
    )


def _not_held_out(rows: pd.DataFrame) -> pd.Series:
    return pd.Series(False, index=rows.index, name="held_out")


def require_runs(fit: BoostedFit) -> None:
    """Raise `InputError` if there is only one run."""
    if fit.control.n_runs == 1:
        raise InputError(
            "out-of-bag results need several runs: fit with n_runs=10 or so, or hold rows out by "
            "validation="
        )


def require_rows_missed(result: Of[BoostedFit]) -> None:
    """Raise `InputError` if every run sampled every row."""
    fit = result.fit
    if not (rows_missed(fit).any(axis=0) & (fit.data.weights > 0)).any():
        raise InputError("every run sampled every row: use more runs, as in n_runs=10")
