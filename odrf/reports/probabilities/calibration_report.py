"""Whether classes are observed as often as predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from odrf import plots
from odrf.public import public
from odrf.statistics.calibration import (
    EvaluatedRows,
    brier_parts,
    calibrated_band,
    recalibrated,
    reliability_table,
)
from odrf.text.layouts import percentage
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Calibration"]

POINTS = 101


@public
class Calibration(Carded):
    """Whether classes are observed as often as their probabilities say.

    Returned by `calibration` of the results.

    Parameters
    ----------
    call : str
        The call that made the fit.
    rows : EvaluatedRows
        The rows that are judged.
    bins : int
        Bins of the table.
    level : float
        Nominal coverage of intervals and bands.
    seed : int
        Of the simulated bands.

    Attributes
    ----------
    table : DataFrame
        For each class and bin of rows: ``predicted``, the mean probability; ``observed``, the share
        of the class; ``conf_low`` and ``conf_high``, its interval; ``rows``.
    brier : DataFrame
        For each class the Brier ``score`` = ``miscalibration`` - ``discrimination`` +
        ``uncertainty``.
    curves : DataFrame
        For each class, at probabilities ``predicted``: ``observed``, the best increasing curve;
        ``band_low`` and ``band_high``, where it would be if the probabilities were calibrated, at
        each point by itself.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> bool(forest.calibration().brier["miscalibration"].iloc[0] < 0.02)
    True
    """

    def __init__(self, call: str, rows: EvaluatedRows, bins: int, level: float, seed: int) -> None:
        self.call, self.rows, self.level = call, rows, level
        tables, parts, curves = {}, {}, {}
        for label, p, event in rows.events():
            tables[label] = reliability_table(p, event, rows.weights, bins, level, rows.groups)
            parts[label] = brier_parts(p, event, rows.weights)._asdict()
            at = np.linspace(p.min(), p.max(), POINTS)
            order = np.argsort(p, kind="stable")
            curve = np.interp(at, p[order], recalibrated(p, event, rows.weights)[order])
            low, high = calibrated_band(p, rows.weights, at, level, seed)
            columns = {"predicted": at, "observed": curve, "band_low": low, "band_high": high}
            curves[label] = pd.DataFrame(columns)
        self.table = _joined(tables)
        self.curves = _joined(curves)
        self.brier = pd.DataFrame.from_dict(parts, orient="index").rename_axis("class")

    def summary(self) -> Summary:
        """Return the tables as a summary with text, HTML and LaTeX output."""
        note = (
            "score = miscalibration - discrimination + uncertainty, by isotonic regression; "
            "conf_low and conf_high are the interval of the observed share."
        )
        sections = {"Brier score": self.brier, "Bins": self.table}
        return Summary("Calibration", self.call, self._facts(), sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the reliability diagram: observed shares against probabilities.

        Points with intervals are bins.  Lines are increasing curves.  The band is where the curve
        of calibrated probabilities would be, pointwise; for several classes no band is drawn.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        return plots.plot_reliability(self.table, self.curves, ax)

    def _facts(self) -> dict[str, str]:
        return self.rows.facts() | {"Level": percentage(self.level)}

    def _card(self) -> Card:
        return Card("Calibration", self._facts(), self.brier)


def _joined(tables: dict[object, pd.DataFrame]) -> pd.DataFrame:
    for label, table in tables.items():
        table.insert(0, "class", [label] * len(table))
    return pd.concat(tables.values(), ignore_index=True)
