"""Strength of a forest's trees and correlation between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.engine.memory import require_memory
from odrf.engine.trees.forest import predicted_classes
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.public import public, respelled
from odrf.public.progress import progress_bar
from odrf.statistics.strength import Strength, of_classes, of_numbers, sizes_to_try
from odrf.text.summary import Card, Carded, Summary

__all__ = ["StrengthCorrelation"]

NOTES = {
    "regression": "tree_error is the mean squared error of a tree out of bag, correlation that of "
    "two trees' residuals, bound their product (Breiman 2001, section 11). It bounds the error of "
    "very many trees: error is that of the trees that left a row out, and may be above it.",
    "classification": "strength is the mean margin out of bag, correlation that of two trees' raw "
    "margins, bound the correlation times (1 - strength²)/strength² (Breiman 2001). All are of "
    "votes of trees, as error is; the forest itself averages probabilities.",
}


@public
class StrengthCorrelation(Carded):
    """Strength of the trees of a forest and correlation between them (Breiman 2001).

    Returned by `odrf.results.forest.ODRFResults.strength_correlation`.

    Parameters
    ----------
    fit : Fit
        A forest.
    subset_sizes : sequence of int, optional
        Sizes of random subsets with which the forest is grown again.
    progress : bool
        Show a progress bar.

    Attributes
    ----------
    fit : Fit
    table : DataFrame
        One row for each number of ``trees`` or, with `subset_sizes`, for each ``subset_size``, that
        of the fit first.  Columns: for classes ``strength``, the mean out-of-bag margin; for
        numbers ``tree_error``, the out-of-bag mean squared error of a tree; ``correlation`` ρ̄ of
        the trees' raw margins, or residuals, on rows that two trees both left out; ``bound``,
        Breiman's upper bound of the error of very many trees; ``error``, the out-of-bag error of
        the forest, for classes that of its votes.  For numbers the error of fewer trees may be
        above the bound.  Correlation and bound of a few trees are rough: few rows judge two trees.
        A correlation that chance puts below 0 has no bound.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> table = forest.strength_correlation().table
    >>> bool(table["error"].iloc[-1] < table["bound"].iloc[-1])
    True
    """

    def __init__(self, fit: Fit, subset_sizes: Sequence[int] | None, progress: bool) -> None:
        self.fit = fit
        n_trees = fit.forest.n_trees
        first = "tree_error" if fit.kind == "regression" else "strength"
        names = ["trees", first, "correlation", "bound", "error"]
        if subset_sizes is None:
            self.table = pd.DataFrame(_strengths(fit, sizes_to_try(n_trees)), columns=names)
            return
        fits: dict[str | int, Fit] = {fit.control.subset_size: fit}
        for size in progress_bar(subset_sizes, unit="forest", progress=progress):
            fits[size] = _with_subsets_of(fit, size)
        table = pd.DataFrame(
            [_strengths(forest, [n_trees])[0] for forest in fits.values()], columns=names
        ).drop(columns="trees")
        table.insert(0, "subset_size", list(fits))
        self.table = table

    @property
    def by(self) -> str:
        """What differs between the rows of the table: ``"trees"`` or ``"subset_size"``."""
        return str(self.table.columns[0])

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        last = self.table.iloc[-1 if self.by == "trees" else 0]
        facts = {name: _said(last[name]) for name in self.table.columns[1:]}
        notes = [NOTES[self.fit.kind]]
        if np.isinf(self.table["bound"]).any():
            notes.append(
                "bound is inf where strength is not above 0: trees that guess no better than "
                "chance bound no error."
            )
        if self.table.isna().to_numpy().any():
            notes.append(
                "Unknown where too few rows of positive weight are out of bag; bound also where "
                "correlation is below 0."
            )
        title = "Strength and correlation"
        return Summary(title, self.fit.call, facts, {f"By {self.by}": self.table}, tuple(notes))

    @respelled(renamed={"axes": "ax"})
    def plot(self, *, ax: NDArray | None = None) -> NDArray[np.object_]:
        """Plot strength, correlation and error, side by side, against trees or subset size, rising.

        Parameters
        ----------
        ax : array of 3 Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        array of 3 Axes

        Raises
        ------
        InputError
            If `ax` has another number of axes.
        """
        return plots.plot_strength(self.table, ax)

    def _card(self) -> Card:
        return Card(f"Strength and correlation by {self.by}", table=self.table, kept=())


def _said(value: float) -> str:
    return "unknown" if np.isnan(value) else f"{value:.4g}"


def _with_subsets_of(fit: Fit, size: int) -> Fit:
    return grow_fit("", fit.design, fit.data, fit.request.giving(subset_size=size))


def _strengths(fit: Fit, sizes: list[int]) -> list[Strength]:
    """Return strength and correlation of the fit's first trees, for each of the `sizes`."""
    data, classes = fit.data, fit.design.response.classes
    n, B = data.n_rows, fit.forest.n_trees
    require_memory(
        32.0 * n * B, f"the errors of {n} rows in {B} trees", "use fewer trees (n_trees=)"
    )
    leaves = leaf_nodes(fit.forest, data.X, fit.control.n_jobs)
    unseen = fit.draws.all_unseen().T
    positive = data.weights > 0
    leaves, unseen, y = leaves[positive], unseen[positive], data.y[positive]
    weights = data.weights[positive]
    if classes is None:
        return of_numbers(y[:, None] - fit.forest.value[leaves, 0], unseen, weights, sizes)
    predicted = predicted_classes(fit.forest.value, fit.ordered)[leaves]
    return of_classes(predicted, unseen, y.astype(np.int64), weights, len(classes), sizes)
