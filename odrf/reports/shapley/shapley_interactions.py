"""Shapley interaction values: what terms of the formula add alone, and in pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.fits.fit import AnyFit
from odrf.fits.shapley import ExplainedRows
from odrf.public import public
from odrf.reports.shapley.shapley_values import ShapleyValues, shapley_report
from odrf.statistics.shapley import Shares
from odrf.text.names import shortened_names
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ShapleyInteractions", "interactions_report"]

# Of each name of a pair in plots.
MOST_CHARACTERS = 12


@public
@dataclass(frozen=True, eq=False, repr=False)
class ShapleyInteractions(Carded):
    """Shapley interaction values of n rows: what terms add alone, and what pairs add beyond that.

    Returned by ``shap_interactions()`` of a fit.

    Attributes
    ----------
    values : (n, P, P) float64, or (n, P, P, K) for K classes
        One half of the interaction of terms i and j is the entry [i, j], the other half [j, i]; the
        main effects of the terms are on the diagonal.  The entries of a term add up to its Shapley
        value.
    std_error : as `values`
        The standard error of each value by drawing; 0 for values that are exact.
    sums : ShapleyValues
        The Shapley values of the terms, sums of these values; with ``base``, ``prediction``,
        ``data`` and ``outputs``.  Their standard errors are upper bounds.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.friedman1().sample(200, seed=1)
    >>> forest = odrf.odrf("y ~ x1 + x2 + x4", data, n_trees=50, seed=1)
    >>> pairs = forest.shap_interactions(data.head(20), background=20)
    >>> pairs.table.loc[0, ["term", "other"]].tolist()
    ['x1', 'x2']
    """

    values: NDArray[np.float64]
    std_error: NDArray[np.float64]
    sums: ShapleyValues

    @property
    def table(self) -> pd.DataFrame:
        """Each pair of terms with the size of its interaction, the largest first.

        Columns: ``term`` and ``other``; ``mean_absolute``, the mean over the rows of the absolute
        value of the whole interaction, [i, j] and [j, i] together, for classes summed over these;
        ``share`` of the sum of all pairs and main effects.
        """
        terms, (first, second) = self.sums.terms, np.triu_indices(len(self.sums.terms), 1)
        sizes = np.abs(self._four()).mean(axis=0).sum(axis=-1)
        pairs, total = 2 * sizes[first, second], sizes.sum()
        table = pd.DataFrame(
            {
                "term": [terms[i] for i in first],
                "other": [terms[j] for j in second],
                "mean_absolute": pairs,
                "share": pairs / total if total > 0 else np.zeros(len(pairs)),
            }
        )
        return table.sort_values("mean_absolute", ascending=False, kind="stable", ignore_index=True)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the sizes of the 15 largest interactions.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
        """
        table = self.table
        short = dict(
            zip(self.sums.terms, shortened_names(self.sums.terms, MOST_CHARACTERS), strict=True)
        )
        names = [
            f"{short[one]} × {short[other]}"
            for one, other in zip(table.term, table.other, strict=True)
        ]
        classes = ", summed over the classes" if len(self.sums.outputs) > 1 else ""
        measure = f"mean absolute interaction ({self.sums.explains}){classes}"
        sizes = pd.Series(table["mean_absolute"].to_numpy(), index=names)
        return plots.plot_shapley_sizes(sizes, measure, ax, of="pairs")

    def to_shap(self) -> Any:
        """Return the values as a ``shap.Explanation``; see `ShapleyValues.to_shap`.

        Raises
        ------
        InputError
            If the package shap is not installed.
        """
        explanation = self.sums.to_shap()
        explanation.values = self.values
        return explanation

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        note = "One half of an interaction counts for each of its two terms."
        sections = {"Pairs": self.table.head(15), "Terms": self.sums.table}
        title = "Shapley interaction values"
        return Summary(title, self.sums.call, self.sums.facts(), sections, (note,))

    def _card(self) -> Card:
        return Card("Shapley interaction values", self.sums.facts(), self.table)

    def _four(self) -> NDArray[np.float64]:
        """Return the values with the axis of outputs (n, P, P, K)."""
        return self.values if self.values.ndim == 4 else self.values[..., np.newaxis]


def interactions_report(fit: AnyFit, explained: ExplainedRows) -> ShapleyInteractions:
    """Return the report on the interaction values of rows."""
    values, errors, drawn = explained.shares
    sums = Shares(values.sum(axis=2), errors.sum(axis=2), drawn)
    several = values.shape[-1] > 1
    return ShapleyInteractions(
        values=values if several else values[..., 0],
        std_error=errors if several else errors[..., 0],
        sums=shapley_report(fit, replace(explained, shares=sums)),
    )
