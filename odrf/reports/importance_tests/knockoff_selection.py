"""Selection of predictors by knockoffs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
import pandas as pd

from odrf import plots
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.growing import refit_on_some
from odrf.fits.importance_tests import knockoff_differences
from odrf.public import public
from odrf.statistics.effects import NUMBERS
from odrf.statistics.importance_tests import knockoff_threshold, knockoff_values
from odrf.text.layouts import quantity
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["KnockoffSelection", "knockoff_table"]

Forest = TypeVar("Forest")


def knockoff_table(fit: Fit) -> pd.DataFrame:
    """Return importances less those of knockoffs, in the columns of tests, the largest first."""
    W = knockoff_differences(fit)
    table = pd.DataFrame(np.nan, index=range(len(W)), columns=list(NUMBERS))
    table["estimate"] = W
    table.insert(0, "term", list(fit.design.predictors))
    table["p_adjusted"] = knockoff_values(W)
    return table.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)


@public
class KnockoffSelection(Carded, Generic[Forest]):
    """Predictors selected by their knockoffs, with a bound of the false discovery rate.

    Candès, Fan, Janson and Lv (2018).  Returned by
    `odrf.results.forest.ODRFResults.select_variables`.  A knockoff stands to the other predictors
    as its predictor does, but was drawn without the response: by a Gaussian copula with shrunken
    covariance.  A forest on all predictors and knockoffs gives the importance of each.  Where a
    predictor tells nothing beside the others, its knockoff is as likely the more important one; so
    the knockoffs that win count the false discoveries.

    Parameters
    ----------
    fit : Fit
        The forest.
    fdr : float
        The bound of the false discovery rate.
    result : callable
        Makes results of a fit.

    Attributes
    ----------
    table : DataFrame
        One row for each predictor, the largest difference first.  Columns: ``selected``;
        ``importance``, that of the predictor less that of its knockoff; ``fdr``, the smallest bound
        at which it is selected, 1 for none.
    threshold : float
        The difference from which on predictors are selected; infinite if none is.
    fdr : float

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes").drop(columns="sex")
    >>> forest = odrf.odrf("progression ~ .", data, n_trees=25, seed=1)
    >>> list(forest.select_variables("knockoff", fdr=0.3).table.columns)
    ['selected', 'importance', 'fdr']
    """

    def __init__(self, fit: Fit, fdr: float, result: Callable[[Fit], Forest]) -> None:
        self.fit, self.fdr, self._result = fit, fdr, result
        found = knockoff_table(fit)
        difference = found["estimate"].to_numpy()
        self.threshold = knockoff_threshold(difference, fdr)
        self.table = pd.DataFrame(
            {
                "selected": difference >= self.threshold,
                "importance": difference,
                "fdr": found["p_adjusted"].to_numpy(),
            },
            index=pd.Index(found["term"], name="predictor"),
        )

    def selected(self) -> list[str]:
        """Return the names of the selected predictors, in the order of the formula."""
        names = set(self.table.index[self.table["selected"]])
        return [name for name in self.fit.design.predictors if name in names]

    def best(self, *, progress: bool = False) -> Forest:
        """Grow the forest again on the selected predictors.

        Parameters
        ----------
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ODRFResults

        Raises
        ------
        InputError
            If no predictors are selected.
        """
        names = self.selected()
        if not names:
            way = ", nor at a larger one: too few are more important than their knockoffs"
            if self.table["fdr"].min() < 1:
                way = ": use a larger one, such as the smallest in the column fdr of table"
            raise InputError(f"no predictor is selected at fdr={self.fdr:g}{way}")
        which = [self.fit.design.predictors.index(name) for name in names]
        call = f"{self.fit.call}.select_variables('knockoff').best()"
        return self._result(refit_on_some(self.fit, which, call, progress))

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        note = (
            "importance is that of the predictor less that of its knockoff, fdr the smallest bound "
            "at which it is selected."
        )
        facts = {"Method": "knockoffs"} | self._facts()
        sections = {"Predictors": self.table}
        return Summary("Variable selection", self.fit.call, facts, sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the importance of each predictor less that of its knockoff, and the threshold.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        return plots.plot_knockoffs(self.table, self.threshold, ax)

    def _card(self) -> Card:
        return Card("Selection of predictors by knockoffs", self._facts(), self.table)

    def _facts(self) -> dict[str, str]:
        least = "none" if np.isinf(self.threshold) else f"{self.threshold:.3g}"
        # a rate of at most fdr supposes one false discovery
        fewest, selected = int(np.ceil(1 / self.fdr)), quantity(len(self.selected()), "predictor")
        if fewest > len(self.table):
            selected += f": at this rate {fewest} or more are selected, or none; use a larger fdr="
        return {
            "False discovery rate": f"at most {self.fdr:g}",
            "Threshold": least,
            "Selected": selected,
        }
