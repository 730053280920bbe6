"""Result of `tune`: the error of each candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from odrf import plots
from odrf.checks import checked_truth
from odrf.evaluation.metrics import Metric
from odrf.public import MethodNow, public
from odrf.results.base import FittedResults
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Judged", "Tuning"]

SHOWN = 20


class Judged(NamedTuple):
    """How a candidate was evaluated: its score, the standard error, and the trees if halved."""

    estimate: float
    std_error: float
    trees: int | None = None


class _Refitted(NamedTuple):
    """Returns the best model, which has been fitted already."""

    fit: FittedResults

    def __call__(self, **_: Any) -> FittedResults:
        return self.fit


@public
class Tuning(Carded):
    """Candidates, which are combinations of options, and their errors.  Made by `odrf.tune`.

    Parameters
    ----------
    call : str
        The call, for the summary.
    candidates : mapping of int to dict
        The options of each candidate, as they were given, by its number.
    complete : mapping of int to dict
        The same, with the model's defaults of options that only other candidates name.
    judged : mapping of int to Judged
        How each candidate was evaluated.
    metric : Metric
    refit : callable
        Fits the model to all rows with the options it is called with.
    facts : mapping
        How the candidates were evaluated, for the summary.
    seed : int

    Attributes
    ----------
    call : str
    table : DataFrame
        One row for each candidate, the best first; the index has its number, from 0, in the order
        of the grid.  One column for each option of the grid, with the values as they were given, or
        the model's default where a combination does not name the option; ``error``, or ``score``
        for a metric of which more is better; ``std_error``, its standard error.  After successive
        halving also ``trees``, the number of trees in the last round that the candidate took part
        in; the candidates with the most trees come first.
    metric : Metric
    seed : int
    """

    def __init__(
        self,
        call: str,
        candidates: Mapping[int, dict[str, Any]],
        complete: Mapping[int, dict[str, Any]],
        judged: Mapping[int, Judged],
        metric: Metric,
        refit: Callable[..., FittedResults],
        facts: Mapping[str, str],
        seed: int,
    ) -> None:
        self.call, self.metric, self.seed = call, metric, seed
        self._candidates, self._refit, self._facts = candidates, refit, dict(facts)
        self.options = list(complete[0])
        """The options of the grid."""
        found = [judged[i] for i in complete]
        columns = {
            name: _as_given([options[name] for options in complete.values()])
            for name in self.options
        }
        if any(one.trees is not None for one in found):
            columns["trees"] = pd.Series([one.trees for one in found])
        columns[self._column] = pd.Series([one.estimate for one in found])
        columns["std_error"] = pd.Series([one.std_error for one in found])
        table = pd.DataFrame(columns)
        loss = metric.sign * table[self._column]
        order = loss.sort_values(kind="stable").index
        if "trees" in table:
            order = table["trees"][order].sort_values(ascending=False, kind="stable").index
        self.table = table.loc[order]

    @property
    def _column(self) -> str:
        return "score" if self.metric.greater_is_better else "error"

    @property
    def best_options(self) -> dict[str, Any]:
        """The options of the best candidate."""
        return dict(self._candidates[int(self.table.index[0])])

    @cached_property
    def best(self) -> MethodNow[FittedResults]:
        """The method ``best()``: the model with the best candidate's options, fitted to all rows.

        ``best(progress=True)`` shows a progress bar of this fit.

        It was once an attribute; without the parentheses it works as the model, with a
        `FutureWarning`.
        """
        return MethodNow("Tuning.best", self._fitted)

    def _fitted(self, *, progress: bool = False) -> FittedResults:
        bar = {"progress": True} if checked_truth("progress", progress) else {}
        return self._refit(**self.best_options, **bar)

    def __getstate__(self) -> dict[str, Any]:
        """Keep the best model in place of the functions that fit it, which may not pickle."""
        state = {name: value for name, value in vars(self).items() if name != "best"}
        return {**state, "_refit": _Refitted(self.best())}

    def summary(self) -> Summary:
        """Return the candidates and their errors, as a summary with text, HTML and LaTeX output."""
        shown = self.table.head(SHOWN)
        of = f" (best {SHOWN} of {len(self.table)})" if len(self.table) > SHOWN else ""
        best = ", ".join(f"{name}={value!r}" for name, value in self.best_options.items())
        note = (
            f"Best: {best}.  Its {self._column} is optimistic, because it is the best of several: "
            "evaluate the best model on new rows."
        )
        return Summary("Tuning", self.call, self._facts, {f"Candidates{of}": shown}, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the errors, with bars of one standard error to either side.

        If the grid has a single option, and its values are numbers, the error is drawn against
        them.  Otherwise each candidate is a row, the best on top.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
        """
        error, table = self.metric.words, self.table.rename(columns={self._column: "error"})
        if len(self.options) == 1:
            values = self.table[self.options[0]]
            if is_numeric_dtype(values) and not is_bool_dtype(values):
                return plots.plot_option(self.options[0], values, table, error, ax)
        return plots.plot_candidates(self.table[self.options], table, error, ax)

    def _card(self) -> Card:
        return Card(f"Tuning of {len(self.table)} candidates", self._facts, self.table)


def _as_given(values: list[Any]) -> pd.Series:
    """Return values of an option as a column, in which None stays None."""
    column = pd.Series(values, dtype=object)
    return column if column.isna().any() else column.infer_objects()
