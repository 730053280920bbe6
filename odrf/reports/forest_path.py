"""What a price of leaves, the same for all trees, does to a forest's size and out-of-bag error."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.errors import InputError, allowed
from odrf.fits.prediction.scores import error_name, out_of_bag_loss
from odrf.plots.path import plot_judged_path
from odrf.pruning.choosing import CHOICES, chosen
from odrf.pruning.complexity import pruned, split_prices
from odrf.pruning.forests import common_prices
from odrf.reports.pruning_path import CHOICES_IN_WORDS, RULES_IN_WORDS
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from odrf.results.forest import ODRFResults

__all__ = ["ForestPath"]


class ForestPath:
    """A forest at rising prices α of a leaf, the same α_n for each tree (Theorem 5).

    `odrf.results.forest.ODRFResults.pruning_path` makes it.

    Parameters
    ----------
    grown : ODRFResults
        The forest to prune.
    rule : {"weakest_link", "growth"}
        Which subtrees each tree has to choose from.

    Attributes
    ----------
    grown : ODRFResults
    rule : str
    table : DataFrame
        One row for each α, from 0 to the one that leaves no split.  ``alpha``; ``leaves``, the
        mean number per tree; ``error``, the out-of-bag mean squared error or misclassification
        rate; ``std``, its standard error over rows.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=25, seed=1)
    >>> path = forest.pruning_path()
    >>> bool(path.table["leaves"].is_monotonic_decreasing)
    True
    """

    def __init__(self, grown: ODRFResults, rule: str) -> None:
        self.grown, self.rule = grown, rule
        fit = grown.fit
        prices = split_prices(fit.forest, rule)
        lines = []
        for alpha in common_prices(prices):
            forest = pruned(fit.forest, prices, float(alpha))
            mean, spread = out_of_bag_loss(replace(fit, forest=forest))
            lines.append((float(alpha), float(forest.leaves().mean()), mean, spread))
        self.table = pd.DataFrame(lines, columns=["alpha", "leaves", "error", "std"])

    def row(self, rule: str = "min") -> int:
        """Return the row of the table that `best` takes.

        Raises
        ------
        InputError
            If `rule` is neither ``"min"`` nor ``"1se"``.
        """
        if rule not in CHOICES:
            raise allowed("rule", rule, CHOICES)
        return chosen(self.table["error"].to_numpy(), self.table["std"].to_numpy(), rule)

    def best(self, rule: str = "min") -> ODRFResults:
        """Return the forest at the α that the out-of-bag rows find best.

        Parameters
        ----------
        rule : {"min", "1se"}, default "min"
            Smallest out-of-bag error, or the smallest forest at most one standard error above.
        """
        return self.forest(self.row(rule))

    def forest(self, k: int) -> ODRFResults:
        """Return the forest in row `k` of the table.

        Raises
        ------
        InputError
            If there is no such row.
        """
        if not isinstance(k, (int, np.integer)) or not 0 <= k < len(self.table):
            raise InputError(f"k={k!r} is no row of the table: use 0 to {len(self.table) - 1}")
        return self.grown.prune(alpha=float(self.table["alpha"].iloc[k]), path=self)

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        facts = {"Rule": RULES_IN_WORDS[self.rule], "Trees": str(self.grown.forest.n_trees)}
        for rule, words in CHOICES_IN_WORDS.items():
            line = self.table.iloc[self.row(rule)]
            facts[words] = f"{line['leaves']:.1f} leaves, alpha = {line['alpha']:.3g}"
        note = (
            f"error is the out-of-bag {error_name(self.grown.kind)}, std its standard error over "
            "rows, leaves the mean of the trees."
        )
        return Summary("Pruning path", self.grown.call, facts, {"Forests": self.table}, (note,))

    def plot(self, *, rule: str = "1se", ax: Axes | None = None) -> Axes:
        """Draw the out-of-bag error against α, one standard error to either side.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            Which forest is marked as chosen.
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        table = self.table.rename(columns={"error": "xerror", "std": "xstd"})
        what = f"out-of-bag {error_name(self.grown.kind)}"
        row, words = self.row(rule), CHOICES_IN_WORDS[rule]
        return plot_judged_path(table, self.row("min"), row, words, what, ax)

    def __repr__(self) -> str:
        return f"ForestPath: {len(self.table)} prices of a leaf\n{self.table.to_string()}"
