"""Approximation against estimation: error of trees stopped at each size, seen rows and unseen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_jobs
from odrf.errors import InputError, allowed
from odrf.fits.evaluating import labelled_rows
from odrf.fits.fit import Fit
from odrf.fits.prediction.scores import error_name
from odrf.pruning.choosing import CHOICES, MINIMUM, ONE_SE, chosen_row
from odrf.pruning.growth_stages import ALONG, LEAVES, Stages, evaluated_stages, stages_of
from odrf.pruning.held_out import HeldOut
from odrf.reports.error_table import CHOICES_IN_WORDS, ErrorTable, some_rows
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GrowthPath", "growth_path"]

# Judges a fit at its stages on rows that its trees have not seen, with so many threads.
Judge = Callable[[Fit, Stages, int], HeldOut]


class GrowthPath(ErrorTable):
    """Errors of a tree or forest along the growth, on the training rows and on others.

    The more leaves, the better the trees approximate (the bias falls) and the fewer rows estimate
    the value of each (the variance rises): t_n → ∞ and t_n = o(n/ln⁴n) in Theorems 1 and 4 of
    Zhan, Liu and Xia.  `odrf.results.tree.ODTResults.growth_path` and
    `odrf.results.out_of_bag.OutOfBagResults.growth_path` make it.

    Parameters
    ----------
    fit : Fit
        The present fit.
    grown : Fit
        What it was pruned from, or itself.
    along : {"leaves", "depth"}
        What the size of a tree is.
    stages : Stages
        Where its trees stop.
    test : HeldOut
        What unseen rows say, from the largest size to the smallest.
    by : str
        Which rows those are.
    n_jobs : int
        Threads.

    Attributes
    ----------
    fit, grown : Fit
    along, by : str
    size : int
        Size of the present fit: of its largest tree.
    table : DataFrame
        One row for each size, rising.  ``leaves`` or ``depth``: where each tree stops that gets
        so far; ``mean_leaves`` of a forest, ``leaves`` of a tree along the depth: leaves there
        are then; ``train``, ``test``: mean squared error or misclassification rate of the
        training rows and of the unseen ones; ``std_error``, the standard error of ``test`` over
        rows.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=25, seed=1)
    >>> path = forest.growth_path()
    >>> path.table.columns.tolist()
    ['leaves', 'mean_leaves', 'train', 'test', 'std_error']
    >>> bool(path.table["train"].iloc[-1] < path.table["train"].iloc[0])
    True
    >>> path.chosen <= path.best <= path.size
    True
    """

    def __init__(
        self,
        fit: Fit,
        grown: Fit,
        along: str,
        stages: Stages,
        test: HeldOut,
        by: str,
        n_jobs: int,
    ) -> None:
        self.fit, self.grown, self.along, self.by = fit, grown, along, by
        own = stages if fit is grown else stages_of(fit.forest, along)
        self.size = int(own.sizes[-1])
        forest, data = grown.forest, grown.data
        columns: dict[str, NDArray] = {along: stages.sizes}
        if forest.n_trees > 1:
            columns["mean_leaves"] = stages.leaves
        elif along != LEAVES:
            columns["leaves"] = stages.leaves.astype(np.int64)
        train = evaluated_stages(forest, stages, data.X, data.y, data.weights, n_jobs)
        columns |= {"train": train.mean, "test": test.mean, "std_error": test.standard_error}
        for name in ("train", "test", "std_error"):
            columns[name] = columns[name][::-1]
        self.table = pd.DataFrame(columns)

    def row(self, rule: str = MINIMUM) -> int:
        """Return the row of the table that `rule` chooses.

        Parameters
        ----------
        rule : {"min", "1se"}, default "min"
            Smallest test error, the smallest size if tied; or the smallest size whose error is at
            most one standard error above (Breiman et al. 1984, section 3.4.3).

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        return len(self.table) - 1 - chosen_row(self.table[::-1], rule, "test")

    @property
    def best(self) -> int:
        """The size with the smallest test error."""
        return int(self.table[self.along].iloc[self.row(MINIMUM)])

    @property
    def chosen(self) -> int:
        """The smallest size whose test error is at most one standard error above the smallest."""
        return int(self.table[self.along].iloc[self.row(ONE_SE)])

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        unit = "leaves" if self.along == LEAVES else "levels of splits"
        facts = {
            "Along": self.along,
            "Trees": str(self.grown.forest.n_trees),
            "Test error": self.by,
            "This fit": f"{self.size} {unit}",
        }
        for rule, words in CHOICES_IN_WORDS.items():
            line = self.table.iloc[self.row(rule)]
            facts[words] = f"{line[self.along]:.0f} {unit}, {line['test']:.4g}"
        shown = some_rows(self.table, [self.row(rule) for rule in CHOICES])
        of = "" if len(shown) == len(self.table) else f" ({len(shown)} of {len(self.table)})"
        note = (
            f"train and test are the {error_name(self.fit.kind)} of the training rows and of "
            f"{self.by}, std_error the standard error of the latter over rows."
        )
        sections = {f"Sizes{of}": shown}
        return Summary("Growth path", self.fit.call, facts, sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw both errors against the size, the smallest test error and this fit's size marked.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
        """
        return plots.plot_growth(
            self.table, self.along, self.row(), self.size, error_name(self.fit.kind), self.by, ax
        )

    def __repr__(self) -> str:
        return f"GrowthPath: {len(self.table)} sizes\n{self.table.to_string()}"


def growth_path(
    fit: Fit,
    along: str,
    newdata: pd.DataFrame | None,
    n_jobs: int | None,
    judge: Judge,
    by: str,
) -> GrowthPath:
    """Return the growth path of `fit`, judged on `newdata` or, without, by `judge`, called `by`.

    Raises
    ------
    InputError
        If an option is unknown or out of range, or no row can judge.
    """
    if along not in ALONG:
        raise allowed("along", along, ALONG)
    jobs = checked_jobs(n_jobs)
    grown = fit.first_grown
    stages = stages_of(grown.forest, along)
    if newdata is None:
        test = judge(grown, stages, jobs)
    else:
        X, y = labelled_rows(grown, newdata, "newdata")
        test = evaluated_stages(grown.forest, stages, X, y, np.ones(len(y)), jobs)
        by = f"{len(y)} new row{'s' if len(y) > 1 else ''}"
    if test.weight == 0:
        raise InputError("every tree drew every row, so that none is out of bag: give newdata=")
    return GrowthPath(fit, grown, along, stages, test, by, jobs)
