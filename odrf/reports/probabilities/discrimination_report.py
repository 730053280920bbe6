"""How well probabilities tell classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from odrf import plots
from odrf.checks import checked_choice
from odrf.public import public
from odrf.statistics.calibration import EvaluatedRows
from odrf.statistics.discrimination import (
    area_under_roc,
    bootstrapped_precision,
    net_benefit,
    thresholds_table,
)
from odrf.text.layouts import percentage
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Discrimination"]

THRESHOLDS = np.arange(1, 100) / 100
ROC, PRECISION, BENEFIT = "roc", "precision", "benefit"


@public
class Discrimination(Carded):
    """How well the probability of each class tells its rows from the others.

    Returned by `discrimination` of the results.

    Parameters
    ----------
    call : str
        The call that made the fit.
    rows : EvaluatedRows
        The rows that are judged.
    level : float
        Nominal coverage of the intervals.
    seed : int
        Of the bootstrap.

    Attributes
    ----------
    table : DataFrame
        For each class: ``measure``, the area under the ROC curve, with the interval of DeLong and
        others, or the average precision, with a bootstrap interval; ``estimate``, ``std_error``,
        ``conf_low``, ``conf_high``; ``without_skill``, what probabilities without information give.
    thresholds : DataFrame
        For each class and threshold: ``sensitivity``, ``specificity``, ``precision``.
    benefit : DataFrame
        For each class and threshold: ``benefit``, the net benefit of acting on rows whose
        probability is not below it, and ``all``, that of acting on all rows.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> bool(forest.discrimination().table["estimate"].min() > 0.95)
    True
    """

    def __init__(self, call: str, rows: EvaluatedRows, level: float, seed: int) -> None:
        self.call, self.rows, self.level = call, rows, level
        lines, thresholds, benefit = [], [], []
        for label, p, event in rows.events():
            w = rows.weights
            area = area_under_roc(p, event, w, level, rows.groups)
            precision = bootstrapped_precision(p, event, w, level, seed, groups=rows.groups)
            rate = float(np.average(event, weights=w))
            lines.append((label, "area under ROC curve", *area, 0.5))
            lines.append((label, "average precision", *precision, rate))
            thresholds.append(_of_class(label, thresholds_table(p, event, w)))
            benefit.append(_of_class(label, net_benefit(p, event, w, THRESHOLDS)))
        numbers = ["estimate", "std_error", "conf_low", "conf_high", "without_skill"]
        self.table = pd.DataFrame(lines, columns=["class", "measure", *numbers])
        self.thresholds = pd.concat(thresholds, ignore_index=True)
        self.benefit = pd.concat(benefit, ignore_index=True)

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        return Summary("Discrimination", self.call, self._facts(), {"": self.table})

    def plot(self, kind: str = ROC, *, ax: Axes | None = None) -> Axes:
        """Draw curves over the thresholds, one for each class.

        Parameters
        ----------
        kind : {"roc", "precision", "benefit"}, default "roc"
            Sensitivity against 1 - specificity; precision against recall; or the net benefit
            against the threshold (a decision curve), beside that of acting on all rows or none.
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `kind` is unknown.
        """
        checked_choice("kind", kind, (ROC, PRECISION, BENEFIT))
        if kind == BENEFIT:
            return plots.plot_benefit(self.benefit, ax)
        return plots.plot_thresholds(self.thresholds, self.table, kind, ax)

    def _facts(self) -> dict[str, str]:
        return self.rows.facts() | {"Level": percentage(self.level)}

    def _card(self) -> Card:
        return Card("Discrimination", self._facts(), self.table)


def _of_class(label: object, table: pd.DataFrame) -> pd.DataFrame:
    table.insert(0, "class", [label] * len(table))
    return table
