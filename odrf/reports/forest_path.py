"""What a price of leaves, the same for all trees, does to a forest's size and out-of-bag error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from odrf import plots
from odrf.fits.evaluating import ForestSizes
from odrf.fits.fit import Fit
from odrf.fits.prediction.scores import error_name
from odrf.reports.error_table import CHOICES_IN_WORDS, RULES_IN_WORDS, ErrorTable
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ForestPath"]

Forest = TypeVar("Forest")


class ForestPath(ErrorTable, Generic[Forest]):
    """A forest at rising prices α of a leaf, the same α_n for each tree (Theorem 5).

    `odrf.results.forest.ODRFResults.pruning_path` makes it.

    Parameters
    ----------
    fit : Fit
        The forest to prune.
    sizes : ForestSizes
        The forest at rising prices of a leaf.
    prune : callable
        Makes a result of the forest pruned at ``alpha=``, as its method `prune` does.

    Attributes
    ----------
    fit : Fit
    sizes : ForestSizes
    table : DataFrame
        One row for each α, from 0 to the one that leaves no split.  ``alpha``; ``leaves``, the
        mean number per tree; ``error``, the out-of-bag mean squared error or misclassification
        rate; ``std_error``, its standard error over rows.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=25, seed=1)
    >>> path = forest.pruning_path()
    >>> bool(path.table["leaves"].is_monotonic_decreasing)
    True
    """

    def __init__(self, fit: Fit, sizes: ForestSizes, prune: Callable[..., Forest]) -> None:
        self.fit, self.sizes, self._prune = fit, sizes, prune
        self.table = sizes.table

    @property
    def rule(self) -> str:
        """``"weakest_link"`` or ``"growth"``: which subtrees each tree has to choose from."""
        return self.sizes.rule

    def best(self, rule: str = "min") -> Forest:
        """Return the forest at the α that the out-of-bag rows find best.

        Parameters
        ----------
        rule : {"min", "1se"}, default "min"
            Smallest out-of-bag error, or the smallest forest at most one standard error above.
        """
        return self.forest(self.row(rule))

    def forest(self, k: int) -> Forest:
        """Return the forest in row `k` of the table.

        Raises
        ------
        InputError
            If there is no such row.
        """
        return self._prune(alpha=self._alpha(k), path=self)

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        facts = {"Rule": RULES_IN_WORDS[self.rule], "Trees": str(self.fit.forest.n_trees)}
        for rule, words in CHOICES_IN_WORDS.items():
            line = self.table.iloc[self.row(rule)]
            facts[words] = f"{line['leaves']:.1f} leaves, alpha = {line['alpha']:.3g}"
        note = (
            f"error is the out-of-bag {error_name(self.fit.kind)}, std_error its standard error "
            "over rows, leaves the mean of the trees."
        )
        return Summary("Pruning path", self.fit.call, facts, {"Forests": self.table}, (note,))

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
        table = self.table.rename(columns={"error": "xerror", "std_error": "xstd"})
        what = f"out-of-bag {error_name(self.fit.kind)}"
        row, words = self.row(rule), CHOICES_IN_WORDS[rule]
        return plots.plot_error_path(table, self.row("min"), row, words, what, ax)

    def __repr__(self) -> str:
        return f"ForestPath: {len(self.table)} prices of a leaf\n{self.table.to_string()}"
