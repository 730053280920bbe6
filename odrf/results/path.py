"""The subtrees that pruning can choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.plots.path import plot_path
from odrf.pruning import growth_errors, growth_path
from odrf.results.scores import error_name
from odrf.summary import Summary

if TYPE_CHECKING:
    from odrf.results.tree import ODTResults

__all__ = ["PruningPath"]


class PruningPath:
    """The subtrees of a tree that some complexity α chooses, the largest first.

    Parameters
    ----------
    grown : ODTResults
        The tree to prune.

    Attributes
    ----------
    grown : ODTResults
    table : DataFrame
        One row for each subtree, from the largest (``alpha`` 0) to the root.  ``alpha``: the
        smallest α that chooses it, up to the next row's; ``leaves``; ``error``: mean squared
        error or misclassification rate of the rows the tree was grown on; ``relative_error``:
        the same divided by the root's.
    errors : (t,) float64
        Training error R(τ) of the trees with τ = 1, …, t leaves along the growth.

    Examples
    --------
    >>> import odrf
    >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), max_leaves=16, seed=1)
    >>> path = tree.pruning_path()
    >>> path.table["leaves"].tolist()[-1]
    1
    """

    def __init__(self, grown: ODTResults) -> None:
        self.grown = grown
        self.errors: NDArray[np.float64] = growth_errors(grown.forest)[0]
        path = growth_path(grown.forest)
        root = self.errors[0]
        self.table = pd.DataFrame(
            {
                "alpha": path.alpha,
                "leaves": path.leaves,
                "error": path.error,
                "relative_error": path.error / root if root > 0 else 0.0,
            }
        )

    def tree(self, k: int) -> ODTResults:
        """Return the subtree in row `k` of the table, 0 being the largest.

        Raises
        ------
        InputError
            If there is no such row.
        """
        if not isinstance(k, (int, np.integer)) or not 0 <= k < len(self.table):
            raise InputError(f"k={k!r} is no row of the table: use 0 to {len(self.table) - 1}")
        return self.grown.prune(alpha=float(self.table["alpha"].iloc[k]))

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        facts = {
            "Rule": "growth order",
            "Leaves grown": str(len(self.errors)),
            "Subtrees": str(len(self.table)),
            "Error": error_name(self.grown.kind),
        }
        sections = {"Subtrees": self.table}
        note = (
            "A subtree is chosen by prune(alpha=) from its alpha up to the next row's. "
            "Errors are those of the rows the tree was grown on."
        )
        return Summary("Pruning path", self.grown.call, facts, sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the training error against the number of leaves, the subtrees marked.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
        """
        return plot_path(self.table, self.errors, error_name(self.grown.kind), ax)

    def __repr__(self) -> str:
        return f"PruningPath: {len(self.table)} subtrees\n{self.table.to_string()}"
