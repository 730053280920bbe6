"""Approximation against estimation: training and test error of trees stopped at each size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_choice, checked_jobs
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.pruning import labelled_rows
from odrf.fits.scores import error_name
from odrf.pruning.complexity import CHOICES, MINIMUM, ONE_SE, chosen_row
from odrf.pruning.growth_stages import ALONG, LEAVES, Stages, evaluated_stages, stages_of
from odrf.pruning.validation import HeldOut
from odrf.public import public, warn_of_old
from odrf.public.progress import progress_bar
from odrf.reports.error_table import CHOICES_IN_WORDS, ErrorTable, shown_rows
from odrf.text.layouts import quantity
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GrowthPath", "growth_path"]

# Evaluates a fit at its stages on held-out rows; takes the number of threads, too.
Evaluate = Callable[[Fit, Stages, int], HeldOut]


@public
class GrowthPath(ErrorTable):
    """Training and test error of a tree or forest along its growth.

    With more leaves, trees approximate the regression function better (less bias), but fewer rows
    estimate the value of each leaf (more variance).  In Theorems 1 and 4 of Zhan, Liu and Xia this
    gives the conditions t_n → ∞ and t_n = o(n/ln⁴n).  Returned by
    `odrf.results.tree.ODTResults.growth_path` and
    `odrf.results.forest.ODRFResults.growth_path`.

    Parameters
    ----------
    fit : Fit
        The fit.
    grown : Fit
        The fit before pruning; `fit` itself if it was not pruned.
    along : {"leaves", "depth"}
        How the size of a tree is measured.
    stages : Stages
        The sizes.
    train, test : HeldOut
        Errors of training rows and of test rows, from the largest size to the smallest.
    by : str
        Which rows the test rows are, in words.

    Attributes
    ----------
    fit, grown : Fit
    along, by : str
    size : int
        Size of the largest tree of `fit`.
    table : DataFrame
        One row for each size, increasing.  Columns: ``leaves`` or ``depth``, the size at which
        trees stop, unless they stop earlier; ``mean_leaves``, for forests, the mean number of
        leaves of the trees (for a tree along the depth, ``leaves``); ``train`` and ``test``, mean
        squared error or misclassification rate of training rows and test rows; ``std_error``, the
        standard error of ``test`` over rows, or over groups of a fit with ``groups=`` (new rows
        without that column count as independent); missing if one row or group judges.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=25, seed=1)
    >>> path = forest.growth_path()
    >>> path.table.columns.tolist()
    ['leaves', 'mean_leaves', 'train', 'test', 'std_error']
    >>> bool(path.table["train"].iloc[-1] < path.table["train"].iloc[0])
    True
    >>> path.best_size("1se") <= path.best_size("min") <= path.size
    True
    """

    def __init__(
        self,
        fit: Fit,
        grown: Fit,
        along: str,
        stages: Stages,
        train: HeldOut,
        test: HeldOut,
        by: str,
    ) -> None:
        self.fit, self.grown, self.along, self.by = fit, grown, along, by
        stages_of_fit = stages if fit is grown else stages_of(fit.forest, along)
        self.size = int(stages_of_fit.sizes[-1])
        forest = grown.forest
        columns: dict[str, NDArray] = {along: stages.sizes}
        if forest.n_trees > 1:
            columns["mean_leaves"] = stages.leaves
        elif along != LEAVES:
            columns["leaves"] = stages.leaves.astype(np.int64)
        columns |= {"train": train.mean, "test": test.mean, "std_error": test.standard_error}
        for name in ("train", "test", "std_error"):
            columns[name] = columns[name][::-1]
        self.table = pd.DataFrame(columns)

    def best_size(self, rule: str = ONE_SE) -> int:
        """Return the size that the test errors choose: a number of leaves, or a depth.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            As in `row`.

        Returns
        -------
        int

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        return int(self.table[self.along].iloc[self.row(rule)])

    @property
    def best(self) -> int:
        """The old spelling of ``best_size("min")``."""
        warn_of_old("GrowthPath.best", 'best_size("min")')
        return self.best_size(MINIMUM)

    @property
    def chosen(self) -> int:
        """The old spelling of ``best_size("1se")``."""
        warn_of_old("GrowthPath.chosen", 'best_size("1se")')
        return self.best_size(ONE_SE)

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        shown = shown_rows(self.table, [self.row(rule) for rule in CHOICES])
        of = "" if len(shown) == len(self.table) else f" ({len(shown)} of {len(self.table)})"
        note = (
            f"train and test are the {error_name(self.fit.kind)} of the training rows and of "
            f"{self.by}, std_error the standard error of the latter."
        )
        sections = {f"Sizes{of}": shown}
        return Summary("Growth path", self.fit.call, self._facts(), sections, (note,))

    def plot(self, *, rule: str = ONE_SE, ax: Axes | None = None) -> Axes:
        """Plot training and test error against the size.

        The size that the rule chooses and the size of this fit are marked.

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
        chosen = self.row(rule), CHOICES_IN_WORDS[rule]
        error = error_name(self.fit.kind)
        return plots.plot_growth(self.table, self.along, *chosen, self.size, error, self.by, ax)

    def _chosen_row(self, rule: str) -> int:
        # the smallest size is first, and the error is that of the test rows
        return len(self.table) - 1 - chosen_row(self.table[::-1], rule, "test")

    def _card(self) -> Card:
        facts = self._facts()
        title = (
            f"Growth path of {quantity(len(self.table), 'size')}, along the {facts.pop('Along')}"
        )
        return Card(title, facts, self.table, tuple(map(self.row, CHOICES)))

    def _facts(self) -> dict[str, str]:
        facts = {
            "Along": self.along,
            "Trees": str(self.grown.forest.n_trees),
            "Test error": self.by,
            "This fit": self._in_words(self.size),
        }
        for rule, words in CHOICES_IN_WORDS.items():
            line = self.table.iloc[self.row(rule)]
            facts[words] = f"{self._in_words(int(line[self.along]))}, {line['test']:.4g}"
        return facts

    def _in_words(self, size: int) -> str:
        if self.along == LEAVES:
            return quantity(size, "leaf", "leaves")
        return quantity(size, "level of splits", "levels of splits")


def growth_path(
    fit: Fit,
    along: str,
    newdata: pd.DataFrame | None,
    n_jobs: int | None,
    evaluate: Evaluate | None,
    by: str,
    progress: bool,
) -> GrowthPath:
    """Return the growth path of a fit.

    Parameters
    ----------
    fit : Fit
    along, newdata, n_jobs
        As in `odrf.results.tree.ODTResults.growth_path`.
    evaluate : callable or None
        Returns the test errors if there is no `newdata`; None if there is.
    by : str
        Which rows `evaluate` uses, in words.
    progress : bool
        Show a progress bar of the training rows.

    Raises
    ------
    InputError
        If an option is unknown or out of range, or there are no test rows.
    """
    checked_choice("along", along, ALONG)
    jobs = checked_jobs(n_jobs)
    grown = fit.first_grown
    stages = stages_of(grown.forest, along)
    if newdata is None:
        assert evaluate is not None
        test = evaluate(grown, stages, jobs)
    else:
        reading, X, y, groups = labelled_rows(grown, newdata, "newdata")
        test = evaluated_stages(reading.forest, stages, X, y, np.ones(len(y)), jobs, groups=groups)
        by = quantity(len(y), "new row")
    if test.weight == 0:
        raise InputError("every tree drew every row, and no row is out of bag: give newdata=")
    data = grown.data
    with progress_bar(
        total=len(data.y), desc="training rows", unit="row", progress=progress
    ) as bar:
        train = evaluated_stages(
            grown.forest, stages, data.X, data.y, data.weights, jobs, advance=bar.update
        )
    return GrowthPath(fit, grown, along, stages, train, test, by)
