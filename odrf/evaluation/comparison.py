"""Result of `compare`: scores of models on the same folds, and tests between them."""

from __future__ import annotations

from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.evaluation.metrics import Metric
from odrf.evaluation.paired import (
    bonferroni,
    corrected_std_error,
    corrected_t,
    critical_difference,
    differences,
    mean_ranks,
    signed_rank,
    wins,
)
from odrf.public import public
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "FoldsUsed"]


class FoldsUsed(NamedTuple):
    """Folds of a comparison.

    Attributes
    ----------
    k : int
        Number of folds; of tables with different numbers, the largest.
    spelled : str
        The arguments that make the folds, as the call shows them.
    by : str
        The name of the method, such as "10-fold cross-validation".
    ratio : float
        Number of test rows divided by number of training rows, of all folds.
    """

    k: int
    spelled: str
    by: str
    ratio: float


# Why there is no t-test.
EQUAL = (
    "Where two models differ by the same in all folds, these do not tell how the difference "
    "varies: there is no t-test."
)


@public
class Comparison(Carded):
    """Scores of models on the same folds, with standard errors, ranks and tests.

    Made by `odrf.compare`.

    Parameters
    ----------
    scores : DataFrame
        One row for each fold, one column for each model.
    metric : Metric
        The metric of the scores.
    formula : str or None
        None if every table has its own formula.
    sizes : dict of str to int
        Rows of each table.
    folds : FoldsUsed
    seed : int

    Attributes
    ----------
    scores : DataFrame
        The score of each model (columns) on each fold.  Indexed by ``table``, ``repeat`` and
        ``fold``; the last two count from 1.
    metric : Metric
    formula : str or None
    sizes : dict of str to int
    folds : FoldsUsed
        The number of folds, the name of the method, and how many rows test beside those that train.
    seed : int

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> models = {"all": ("progression ~ .", odrf.odt), "two": ("progression ~ bmi + bp", odrf.odt)}
    >>> comparison = odrf.compare("progression ~ .", data, models, cv=5, seed=1)
    >>> comparison.table.columns.tolist()
    ['estimate', 'std_error', 'rank', 'wins']
    >>> comparison.pairs.index.tolist()
    [('all', 'two'), ('two', 'all')]
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        metric: Metric,
        formula: str | None,
        sizes: dict[str, int],
        folds: FoldsUsed,
        seed: int,
    ) -> None:
        self.scores, self.metric, self.formula = scores, metric, formula
        self.sizes, self.folds, self.seed = sizes, folds, seed

    @property
    def call(self) -> str:
        """The call that made the comparison."""
        metric = self.metric
        name = repr(metric.name) if metric.kind is not None else metric.name
        repeats = f", repeats={self.repeats}" if self.repeats > 1 else ""
        return (
            f"compare({self.formula!r}, data, models, {self.folds.spelled}{repeats}, "
            f"metric={name}, seed={self.seed})"
        )

    @property
    def cv(self) -> int:
        """Number of folds; of tables with different numbers, the largest."""
        return self.folds.k

    @property
    def repeats(self) -> int:
        """How often each table was divided into folds."""
        return int(self.scores.index.get_level_values("repeat").max())

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.scores.columns)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Mean score of each model (columns) on each table."""
        return self.scores.groupby(level="table", sort=False).mean()

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each model, the best first.

        - ``estimate``: mean score over the folds.  With several tables, the mean of their means;
          compare it only if all responses have the same unit, otherwise compare ranks.
        - ``std_error``: its standard error, corrected for the overlap of training sets (Nadeau and
          Bengio 2003); with several tables, the standard error over tables.
        - ``rank``: mean rank over the folds, or over the tables; 1 is best.
        - ``wins``: number of folds, or tables, on which no model is better.  Ties count for each.
        """
        losses = self._losses
        ratio = 0.0 if self._several_tables else self._ratio
        table = pd.DataFrame(
            {
                "estimate": self.metric.sign * losses.mean(axis=0),
                "std_error": corrected_std_error(losses, ratio),
                "rank": mean_ranks(losses),
                "wins": wins(losses),
            },
            index=self.scores.columns,
        )
        order = table["rank"] if self._several_tables else self.metric.sign * table["estimate"]
        return table.loc[order.sort_values(kind="stable").index]

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Tests, for each ordered pair of models, that `model` is better than `than`.

        ``difference`` is the mean difference of their scores.

        Wilcoxon's one-sided signed-rank test, over the folds, or over the means of several tables
        (Demšar 2006): ``p_value_wilcoxon``, and ``p_adjusted_wilcoxon`` after Bonferroni's
        correction for all pairs.

        With one table also the one-sided corrected resampled t-test (Nadeau and Bengio 2003):
        ``statistic_t``, with the sign of the difference, ``p_value_t`` and ``p_adjusted_t``.  It
        allows for training sets that overlap; it is NaN where the scores differ by the same in all
        folds.  Wilcoxon's test takes the folds for independent,
        so its p-values are too small.
        """
        losses = dict(zip(self.models, self._losses.T, strict=True))
        ordered = list(permutations(self.models, 2))
        between = [differences(losses[model], losses[than]) for model, than in ordered]
        table = pd.DataFrame(
            {
                # adding 0.0 turns -0.0 into 0.0
                "difference": [self.metric.sign * pair.mean() + 0.0 for pair in between],
                "p_value_wilcoxon": [signed_rank(pair) for pair in between],
            },
            index=pd.MultiIndex.from_tuples(ordered, names=["model", "than"]),
        )
        table["p_adjusted_wilcoxon"] = bonferroni(table["p_value_wilcoxon"].to_numpy())
        if not self._several_tables:
            t, p = np.array([corrected_t(pair, self._ratio) for pair in between]).T
            table["statistic_t"] = self.metric.sign * t + 0.0
            table["p_value_t"] = p
            table["p_adjusted_t"] = bonferroni(table["p_value_t"].to_numpy())
        return table

    @property
    def critical_difference(self) -> float | None:
        """The difference of mean ranks that is significant at 5 % by Nemenyi's test.

        None with one table, whose folds are not independent.
        """
        if not self._several_tables:
            return None
        return critical_difference(len(self.models), len(self.sizes))

    def summary(self) -> Summary:
        """Return scores and tests, as a summary with text, HTML and LaTeX output."""
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
            Dots with one standard error to either side, as in `table`.  With several tables the
            diagram of Demšar (2006), in which a bar joins models whose ranks differ by less than
            `critical_difference`.
        """
        if self.critical_difference is None:
            return plots.plot_means(self.table, f"{self.metric.words}, {self.folds.by}", ax)
        return plots.plot_ranks(self.table["rank"], self.critical_difference, ax=ax)

    def _card(self) -> Card:
        return Card("Comparison of models", self._facts(), self.table)

    @property
    def _several_tables(self) -> bool:
        return len(self.sizes) > 1

    @property
    def _ratio(self) -> float:
        """Number of test rows divided by number of training rows."""
        return self.folds.ratio

    @property
    def _has_random_folds(self) -> bool:
        return self.folds.by == f"{self.cv}-fold cross-validation"

    @cached_property
    def _losses(self) -> NDArray[np.float64]:
        """Losses (J, m) of the models on J folds, or on J tables; smaller is better."""
        scores = self.means if self._several_tables else self.scores
        return self.metric.sign * scores.to_numpy()

    def _facts(self) -> dict[str, str]:
        better = "larger" if self.metric.greater_is_better else "smaller"
        fewest, most = min(self.sizes.values()), max(self.sizes.values())
        facts = {"Models": str(len(self.models))}
        if self._several_tables:
            facts["Tables"] = str(len(self.sizes))
        facts |= {
            "Rows": str(fewest) if fewest == most else f"{fewest} to {most}",
            "Folds": f"{self.cv}" + (f" × {self.repeats} repeats" if self.repeats > 1 else ""),
            **({} if self._has_random_folds else {"Held out by": self.folds.by}),
            "Metric": self.metric.words,
            "Better": better,
        }
        if self.critical_difference is not None:
            facts["Critical difference"] = f"{self.critical_difference:.3g}"
        return facts

    def _sections(self) -> dict[str, pd.DataFrame]:
        sections = {"Models, the best first": self.table.rename_axis(None)}
        order = {name: place for place, name in enumerate(self.table.index)}
        kept = [(model, than) for model, than in self.pairs.index if order[model] < order[than]]
        kept.sort(key=lambda pair: (order[pair[0]], order[pair[1]]))
        pairs = self.pairs.loc[kept]
        pairs.index = pd.Index([f"{model} / {than}" for model, than in kept])
        sections["Pairs: the first better than the second"] = pairs
        if self._several_tables:
            sections["Mean scores by table"] = self.means
        return sections

    def _notes(self) -> tuple[str, ...]:
        tests = len(self.models) * (len(self.models) - 1)
        adjusted = f"Adjusted p-values: Bonferroni's correction for {tests} one-sided tests."
        if self._several_tables:
            return (
                "Ranks and tests are over the tables' means (Demšar 2006); mean ranks that differ "
                f"by more than the critical difference do so at 5 % (Nemenyi). {adjusted}",
            )
        return (
            "std_error and the t-test are corrected for training sets that overlap (Nadeau and "
            "Bengio 2003); Wilcoxon's test is not, so its p-values are too small. "
            f"{adjusted}",
            *((EQUAL,) if self.pairs["statistic_t"].isna().any() else ()),
        )
