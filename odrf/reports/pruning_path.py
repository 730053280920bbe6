"""The subtrees that pruning can choose, and what held-out rows say of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.errors import InputError, allowed
from odrf.fits.prediction.scores import error_name, loss_name
from odrf.plots.path import plot_judged_path, plot_path
from odrf.pruning.choosing import CHOICES, chosen
from odrf.pruning.complexity import GROWTH, root_errors
from odrf.pruning.held_out import HeldOut
from odrf.pruning.subtrees import growth_errors, nested_subtrees
from odrf.text.summary import Summary
from odrf.text.wording import number

if TYPE_CHECKING:
    from odrf.results.tree import ODTResults

__all__ = ["CHOICES_IN_WORDS", "RULES_IN_WORDS", "PruningPath", "some_rows"]

SHOWN = 25
CHOICES_IN_WORDS = {"min": "Smallest error", "1se": "1-SE rule"}
RULES_IN_WORDS = {"weakest_link": "weakest link", "growth": "growth order"}


class PruningPath:
    """The nested subtrees of a tree that some complexity α chooses, the largest first.

    `odrf.results.tree.ODTResults.pruning_path` makes it.

    Parameters
    ----------
    grown : ODTResults
        The tree to prune.
    rule : {"weakest_link", "growth"}
        Which subtrees there are to choose from.
    loss : {"error", "impurity"}
        What the training error is for classes.
    held_out : HeldOut, optional
        What rows that were held out say of each subtree.
    by : str
        Which rows those were, for the summary.

    Attributes
    ----------
    grown : ODTResults
    rule, loss, by : str
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

    def __init__(
        self, grown: ODTResults, rule: str, loss: str, held_out: HeldOut | None, by: str
    ) -> None:
        self.grown, self.rule, self.loss, self.by = grown, rule, loss, by
        subtrees = nested_subtrees(grown.forest, rule, loss)
        root = subtrees.error[-1]
        self.table = pd.DataFrame(
            {
                "alpha": subtrees.alpha,
                "leaves": subtrees.leaves,
                "error": subtrees.error,
                "relative_error": subtrees.error / root if root > 0 else 0.0,
            }
        )
        if held_out is not None:
            unit = root_errors(grown.forest)[0]
            unit = unit if unit > 0 else 1.0
            self.table["xerror"] = held_out.mean / unit
            self.table["xstd"] = held_out.standard_error / unit

    @property
    def is_judged(self) -> bool:
        """Whether held-out rows have judged the subtrees."""
        return "xerror" in self.table

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
        if rule not in CHOICES:
            raise allowed("rule", rule, CHOICES)
        if not self.is_judged:
            raise InputError(
                f'rule="{rule}" needs errors on held-out rows: make the path with cv=10 or '
                "validation="
            )
        return chosen(self.table["xerror"].to_numpy(), self.table["xstd"].to_numpy(), rule)

    def best(self, rule: str = "min") -> ODTResults:
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

    def tree(self, k: int) -> ODTResults:
        """Return the subtree in row `k` of the table, 0 being the largest.

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
        error = loss_name(self.grown.fit, self.loss)
        facts = {
            "Rule": RULES_IN_WORDS[self.rule],
            "Leaves grown": str(int(self.grown.n_leaves[0])),
            "Subtrees": str(len(self.table)),
            "Training error": error,
        }
        notes = [
            "A subtree is chosen by prune(alpha=) from its alpha up to the next row's. "
            "Errors are those of the rows the tree was grown on; relative ones are shares of the "
            f"root's, {number(float(self.table['error'].iloc[-1]))}."
        ]
        if self.is_judged:
            facts["Judged by"] = self.by
            facts |= {
                words: f"{self.table['leaves'].iloc[self.row(rule)]} leaves"
                for rule, words in CHOICES_IN_WORDS.items()
            }
            notes.append(
                f"xerror is the {error_name(self.grown.kind)} of the held-out rows as a share of "
                "the root's in training, xstd its standard error."
            )
        kept = [self.row(rule) for rule in CHOICES] if self.is_judged else []
        shown = some_rows(self.table[::-1], kept)[::-1]
        of = "" if len(shown) == len(self.table) else f" ({len(shown)} of {len(self.table)})"
        sections = {f"Subtrees{of}": shown}
        return Summary("Pruning path", self.grown.call, facts, sections, tuple(notes))

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
        if self.is_judged:
            what = f"held-out {error_name(self.grown.kind)}, share of the root's"
            row, words = self.row(rule), CHOICES_IN_WORDS[rule]
            return plot_judged_path(self.table, self.row("min"), row, words, what, ax)
        along = growth_errors(self.grown.forest, self.loss) if self.rule == GROWTH else None
        error = loss_name(self.grown.fit, self.loss)
        return plot_path(self.table, along, error, ax)

    def __repr__(self) -> str:
        return f"PruningPath: {len(self.table)} subtrees\n{self.table.to_string()}"


def some_rows(table: pd.DataFrame, kept: list[int]) -> pd.DataFrame:
    """Return about `SHOWN` rows at most: those labelled `kept` and, of the others, more above.

    The table goes from the smallest tree to the largest.
    """
    if len(table) <= SHOWN:
        return table
    spread = np.geomspace(1, len(table), SHOWN).round().astype(int) - 1
    return table[table.index.isin(table.index[spread].append(pd.Index(kept)))]
