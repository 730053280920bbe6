"""Result of `approximation_curve`: errors of models that are trained on subsets of the rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.evaluation.metrics import Metric
from odrf.public import public
from odrf.reports.sensitivity import METHODS
from odrf.text.summary import Card, Carded, Summary

__all__ = ["ApproximationCurve"]


@public
class ApproximationCurve(Carded):
    """Error against the share of the training rows that is kept.

    Made by `odrf.approximation_curve`.

    Parameters
    ----------
    errors : DataFrame
        One row for each ``repeat``, ``method`` and ``fraction``; one column for each model.
    metric : Metric
    formula : str
    n, n_test : int
        Training rows to choose from, and test rows.
    seed : int

    Attributes
    ----------
    errors : DataFrame
    metric : Metric
    formula : str
    n, n_test, seed : int
    """

    def __init__(
        self, errors: pd.DataFrame, metric: Metric, formula: str, n: int, n_test: int, seed: int
    ) -> None:
        self.errors, self.metric, self.formula = errors, metric, formula
        self.n, self.n_test, self.seed = n, n_test, seed

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.errors.columns)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Mean error, ``error``, and its standard error over repeats, ``std_error``.

        Indexed by ``model``, ``method`` and ``fraction``.  The methods are those of
        `GRAFResults.approximate`.  The standard error is NaN if there is one repeat only.
        """
        levels = ["model", "method", "fraction"]
        groups = self.errors.stack().groupby(level=levels, sort=False)
        means = pd.DataFrame({"error": groups.mean(), "std_error": groups.sem()})
        fractions = self.errors.index.unique("fraction")
        return means.reindex(
            pd.MultiIndex.from_product([self.models, METHODS, fractions], names=levels)
        )

    def summary(self) -> Summary:
        """Return the mean errors of each model, as a summary with text, HTML and LaTeX output."""
        sections = {}
        for model in self.models:
            for column, title in (
                ("error", "mean error"),
                ("std_error", "standard error over repeats"),
            ):
                wide = self.table.loc[model][column].unstack("fraction")
                wide = wide.reindex([*METHODS]).rename(index=METHODS)
                sections[f"{model}: {title}, by the share of rows kept"] = wide
        call = f"approximation_curve(fit, newdata, …, seed={self.seed})"
        note = "Each repeat draws new subsets and refits the models; the test rows stay the same."
        return Summary("Approximation of data", call, self._facts(), sections, (note,))

    def plot(self, *, ax: NDArray | None = None) -> NDArray[np.object_]:
        """Draw the mean error against the share of rows that is kept ([G], Figure 13).

        Bars are one standard error to either side.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Where to draw, one for each model; by default on a new figure.

        Returns
        -------
        array of Axes
        """
        return plots.plot_approximation(self.table, METHODS, self.metric.words, ax)

    def _card(self) -> Card:
        errors = self.table["error"].unstack("fraction", sort=False)
        title = "Approximation of data: mean errors by the share of rows kept"
        return Card(title, self._facts(), errors)

    def _facts(self) -> dict[str, str]:
        return {
            "Metric": self.metric.words,
            "Rows": str(self.n),
            "Repeats": str(self.errors.index.unique("repeat").size),
            "Test rows": str(self.n_test),
        }
