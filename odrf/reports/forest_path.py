"""Size and out-of-bag error of a forest whose trees are pruned at the same α."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from odrf import plots
from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.pruning import ForestSizes
from odrf.fits.scores import error_name
from odrf.pruning.complexity import CHOICES, ONE_SE
from odrf.public import public, warn_of_old
from odrf.reports.error_table import CHOICES_IN_WORDS, RULES_IN_WORDS, ErrorTable
from odrf.reports.pruning_path import PruningPath
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ForestPath", "require_own_path"]

Forest = TypeVar("Forest")


@public
class ForestPath(ErrorTable, Generic[Forest]):
    """A forest pruned at increasing α, the same for each tree (Theorem 5).

    Returned by `odrf.results.forest.ODRFResults.pruning_path`.

    Parameters
    ----------
    fit : Fit
        The forest to prune.
    sizes : ForestSizes
        Its sizes and errors at increasing α.
    prune : callable
        The method `prune` of the forest's results.

    Attributes
    ----------
    fit : Fit
    sizes : ForestSizes
    table : DataFrame
        One row for each α, from 0 to an α at which no splits remain.  Columns: ``alpha``;
        ``leaves``, the mean number of leaves of a tree; ``error``, the out-of-bag mean squared
        error or misclassification rate; ``std_error``, its standard error over rows or groups.

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
    def pruning(self) -> str:
        """``"weakest_link"`` or ``"growth"``: which subtrees of each tree are candidates."""
        return self.sizes.rule

    @property
    def rule(self) -> str:
        """The old name of `pruning`."""
        warn_of_old("ForestPath.rule", "ForestPath.pruning")
        return self.pruning

    def best(self, rule: str = ONE_SE) -> Forest:
        """Return the forest pruned at the α chosen by the out-of-bag error.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            As in `row`.

        Returns
        -------
        ODRFResults

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        return self._prune(rule=checked_choice("rule", rule, CHOICES), path=self)

    def forest(self, k: int) -> Forest:
        """Return the forest in row `k` of the table.

        Parameters
        ----------
        k : int
            The number of the row, from 0.

        Returns
        -------
        ODRFResults

        Raises
        ------
        InputError
            If there is no such row.
        """
        return self._prune(alpha=self._alpha(k), path=self)

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        note = (
            f"error is the out-of-bag {error_name(self.fit.kind)}, std_error its standard error "
            "over rows or groups, leaves the mean of the trees."
        )
        facts, sections = self._facts(), {"Forests": self.table}
        return Summary("Pruning path", self.fit.call, facts, sections, (note,))

    def plot(self, *, rule: str = ONE_SE, ax: Axes | None = None) -> Axes:
        """Plot the out-of-bag error of each forest, with one standard error to either side.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            The rule whose choice is marked.
        ax : Axes, optional
            Where to draw.  By default on a new figure.

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
        sizes = "leaves, mean of the trees"
        return plots.plot_error_path(
            table, self.row("min"), row, words, what, ax, sizes, "α of all trees"
        )

    def _card(self) -> Card:
        title = f"Pruning path of a forest: {len(self.table)} values of alpha"
        return Card(title, self._facts(), self.table, tuple(map(self.row, CHOICES_IN_WORDS)))

    def _facts(self) -> dict[str, str]:
        facts = {"Rule": RULES_IN_WORDS[self.pruning], "Trees": str(self.fit.forest.n_trees)}
        for rule, words in CHOICES_IN_WORDS.items():
            line = self.table.iloc[self.row(rule)]
            facts[words] = f"{line['leaves']:.1f} leaves, alpha = {line['alpha']:.3g}"
        return facts


def require_own_path(path: Any, fit: Fit, whole: str) -> None:
    """Raise `InputError` unless a path is None or the pruning path of this fit, a `whole`."""
    is_path = isinstance(path, PruningPath | ForestPath)
    if path is not None and not (is_path and path.fit.forest is fit.forest):
        raise InputError(
            f"path= belongs to another {whole}, or is no path: use this {whole}'s pruning_path()"
        )
