"""Backward elimination of predictors by permutation importance and out-of-bag error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pandas as pd

from odrf import plots
from odrf.fits.fit import Fit
from odrf.fits.importance_tests import EliminationSteps, ResponseSteps
from odrf.pruning.complexity import ONE_SE
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.reports.error_table import CHOICES_IN_WORDS, ErrorTable
from odrf.statistics.importance_tests import most_important, steps_of_elimination
from odrf.text.layouts import quantity
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Elimination"]

Forest = TypeVar("Forest")


@public
class Elimination(ErrorTable, Generic[Forest]):
    """Backward elimination: forests on fewer and fewer predictors.

    Returned by `select_variables` of `odrf.results.forest.ODRFResults` and of
    `odrf.results.survival.survival_forest.SurvivalForestResults`.  Each step drops the predictors
    of smallest permutation importance and grows the forest again.  The error of the chosen step is
    optimistic, because it was used for the choice; evaluate the chosen forest on new rows.

    Parameters
    ----------
    fit : Fit
        The forest on all predictors.
    drop : float
        Share of the predictors that a step drops, at least one predictor.
    progress : bool
        Show a progress bar.
    result : callable
        Makes results of a fit.
    judged_by : EliminationSteps, optional
        How steps are judged and grown; by default as forests for numbers and classes.

    Attributes
    ----------
    fit : Fit
    table : DataFrame
        One row for each step, from all predictors to one.  Columns: ``predictors``, their number;
        ``error``, the out-of-bag mean squared error or misclassification rate, or of times to an
        event the integrated Brier score or 1 minus C; ``std_error``, its standard error over rows
        or groups; ``dropped``, the predictors that the next step drops.
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

    def __init__(
        self,
        fit: Fit,
        drop: float,
        progress: bool,
        result: Callable[[Any], Forest],
        judged_by: EliminationSteps | None = None,
    ) -> None:
        self.fit, self._result = fit, result
        steps_of = ResponseSteps(fit.kind) if judged_by is None else judged_by
        self._steps_of: EliminationSteps = steps_of
        names = fit.design.predictors
        which = np.arange(len(names))
        self._steps: list[list[int]] = []
        lines = []
        steps = steps_of_elimination(len(which), drop)
        with progress_bar(total=steps, unit="forest", progress=progress) as bar:
            while True:
                self._steps.append(which.tolist())
                error, std_error = steps_of.error_of(fit)
                kept = which[:0]
                if len(which) > 1:
                    kept = which[most_important(steps_of.importances_of(fit), drop)]
                dropped = [names[j] for j in which if j not in kept and len(which) > 1]
                lines.append((len(which), error, std_error, ", ".join(dropped)))
                bar.update()
                if len(which) == 1:
                    break
                which = kept
                fit = steps_of.grown_on(self.fit, which.tolist(), "")
        self.table = pd.DataFrame(lines, columns=["predictors", "error", "std_error", "dropped"])
        self.kept = [[names[j] for j in step] for step in self._steps]

    def selected(self, rule: str = ONE_SE) -> list[str]:
        """Return the names of the selected predictors.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            As in `row`.

        Returns
        -------
        list of str

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        return self.kept[self.row(rule)]

    def best(self, rule: str = ONE_SE, *, progress: bool = False) -> Forest:
        """Grow the forest again on the selected predictors.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            As in `row`.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ODRFResults or SurvivalForestResults

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        call = f"{self.fit.call}.select_variables().best({rule!r})"
        which = self._steps[self.row(rule)]
        return self._result(self._steps_of.grown_on(self.fit, which, call, progress))

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        facts = {"Method": "backward elimination", "Error": f"OOB {self._steps_of.error}"}
        facts |= self._choices()
        note = f"The 1-SE rule keeps {', '.join(self.selected())}."
        return Summary("Variable selection", self.fit.call, facts, {"Steps": self.table}, (note,))

    def plot(self, *, rule: str = ONE_SE, ax: Axes | None = None) -> Axes:
        """Plot the out-of-bag error against the number of predictors.

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
        row, words = self.row(rule), CHOICES_IN_WORDS[rule]
        error = f"out-of-bag {self._steps_of.error}"
        return plots.plot_elimination(self.table, self.row("min"), row, words, error, ax)

    def _card(self) -> Card:
        title = f"Backward elimination of predictors in {quantity(len(self.table), 'step')}"
        return Card(title, self._choices(), self.table, tuple(map(self.row, CHOICES_IN_WORDS)))

    def _choices(self) -> dict[str, str]:
        """Return what the rules choose."""
        return {
            words: quantity(len(self.selected(rule)), "predictor")
            for rule, words in CHOICES_IN_WORDS.items()
        }
