"""The subtrees that pruning can choose, and what held-out rows say of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from odrf import plots
from odrf.errors import allowed
from odrf.fits.fit import Fit
from odrf.fits.prediction.scores import error_name, loss_name
from odrf.pruning.choosing import CHOICES
from odrf.pruning.complexity import GROWTH
from odrf.pruning.subtree_path import SubtreePath
from odrf.pruning.subtrees import growth_errors
from odrf.reports.error_table import CHOICES_IN_WORDS, RULES_IN_WORDS, ErrorTable, some_rows
from odrf.text.summary import Summary
from odrf.text.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PruningPath"]

Tree = TypeVar("Tree")


class PruningPath(ErrorTable, Generic[Tree]):
    """The nested subtrees of a tree that some complexity α chooses, the largest first.

    `odrf.results.tree.ODTResults.pruning_path` makes it.

    Parameters
    ----------
    fit : Fit
        The tree to prune.
    subtrees : SubtreePath
        Its subtrees.
    prune : callable
        Makes a result of the tree pruned at ``alpha=``, as its method `prune` does.

    Attributes
    ----------
    fit : Fit
    subtrees : SubtreePath
    table : DataFrame
        One row for each subtree, from the largest (``alpha`` 0) to the root.  ``alpha``: the
        smallest α that chooses it, up to the next row's; ``leaves``; ``error``: mean squared
        error, misclassification rate, mean rank error or impurity of the rows the tree was grown
        on, of an honest tree those that fill it;
        ``relative_error``: the same divided by the root's.  If judged on held-out rows,
        ``xerror``, their mean squared error or misclassification rate divided by what the root
        has on the training rows, and ``xstd``, its standard error.

    Examples
    --------
    >>> import odrf
    >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), seed=1)
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
    def rule(self) -> str:
        """``"weakest_link"`` or ``"growth"``: which subtrees there are to choose from."""
        return self.subtrees.rule

    @property
    def loss(self) -> str:
        """``"error"`` or ``"impurity"``: what the training error is for classes."""
        return self.subtrees.loss

    @property
    def by(self) -> str:
        """Which rows were held out, in words; empty where none were."""
        return self.subtrees.by

    @property
    def is_evaluated(self) -> bool:
        """Whether held-out rows have judged the subtrees."""
        return self.subtrees.is_evaluated

    def row(self, rule: str = "min") -> int:
        """Return the row of the table that `best` takes.

        Parameters
        ----------
        rule : {"min", "1se"}, default "min"

        Raises
        ------
        InputError
            If `rule` is unknown, or no held-out rows have judged the subtrees.
        """
        return self.subtrees.row(rule)

    def best(self, rule: str = "min") -> Tree:
        """Return the subtree that held-out rows find best.

        Parameters
        ----------
        rule : {"min", "1se"}, default "min"
            - ``"min"``: smallest held-out error.
            - ``"1se"``: the smallest tree whose error is at most one standard error above that
              (Breiman et al. 1984, section 3.4.3).

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
        """Return the subtree in row `k` of the table, 0 being the largest.

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
            "Rule": RULES_IN_WORDS[self.rule],
            "Leaves grown": str(int(self.fit.forest.leaves()[0])),
            "Subtrees": str(len(self.table)),
            "Training error": error,
        }
        notes = [
            "A subtree is chosen by prune(alpha=) from its alpha up to the next row's. "
            "Errors are those of the rows the tree was grown on; relative ones are shares of the "
            f"root's, {number(float(self.table['error'].iloc[-1]))}."
        ]
        if self.is_evaluated:
            facts["Judged by"] = self.by
            facts |= {
                words: f"{self.table['leaves'].iloc[self.row(rule)]} leaves"
                for rule, words in CHOICES_IN_WORDS.items()
            }
            notes.append(
                f"xerror is the {error_name(self.fit.kind)} of the held-out rows as a share of "
                "the root's in training, xstd its standard error."
            )
        kept = [self.row(rule) for rule in CHOICES] if self.is_evaluated else []
        shown = some_rows(self.table[::-1], kept)[::-1]
        of = "" if len(shown) == len(self.table) else f" ({len(shown)} of {len(self.table)})"
        sections = {f"Subtrees{of}": shown}
        return Summary("Pruning path", self.fit.call, facts, sections, tuple(notes))

    def plot(self, *, rule: str = "1se", ax: Axes | None = None) -> Axes:
        """Draw the held-out error of each subtree; without held-out rows, the training error.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            Which subtree is marked as chosen.
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
        if rule not in CHOICES:
            raise allowed("rule", rule, CHOICES)
        if self.is_evaluated:
            what = f"held-out {error_name(self.fit.kind)}, share of the root's"
            row, words = self.row(rule), CHOICES_IN_WORDS[rule]
            return plots.plot_error_path(self.table, self.row("min"), row, words, what, ax)
        along = growth_errors(self.fit.forest, self.loss) if self.rule == GROWTH else None
        error = loss_name(self.fit, self.loss)
        return plots.plot_path(self.table, along, error, ax)

    def __repr__(self) -> str:
        return f"PruningPath: {len(self.table)} subtrees\n{self.table.to_string()}"
