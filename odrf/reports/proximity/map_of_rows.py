"""Training rows in the plane, near to each other if they share leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from odrf import plots
from odrf.fits.fit import AnyFit
from odrf.fits.proximity import indicators_of
from odrf.public import public
from odrf.statistics.proximity import scaled_to_plane
from odrf.text.names import free_name
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RowMap"]


@public
class RowMap(Carded):
    """Training rows in the plane, by classical scaling of their proximities.

    Returned by `map` of the results.  The squared distance of two rows is 1 minus the share of the
    trees in which they share a leaf.

    Parameters
    ----------
    fit : AnyFit
        The fit.

    Attributes
    ----------
    table : DataFrame
        One row for each training row: ``first`` and ``second``, the coordinates; and the response,
        with an underscore if it is called like one of them.
    explained : tuple of float
        The shares of the squared distances that the two coordinates explain.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("species ~ . - year", odrf.load_data("penguins"), n_trees=20, seed=1)
    >>> list(forest.map().table.columns)
    ['first', 'second', 'species']
    """

    def __init__(self, fit: AnyFit) -> None:
        self.call = fit.call
        plane = scaled_to_plane(
            indicators_of(fit, fit.data.X), fit.forest.n_trees, fit.control.seed
        )
        self.explained = (float(plane.share[0]), float(plane.share[1]))
        response = fit.design.response
        self._response = free_name(response.name, ("first", "second"))
        y = fit.data.y
        values = y if response.classes is None else response.classes[y.astype(int)]
        self.table = pd.DataFrame(
            {"first": plane.at[:, 0], "second": plane.at[:, 1], self._response: values},
            index=fit.data.index,
        )
        self._classes = response.classes

    def summary(self) -> Summary:
        """Return the figures as a summary with text, HTML and LaTeX output."""
        note = "Rows are near each other if they share leaves in many trees."
        return Summary("Map of the training rows", self.call, self._facts(), notes=(note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the rows, coloured by the response.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        classes = None if self._classes is None else list(self._classes)
        return plots.plot_row_map(self.table, self._response, classes, self.explained, ax)

    def _facts(self) -> dict[str, str]:
        first, second = self.explained
        return {"Rows": str(len(self.table)), "Explained": f"{first:.0%} and {second:.0%}"}

    def _card(self) -> Card:
        return Card("Map of the training rows", self._facts(), self.table)
