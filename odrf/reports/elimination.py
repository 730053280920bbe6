"""Backward elimination of predictors, judged out of bag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from tqdm import tqdm

from odrf.errors import allowed
from odrf.fits.prediction.scores import error_name, out_of_bag_loss
from odrf.fits.regrowing import permutation_rises, regrown
from odrf.plots.selection import plot_elimination
from odrf.pruning.choosing import CHOICES, ONE_SE, chosen
from odrf.reports.pruning_path import CHOICES_IN_WORDS
from odrf.statistics.selection import most_important
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from odrf.results.forest import ODRFResults

__all__ = ["Elimination"]


class Elimination:
    """Forests on fewer and fewer predictors, the least important dropped at each step.

    `odrf.results.forest.ODRFResults.select_variables` makes it.  The errors are those of the steps
    among which one is chosen, so the chosen one's is a little too low: judge it on new rows.

    Parameters
    ----------
    forest : ODRFResults
        The forest on all predictors.
    drop : float
        Share of the predictors that a step drops, at least one.
    progress : bool
        Show a progress bar.

    Attributes
    ----------
    forest : ODRFResults
    table : DataFrame
        One row for each step, from all predictors to one: ``predictors``, how many there are;
        ``error``, the out-of-bag mean squared error or misclassification rate, and ``std``, its
        standard error over rows; ``dropped``, what the next step leaves out.
    kept : list of lists of str
        The predictors of each step.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=25, seed=1)
    >>> steps = forest.select_variables()
    >>> steps.table["predictors"].tolist()
    [10, 8, 7, 6, 5, 4, 3, 2, 1]
    """

    def __init__(self, forest: ODRFResults, drop: float, progress: bool) -> None:
        self.forest = forest
        fit, names = forest.fit, forest.design.predictors
        which = np.arange(len(names))
        self._steps: list[list[int]] = []
        lines = []
        with tqdm(unit="forest", disable=not progress) as bar:
            while True:
                self._steps.append(which.tolist())
                error, spread = out_of_bag_loss(fit)
                left = which[:0]
                if len(which) > 1:
                    left = which[most_important(permutation_rises(fit).mean(axis=0), drop)]
                gone = [names[j] for j in which if j not in left and len(which) > 1]
                lines.append((len(which), error, spread, ", ".join(gone)))
                bar.update()
                if len(which) == 1:
                    break
                which = left
                fit = regrown(forest.fit, which.tolist(), "")
        self.table = pd.DataFrame(lines, columns=["predictors", "error", "std", "dropped"])
        self.kept = [[names[j] for j in step] for step in self._steps]

    def row(self, rule: str = ONE_SE) -> int:
        """Return the row of the table that `best` takes.

        Raises
        ------
        InputError
            If `rule` is neither ``"min"`` nor ``"1se"``.
        """
        if rule not in CHOICES:
            raise allowed("rule", rule, CHOICES)
        return chosen(self.table["error"].to_numpy(), self.table["std"].to_numpy(), rule)

    def selected(self, rule: str = ONE_SE) -> list[str]:
        """Return the names of the predictors that the rule keeps; see `best`."""
        return self.kept[self.row(rule)]

    def best(self, rule: str = ONE_SE) -> ODRFResults:
        """Grow the forest on the predictors that the out-of-bag errors find best.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            The step with the smallest error, or the one with the fewest predictors whose error is
            at most one standard error above it.
        """
        call = f"{self.forest.call}.select_variables().best({rule!r})"
        return type(self.forest)(regrown(self.forest.fit, self._steps[self.row(rule)], call))

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        facts = {"Method": "backward elimination", "Error": f"OOB {error_name(self.forest.kind)}"}
        facts |= {
            words: f"{len(self.selected(rule))} predictors"
            for rule, words in CHOICES_IN_WORDS.items()
        }
        note = f"The 1-SE rule keeps {', '.join(self.selected())}."
        return Summary(
            "Variable selection", self.forest.call, facts, {"Steps": self.table}, (note,)
        )

    def plot(self, *, rule: str = ONE_SE, ax: Axes | None = None) -> Axes:
        """Draw the out-of-bag error against the number of predictors.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            Which step is marked as chosen.
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        row, words = self.row(rule), CHOICES_IN_WORDS[rule]
        error = f"out-of-bag {error_name(self.forest.kind)}"
        return plot_elimination(self.table, self.row("min"), row, words, error, ax)

    def __repr__(self) -> str:
        return f"Elimination: {len(self.table)} steps\n{self.table.to_string()}"
