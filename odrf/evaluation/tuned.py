"""Result of `tune`: the error of each candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from odrf import plots
from odrf.results.base import TreeResults
from odrf.text.card import Card, Carded
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Tuning"]

SHOWN = 20
ERROR_COLUMNS = ["error", "std_error"]


class Tuning(Carded):
    """Candidates, which are combinations of options, and their errors.  Made by `odrf.tune`.

    Parameters
    ----------
    call : str
        The call, for the summary.
    table : DataFrame
        See below.
    candidates : mapping of int to dict
        The options of each candidate, by the index of `table`.
    refit : callable
        Fits the model to all rows with the options it is called with.
    facts : mapping
        How the candidates were evaluated, for the summary.

    Attributes
    ----------
    call : str
    table : DataFrame
        One row for each candidate, the best first.  One column for each option of the grid;
        ``error``, the mean squared error or misclassification rate; ``std_error``, its standard
        error.  After successive halving also ``trees``, the number of trees in the last round
        that the candidate took part in.
    """

    def __init__(
        self,
        call: str,
        table: pd.DataFrame,
        candidates: Mapping[int, dict[str, Any]],
        refit: Callable[..., TreeResults],
        facts: Mapping[str, str],
    ) -> None:
        by = ["trees", "error"] if "trees" in table else ["error"]
        ascending = [name == "error" for name in by]
        self.call = call
        self.table = table.sort_values(by, ascending=ascending, kind="stable")
        self._candidates, self._refit, self._facts = candidates, refit, dict(facts)

    @property
    def options(self) -> list[str]:
        """The options of the grid."""
        return [str(name) for name in self.table if name not in (*ERROR_COLUMNS, "trees")]

    @property
    def best_options(self) -> dict[str, Any]:
        """The options of the best candidate."""
        return dict(self._candidates[int(self.table.index[0])])

    @cached_property
    def best(self) -> TreeResults:
        """The model with the best candidate's options, fitted to all rows."""
        return self._refit(**self.best_options)

    def summary(self) -> Summary:
        """Return the candidates and their errors, as a summary with text, HTML and LaTeX output."""
        shown = self.table.head(SHOWN)
        of = f" (best {SHOWN} of {len(self.table)})" if len(self.table) > SHOWN else ""
        best = ", ".join(f"{name}={value!r}" for name, value in self.best_options.items())
        note = (
            f"Best: {best}.  Its error is optimistic, because it is the smallest of several: "
            "evaluate the best model on new rows."
        )
        return Summary("Tuning", self.call, self._facts, {f"Candidates{of}": shown}, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the errors, with bars of one standard error to either side.

        If the grid has one numeric option, the error is drawn against its values.  Otherwise each
        candidate is a row, the best on top.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
        """
        error = self._facts["Error"]
        if len(self.options) == 1:
            values = self.table[self.options[0]]
            if is_numeric_dtype(values) and not is_bool_dtype(values):
                return plots.plot_option(self.options[0], values, self.table, error, ax)
        labels = [
            ", ".join(f"{name}={row[name]}" for name in self.options)
            for _, row in self.table.iterrows()
        ]
        return plots.plot_candidates(np.array(labels), self.table, error, ax)

    def _card(self) -> Card:
        return Card(f"Tuning of {len(self.table)} candidates", self._facts, self.table)
