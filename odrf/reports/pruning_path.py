"""The pruning path of a tree: its nested subtrees and their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from odrf import plots
from odrf.checks import checked_choice
from odrf.fits.fit import Fit
from odrf.fits.scores import error_name, loss_name
from odrf.fits.survival.fit import trees_to_prune
from odrf.pruning.complexity import CHOICES, GROWTH, ONE_SE, growth_errors
from odrf.pruning.validation import SubtreePath
from odrf.public import public, warn_of_old
from odrf.reports.error_table import CHOICES_IN_WORDS, RULES_IN_WORDS, ErrorTable, shown_rows
from odrf.text.layouts import quantity
from odrf.text.splits import number
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PruningPath"]

Tree = TypeVar("Tree")


@public
class PruningPath(ErrorTable, Generic[Tree]):
    """The nested subtrees of a tree that are optimal for some α, the largest first.

    Returned by `odrf.results.tree.ODTResults.pruning_path`.

    Parameters
    ----------
    fit : Fit
        The tree to prune.
    subtrees : SubtreePath
        Its subtrees.
    prune : callable
        The method `prune` of the tree's results.

    Attributes
    ----------
    fit : Fit
    subtrees : SubtreePath
    table : DataFrame
        One row for each subtree, from the largest to the root.  The table of a pruned tree is the
        end of its parent's, with the same held-out errors if the folds are the same.  Columns:

        - ``alpha``: the smallest α for which the subtree is optimal; it is optimal up to the
          ``alpha`` of the next row.  In the first row it is 0, or the α at which the tree was
          pruned: a smaller one leaves the tree as it is.  It is 0, too, for a pruned tree that the
          parent has at no α, because ``leaves=`` or another rule or loss cut it; such a tree cannot
          be evaluated by folds.
        - ``leaves``: the number of its leaves.
        - ``error``: its training error: mean squared error, misclassification rate, mean rank
          error, impurity, exponential deviance, or the sum of the log-rank statistics of those
          splits of this tree that it lacks.  For an honest tree the rows are those that give the
          nodes their values.
        - ``relative_error``: ``error`` divided by that of the root.
        - ``xerror`` and ``xstd``, if held-out rows were used: the held-out mean squared error,
          misclassification rate or, for times to an event, exponential deviance, divided by that
          of the root on all training rows, and its standard error.  These two names are those of
          the table that rpart's ``printcp`` prints.  As there, the standard error is that of a mean
          over rows, or over groups of a fit with ``groups=`` (new rows without that column count as
          independent), the trees being given.  What the error varies because other samples
          give other trees is not in it: in simulations it was 0.8 of the standard deviation of the
          error over samples, and from 0.5 to 1.0 (``benchmarks/errors/standard_errors.py``).  It is
          missing if one row or group judges.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tree = odrf.odt("progression ~ .", data, alpha=None, seed=1)
    >>> path = tree.pruning_path(cv=5)
    >>> path.table.columns.tolist()
    ['alpha', 'leaves', 'error', 'relative_error', 'xerror', 'xstd']
    >>> int(path.best("1se").n_leaves[0]) <= int(path.best("min").n_leaves[0])
    True
    """

    def __init__(self, fit: Fit, subtrees: SubtreePath, prune: Callable[..., Tree]) -> None:
        self.fit, self.subtrees, self._prune = fit, subtrees, prune
        self.table = subtrees.table

    @property
    def pruning(self) -> str:
        """``"weakest_link"`` or ``"growth"``: which subtrees are candidates."""
        return self.subtrees.rule

    @property
    def rule(self) -> str:
        """The old name of `pruning`."""
        warn_of_old("PruningPath.rule", "PruningPath.pruning")
        return self.pruning

    @property
    def loss(self) -> str:
        """``"error"``, ``"impurity"`` or ``"log_rank"``: how the training error is measured."""
        return self.subtrees.loss

    @property
    def by(self) -> str:
        """Which rows were held out, in words; empty for none."""
        return self.subtrees.by

    @property
    def is_evaluated(self) -> bool:
        """Whether the subtrees were evaluated on held-out rows."""
        return self.subtrees.is_evaluated

    def best(self, rule: str = ONE_SE) -> Tree:
        """Return the subtree chosen by the held-out errors.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            As in `row`.

        Returns
        -------
        ODTResults

        Raises
        ------
        InputError
            As in `row`.
        """
        return self.tree(self.row(rule))

    def tree(self, k: int) -> Tree:
        """Return the subtree in row `k` of the table.

        Parameters
        ----------
        k : int
            The number of the row; 0 is the largest subtree.

        Returns
        -------
        ODTResults

        Raises
        ------
        InputError
            If there is no such row.
        """
        return self._prune(alpha=self._alpha(k), path=self)

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        error = loss_name(self.fit, self.loss)
        facts = {
            "Rule": RULES_IN_WORDS[self.pruning],
            "Leaves grown": str(int(self.fit.forest.leaves()[0])),
            "Subtrees": str(len(self.table)),
            "Training error": error,
        }
        notes = [
            "prune(alpha=) gives a subtree for any alpha from its row's up to the next row's. "
            "error is that of the training rows; relative_error is divided by the error of the "
            f"root, {number(float(self.table['error'].iloc[-1]))}."
        ]
        if self.is_evaluated:
            facts["Evaluated by"] = self.by
            facts |= self._choices()
            notes.append(
                f"xerror is the {error_name(self.fit.kind)} of the held-out rows divided by that "
                "of the root on the training rows, xstd its standard error."
            )
        kept = [self.row(rule) for rule in CHOICES] if self.is_evaluated else []
        shown = shown_rows(self.table[::-1], kept)[::-1]
        of = "" if len(shown) == len(self.table) else f" ({len(shown)} of {len(self.table)})"
        sections = {f"Subtrees{of}": shown}
        return Summary("Pruning path", self.fit.call, facts, sections, tuple(notes))

    def plot(self, *, rule: str = ONE_SE, ax: Axes | None = None) -> Axes:
        """Plot the held-out error of each subtree; without held-out rows, the training error.

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
        checked_choice("rule", rule, CHOICES)
        if self.is_evaluated:
            what = f"held-out {error_name(self.fit.kind)}, share of the root's"
            row, words = self.row(rule), CHOICES_IN_WORDS[rule]
            return plots.plot_error_path(self.table, self.row("min"), row, words, what, ax)
        along = (
            growth_errors(trees_to_prune(self.fit, self.loss), self.loss)
            if self.pruning == GROWTH
            else None
        )
        error = loss_name(self.fit, self.loss)
        return plots.plot_path(self.table, along, error, ax)

    def _chosen_row(self, rule: str) -> int:
        return self.subtrees.row(rule)

    def _card(self) -> Card:
        facts = {"Rule": RULES_IN_WORDS[self.pruning]}
        if self.is_evaluated:
            facts |= {"Evaluated by": self.by, **self._choices()}
        kept = tuple(map(self.row, CHOICES)) if self.is_evaluated else ()
        return Card(
            f"Pruning path of {quantity(len(self.table), 'subtree')}", facts, self.table, kept
        )

    def _choices(self) -> dict[str, str]:
        """Return what the rules choose."""
        leaves = self.table["leaves"]
        return {
            words: quantity(leaves.iloc[self.row(rule)], "leaf", "leaves")
            for rule, words in CHOICES_IN_WORDS.items()
        }
