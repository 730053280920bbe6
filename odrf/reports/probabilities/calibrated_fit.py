"""A fit whose class probabilities are calibrated on rows out of bag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_choice
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.expected_response import expected_response
from odrf.fits.prediction.labels import spread_numbers
from odrf.fits.prediction.predicting import as_asked
from odrf.public import public
from odrf.reports.probabilities.judged_rows import JudgedRows
from odrf.statistics.probabilities.recalibration_maps import RecalibrationMap, recalibration_map
from odrf.text.card import Card, Carded
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CalibratedFit"]

FOLDS = 5
TYPES = ("prob", "class", "response", "cumulative")
POINTS = 201


@public
class CalibratedFit(Carded):
    """A fit with a map from its probabilities to calibrated ones.

    Returned by `calibrate` of the results.  It predicts as the fit does; the fit is not changed.
    It can be pickled; `save` writes fits only.

    Parameters
    ----------
    fit : AnyFit
        The fit.
    rows : JudgedRows
        The rows from which the map is learned.
    method : {"isotonic", "platt", "beta"}
        The kind of map.

    Attributes
    ----------
    table : DataFrame
        For each class the Brier score ``before`` and ``after``; after, by maps that are learned on
        the other four fifths of the rows.
    method : str

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> calibrated = forest.calibrate("platt")
    >>> calibrated.predict(data.head(2), type="prob").columns.tolist()
    ['benign', 'malignant']
    """

    def __init__(self, fit: AnyFit, rows: JudgedRows, method: str) -> None:
        self.fit, self.rows, self.method, self.call = fit, rows, method, fit.call
        self.maps = _maps(rows, method, np.ones(len(rows.code), dtype=np.bool_))
        after = _cross_fitted(rows, method, fit.control.seed)
        indicators = rows.code[:, None] == np.arange(len(rows.classes))
        scores = {
            name: np.average((p - indicators) ** 2, axis=0, weights=rows.weights)
            for name, p in (("before", rows.probabilities), ("after", after))
        }
        self.table = pd.DataFrame(scores, index=pd.Index(rows.classes, name="class"))

    def predict(self, newdata: pd.DataFrame, type: str = "response") -> pd.Series | pd.DataFrame:
        """Predict new rows with calibrated probabilities.

        Parameters
        ----------
        newdata : DataFrame
            The rows, as in `predict` of the fit.
        type : {"response", "class", "prob", "cumulative"}, default "response"
            The most likely class; the probabilities; or for ordered classes those of each class or
            a lower one.

        Returns
        -------
        Series or DataFrame
            With the index of `newdata`.

        Raises
        ------
        InputError
            If `type` is unknown, or `newdata` cannot be predicted.
        """
        checked_choice("type", type, TYPES)
        X, complete = self.fit.design.matrix(newdata)
        value = _calibrated(expected_response(self.fit, X), self.maps)
        return as_asked(self.fit, spread_numbers(value, complete), newdata.index, type)

    def summary(self) -> Summary:
        """Return the scores as a summary with text, HTML and LaTeX output."""
        note = "Brier scores after calibration are by maps learned on other rows."
        sections = {"Brier score": self.table}
        return Summary("Calibrated fit", self.call, self._facts(), sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the maps: calibrated against predicted probabilities.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        at = np.linspace(0, 1, POINTS)
        several = self.maps[1:] if len(self.maps) == 2 else self.maps
        labels = self.rows.classes[-len(several) :]
        curves = {str(label): one(at) for label, one in zip(labels, several, strict=True)}
        return plots.plot_maps(at, curves, ax)

    def _facts(self) -> dict[str, str]:
        rows = f"{len(self.rows.code)} {self.rows.source}"
        return {"Method": self.method, "Learned from": f"{rows} rows"}

    def _card(self) -> Card:
        return Card("Calibrated fit", self._facts(), self.table)


def _maps(rows: JudgedRows, method: str, used: NDArray[np.bool_]) -> list[RecalibrationMap]:
    """Return the map of each class, learned from the rows that are `used` (n,)."""
    p, code, weights = rows.probabilities[used], rows.code[used], rows.weights[used]
    return [
        recalibration_map(method, p[:, k], (code == k).astype(np.float64), weights)
        for k in range(p.shape[1])
    ]


def _calibrated(p: NDArray[np.float64], maps: list[RecalibrationMap]) -> NDArray[np.float64]:
    """Return calibrated probabilities (n, K); those of several classes are made to add up to 1."""
    if len(maps) == 2:
        second = maps[1](p[:, 1])
        return np.stack([1 - second, second], axis=1)
    each = np.stack([one(p[:, k]) for k, one in enumerate(maps)], axis=1)
    total = each.sum(axis=1, keepdims=True)
    return np.where(total > 0, each / np.where(total > 0, total, 1.0), p)


def _cross_fitted(rows: JudgedRows, method: str, seed: int) -> NDArray[np.float64]:
    """Return for each row (n, K) the calibrated probabilities by maps learned on other rows."""
    fold = np.random.default_rng(seed).permutation(len(rows.code)) % FOLDS
    out = np.empty_like(rows.probabilities)
    for f in range(FOLDS):
        held = fold == f
        out[held] = _calibrated(rows.probabilities[held], _maps(rows, method, ~held))
    return out
