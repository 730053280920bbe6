"""Errors of the rows of updates, as they came: predicted by the fit before it knew them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_whole
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.prediction.scores import error_name
from odrf.public import public
from odrf.statistics.arrival import arrival_sums, arrival_table, fewer_blocks
from odrf.text.card import Card, Carded
from odrf.text.quantity import quantity
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DriftPath", "drift_of"]

# A block is named if its error is larger than before by more than so many standard errors.
MARKED = 3.0
COMBINED = (
    "drift_path(): a forest of combine() has not predicted the rows of updates before they came: "
    "ask the forests that it was made of"
)
NOT_UPDATED = "drift_path() needs an updated fit: call update(newdata) first"


@public
class DriftPath(Carded):
    """Errors of new rows, each predicted by the fit as it was before they came.

    Returned by ``drift_path`` of trees and forests that have been updated.

    Parameters
    ----------
    fit : Fit
        An updated fit.
    table : DataFrame
        The errors.

    Attributes
    ----------
    fit : Fit
    table : DataFrame
        One row for each block of rows, in the order in which they came.  Index ``first``: the
        number of its first training row, from 0.  Columns: ``rows``; ``error``, the mean squared
        error or misclassification rate of the block, predicted by the fit before the update;
        ``std_error``, its standard error as of independent rows, NaN for one row; ``before``, the
        error of all earlier blocks; ``z``, ``error`` less ``before`` in standard errors of the
        difference; both are NaN in the first row.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> fit = odrf.odrf("progression ~ .", data[:200], n_trees=20, seed=1)
    >>> for begin in (200, 300):
    ...     fit = fit.update(data[begin : begin + 100])
    >>> fit.drift_path().table["rows"].tolist()
    [100, 100]
    """

    def __init__(self, fit: Fit, table: pd.DataFrame) -> None:
        self.fit, self.table = fit, table

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        note = (
            f"error is the {error_name(self.fit.kind)} of new rows, predicted by the fit before it "
            "was updated with them; before is that of all earlier blocks, z the difference in "
            "standard errors. A fit that learns has falling errors; errors that rise tell of drift."
        )
        sections = {"Blocks of rows": self.table}
        return Summary("Drift path", self.fit.call, self._facts(), sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the error of each block ± 1 standard error, and that of all earlier blocks.

        Blocks whose error is larger than before by more than 3 standard errors are marked.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        return plots.plot_drift(self.table, self._marked(), error_name(self.fit.kind), ax)

    def _marked(self) -> NDArray[np.bool_]:
        return self.table["z"].to_numpy() > MARKED

    def _facts(self) -> dict[str, str]:
        table, marked = self.table, self._marked()
        rises = "none" if not marked.any() else quantity(int(marked.sum()), "block")
        return {
            "Rows of updates": str(int(table["rows"].sum())),
            "Blocks": str(len(table)),
            f"Error more than {MARKED:g} SE above before": rises,
        }

    def _card(self) -> Card:
        title = f"Drift path of {quantity(len(self.table), 'block')} of rows"
        kept = tuple(np.flatnonzero(self._marked()).tolist())
        return Card(title, self._facts(), self.table, kept)


def drift_of(fit: Fit, rows: int | None) -> DriftPath:
    """Return the errors of new rows of an updated fit, in blocks of `rows`; or by updates.

    Raises
    ------
    InputError
        If `rows` is out of range, or the fit has not been updated.
    """
    size = None if rows is None else checked_whole("rows", rows, 1)
    if fit.stream is not None:
        first, sums = fit.stream.first, fit.stream.arrivals
        if not len(sums):
            raise InputError(NOT_UPDATED)
        sums = sums if size is None else fewer_blocks(sums, size)
    else:
        first, sums = _sums_of_rows(fit, size)
    table = arrival_table(sums)
    ends = np.cumsum(table["rows"].to_numpy())
    table.index = pd.Index(first + np.concatenate([[0], ends[:-1]]), name="first")
    return DriftPath(fit, table)


def _sums_of_rows(fit: Fit, size: int | None) -> tuple[int, NDArray[np.float64]]:
    """Return the number of the first row of updates, and the sums of blocks of `size` rows."""
    losses, sampling = fit.arrival_losses, fit.first_grown.control.sampling
    if losses is None:
        combined = fit.changes is not None and fit.further_seeds
        raise InputError(COMBINED if combined else NOT_UPDATED)
    n = len(fit.data.y)
    first = sampling.first(n)
    if size is None:
        ends = np.array([*sampling.begins[1:], n]) - first
    else:
        ends = np.minimum(np.arange(size, len(losses) + size, size), len(losses))
    return first, arrival_sums(losses, fit.data.weights[first:], ends)
