"""What all boosted trees tell of their rounds, whatever the response."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from odrf.fits.fit import BoostedFit
from odrf.fits.responses import with_rows_apart
from odrf.options.boosting import BoostingControl
from odrf.reports.summaries import loss_path
from odrf.results.any_results import AnyResults

__all__ = ["RoundsOfTrees"]


class RoundsOfTrees(AnyResults):
    """Base class of the results of boosted trees.

    Parameters
    ----------
    fit : BoostedFit
        Design, data, options and trees.
    """

    fit: BoostedFit

    @property
    def control(self) -> BoostingControl:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @property
    def n_rounds(self) -> int:
        """Number of rounds that are kept; a round has a tree for every score of every run."""
        return self.fit.n_rounds

    @property
    def held_out(self) -> pd.Series:
        """True for the training rows that were held out to choose the number of rounds."""
        held = pd.Series(self.fit.held, index=self.fit.data.index, name="held_out")
        return with_rows_apart(self.fit, held, _not_held_out, out_of_bag=False)

    @cached_property
    def loss_path(self) -> pd.DataFrame:
        """Mean loss after 0, 1, 2, … rounds, including rounds that are not kept.

        Column ``training`` is the loss on the rows that the trees were grown on.  If rows were held
        out, ``validation`` is the loss on these; otherwise, with several runs, ``out-of-bag`` is
        the loss of each row by the runs that did not draw it.  The loss is half the squared error,
        the absolute error, the Huber loss with the δ of the deviations from the median, half the
        Poisson deviance, or the negative log-likelihood, with the ordinal loss the sum of those of
        being above each class; for times to an event the negative log
        partial likelihood among these rows, or their negative log-likelihood, divided by the sum of
        their weights.
        """
        return loss_path(self.fit)


def _not_held_out(rows: pd.DataFrame) -> pd.Series:
    return pd.Series(False, index=rows.index, name="held_out")
