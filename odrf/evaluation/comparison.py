"""What a comparison of models has found."""

from __future__ import annotations

from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.evaluation.metrics import Metric
from odrf.evaluation.paired import (
    bonferroni,
    corrected_se,
    corrected_t,
    critical_difference,
    differences,
    mean_ranks,
    signed_rank,
    wins,
)
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison"]


class Comparison:
    """Scores of models that were all judged on the same folds, and what they say.

    `odrf.compare` makes it.

    Parameters
    ----------
    scores : DataFrame
        A row for each fold, a column for each model.
    metric : Metric
        What the models are judged by.
    formula : str or None
        As given; None if every table has its own.
    sizes : dict of str to int
        Rows of each table.
    cv : int
        Folds that a table is divided into.
    seed : int

    Attributes
    ----------
    scores : DataFrame
        The metric of each model (columns) on each fold; index ``table``, ``repeat``, ``fold``,
        the last two counted from 1.
    metric : Metric
    formula : str or None
    sizes : dict of str to int
    cv, seed : int

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> models = {"all": ("progression ~ .", odrf.odt), "two": ("progression ~ bmi + bp", odrf.odt)}
    >>> comparison = odrf.compare("progression ~ .", data, models, cv=5, seed=1)
    >>> comparison.table.columns.tolist()
    ['mean', 'se', 'rank', 'wins']
    >>> comparison.pairs.index.tolist()
    [('all', 'two'), ('two', 'all')]
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        metric: Metric,
        formula: str | None,
        sizes: dict[str, int],
        cv: int,
        seed: int,
    ) -> None:
        self.scores, self.metric, self.formula = scores, metric, formula
        self.sizes, self.cv, self.seed = sizes, cv, seed

    @property
    def call(self) -> str:
        """The call that made the comparison."""
        metric = self.metric
        asked = repr(metric.name) if metric.kind is not None else metric.name
        repeats = f", repeats={self.repeats}" if self.repeats > 1 else ""
        return (
            f"compare({self.formula!r}, data, models, cv={self.cv}{repeats}, metric={asked}, "
            f"seed={self.seed})"
        )

    @property
    def repeats(self) -> int:
        """How often each table was divided into folds."""
        return int(self.scores.index.get_level_values("repeat").max())

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, as given."""
        return tuple(self.scores.columns)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Mean score of each model (columns) on each table."""
        return self.scores.groupby(level="table", sort=False).mean()

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each model, the best first.

        ``mean``: mean score over the folds; with several tables, over their means, which says
        something where all are measured in the same unit; ranks always do.  ``se``: its
        standard error, corrected for the overlap of training sets (Nadeau and Bengio 2003); with
        several tables, that over tables.  ``rank``: mean rank over the folds, or tables, 1 being
        the best.  ``wins``: folds, or tables, on which no model is better; ties count for each.
        """
        judged = self._losses
        ratio = 0.0 if self._several else self._ratio
        table = pd.DataFrame(
            {
                "mean": self.metric.sign * judged.mean(axis=0),
                "se": corrected_se(judged, ratio),
                "rank": mean_ranks(judged),
                "wins": wins(judged),
            },
            index=self.scores.columns,
        )
        order = table["rank"] if self._several else self.metric.sign * table["mean"]
        return table.loc[order.sort_values(kind="stable").index]

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """One row for each ordered pair of models, to tell whether `model` is better than `than`.

        ``difference``: mean difference of their scores.  ``p_wilcoxon``: p-value of Wilcoxon's
        one-sided signed-rank test over the folds, or the means of several tables (Demšar 2006).
        ``p_adjusted``: the same after Bonferroni's correction for all these tests.

        With one table, further ``t`` and ``p_t``: the corrected resampled t of the difference,
        with its sign, and its one-sided p-value (Nadeau and Bengio 2003).  Folds share
        most of their training rows; Wilcoxon's test takes them for independent and finds
        differences too readily, this one does not.  ``p_t_adjusted``: after Bonferroni's
        correction.
        """
        losses = dict(zip(self.models, self._losses.T, strict=True))
        ordered = list(permutations(self.models, 2))
        between = [differences(losses[one], losses[other]) for one, other in ordered]
        table = pd.DataFrame(
            {
                # -0.0 is no way to write that there is none
                "difference": [self.metric.sign * found.mean() + 0.0 for found in between],
                "p_wilcoxon": [signed_rank(found) for found in between],
            },
            index=pd.MultiIndex.from_tuples(ordered, names=["model", "than"]),
        )
        table["p_adjusted"] = bonferroni(table["p_wilcoxon"].to_numpy())
        if not self._several:
            t, p = np.array([corrected_t(found, self._ratio) for found in between]).T
            table["t"] = self.metric.sign * t + 0.0
            table["p_t"] = p
            table["p_t_adjusted"] = bonferroni(table["p_t"].to_numpy())
        return table

    @property
    def critical_difference(self) -> float | None:
        """The difference of mean ranks that is significant at 5 % by Nemenyi's test.

        None with one table: its folds are no sample of independent problems.
        """
        if not self._several:
            return None
        return critical_difference(len(self.models), len(self.sizes))

    def summary(self) -> Summary:
        """Return the tables as a summary with text, HTML and LaTeX output."""
        return Summary(
            "Comparison of models", self.call, self._facts(), self._sections(), self._notes()
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw each model's mean score, the best on top; with several tables, the mean ranks.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
            Dots with one standard error to either side, as in `table`; or the diagram of Demšar
            (2006), in which a bar joins models whose ranks differ by less than
            `critical_difference`.
        """
        if self.critical_difference is None:
            folds = f"{self.cv}-fold cross-validation"
            return plots.plot_means(self.table, f"{self.metric.words}, {folds}", ax)
        return plots.plot_ranks(self.table["rank"], self.critical_difference, ax=ax)

    def __repr__(self) -> str:
        tables = f"{len(self.sizes)} tables, " if self._several else ""
        return (
            f"Comparison: {len(self.models)} models, {tables}{self.cv} folds, "
            f"{self.metric.words}\n{self.table.to_string()}"
        )

    @property
    def _several(self) -> bool:
        return len(self.sizes) > 1

    @property
    def _ratio(self) -> float:
        """Rows of a test set divided by those of a training set."""
        return 1.0 / (self.cv - 1)

    @cached_property
    def _losses(self) -> NDArray[np.float64]:
        """What is compared, less being better: a row for each fold, or for each of the tables."""
        judged = self.means if self._several else self.scores
        return self.metric.sign * judged.to_numpy()

    def _facts(self) -> dict[str, str]:
        better = "larger" if self.metric.greater_is_better else "smaller"
        fewest, most = min(self.sizes.values()), max(self.sizes.values())
        facts = {"Models": str(len(self.models))}
        if self._several:
            facts["Tables"] = str(len(self.sizes))
        facts |= {
            "Rows": str(fewest) if fewest == most else f"{fewest} to {most}",
            "Folds": f"{self.cv}" + (f" × {self.repeats} repeats" if self.repeats > 1 else ""),
            "Metric": self.metric.words,
            "Better": better,
        }
        if self.critical_difference is not None:
            facts["Critical difference"] = f"{self.critical_difference:.3g}"
        return facts

    def _sections(self) -> dict[str, pd.DataFrame]:
        sections = {"Models, the best first": self.table.rename_axis(None)}
        order = {name: place for place, name in enumerate(self.table.index)}
        kept = [(one, other) for one, other in self.pairs.index if order[one] < order[other]]
        kept.sort(key=lambda pair: (order[pair[0]], order[pair[1]]))
        pairs = self.pairs.loc[kept]
        pairs.index = pd.Index([f"{one} / {other}" for one, other in kept])
        sections["Pairs: the first better than the second"] = pairs
        if self._several:
            sections["Mean scores by table"] = self.means
        return sections

    def _notes(self) -> tuple[str, ...]:
        tests = len(self.models) * (len(self.models) - 1)
        adjusted = f"Adjusted p-values are Bonferroni's for {tests} one-sided tests."
        if self._several:
            return (
                "Ranks and tests are over the tables' means (Demšar 2006); mean ranks that differ "
                f"by more than the critical difference do so at 5 % (Nemenyi). {adjusted}",
            )
        return (
            "se and t are corrected for training sets that overlap (Nadeau and Bengio 2003); "
            f"Wilcoxon's test is not, and finds differences too readily. {adjusted}",
        )
