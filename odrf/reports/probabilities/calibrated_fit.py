"""A fit whose class probabilities are calibrated on rows that its trees have not seen."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from odrf import plots
from odrf.checks import checked_choice, checked_truth
from odrf.design import Design
from odrf.errors import AbsentError, nearest
from odrf.fits.calibration import Recalibration
from odrf.fits.files.saving import save
from odrf.fits.fit import offsets_of
from odrf.fits.predicting import as_asked, spread_numbers
from odrf.fits.responses import expected_response
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.statistics.calibration import Power
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CalibratedFit"]

TYPES = ("prob", "class", "response", "cumulative")
POINTS = 201
ESTIMATORS = (
    'estimators of scikit-learn predict without its maps: use predict(newdata, type="prob"), or '
    "CalibratedClassifierCV of scikit-learn with to_sklearn() of the fit it was made from"
)
OF_THE_FIT = ": ask the fit whose calibrate() has made it, for whose probabilities it only has maps"


@public
class CalibratedFit(Carded):
    """A fit with a map from its probabilities to calibrated ones.

    Returned by `calibrate` of the results.  It predicts as the fit does; the fit is not changed.

    Parameters
    ----------
    recalibration : Recalibration
        The fit and its maps.

    Attributes
    ----------
    table : DataFrame
        For each class the Brier score ``before`` and ``after``; after, by maps that are learned on
        the other four fifths of the rows.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> calibrated = forest.calibrate("platt")
    >>> calibrated.predict(data.head(2), type="prob").columns.tolist()
    ['benign', 'malignant']
    """

    def __init__(self, recalibration: Recalibration) -> None:
        self.recalibration = recalibration
        scores = {"before": recalibration.before, "after": recalibration.after}
        self.table = pd.DataFrame(scores, index=pd.Index(self.classes, name="class"))

    if not TYPE_CHECKING:  # for types, attributes are those that are written down

        def __getattr__(self, name: str) -> Any:
            """Say where to ask for what fits have and it has not."""
            if name.startswith("_") or name == "recalibration":
                raise AttributeError(name)
            if name == "to_sklearn":
                raise AbsentError(f"CalibratedFit has no {name!r}: {ESTIMATORS}")
            own = [each for each in (*dir(type(self)), "table") if not each.startswith("_")]
            raise AbsentError(f"CalibratedFit has no {name!r}{nearest(name, own) or OF_THE_FIT}")

    @property
    def call(self) -> str:
        """The call that made the fit, as text."""
        return self.recalibration.fit.call

    @property
    def formula(self) -> str:
        """The formula of the fit, as written."""
        return self.recalibration.fit.design.formula

    @property
    def design(self) -> Design:
        """The design of the fit: formula, predictors, columns and response."""
        return self.recalibration.fit.design

    @property
    def kind(self) -> str:
        """``"classification"``."""
        return self.recalibration.fit.kind

    @property
    def classes(self) -> pd.Index:
        """The classes, in the order of the probability columns."""
        classes = self.design.response.classes
        assert classes is not None
        return classes

    @property
    def method(self) -> str:
        """The kind of maps: ``"power"``, ``"isotonic"``, ``"platt"`` or ``"beta"``."""
        return self.recalibration.method

    def predict(
        self, newdata: pd.DataFrame, type: str = "response", *, progress: bool = False
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows with calibrated probabilities.

        Parameters
        ----------
        newdata : DataFrame
            The rows, as in `predict` of the fit.
        type : {"response", "class", "prob", "cumulative"}, default "response"
            The most likely class; the probabilities; or for ordered classes those of each class or
            a lower one.
        progress : bool, default False
            Show a progress bar of the rows.

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
        fit = self.recalibration.fit
        X, complete = fit.design.matrix(newdata)
        offset = offsets_of(fit, newdata, complete)
        with progress_bar(total=X.shape[1], unit="row", progress=progress) as bar:
            value = self.recalibration.calibrated(expected_response(fit, X, offset, bar.update))
        return as_asked(fit, spread_numbers(value, complete), newdata.index, type)

    def save(self, path: str | PathLike[str], *, data: bool = True, progress: bool = False) -> None:
        """Save the fit and its maps to a file; `odrf.load` reads it.

        Parameters
        ----------
        path : str or path
            The file.
        data : bool, default True
            Whether the file holds the training rows.  Without them it predicts the same.
        progress : bool, default False
            Show a progress bar.

        Raises
        ------
        InputError
            As by `save` of the fit.

        Warns
        -----
        UserWarning
            As by `save` of the fit.
        """
        save("CalibratedFit", self.recalibration, path, checked_truth("data", data), progress)

    def summary(self) -> Summary:
        """Return the scores as a summary with text, HTML and LaTeX output."""
        note = "Brier scores after calibration are by maps learned on other rows."
        sections = {"Brier score": self.table}
        return Summary("Calibrated fit", self.call, self._facts(), sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the maps: calibrated against predicted probabilities.

        A power is drawn as for a class with one other.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        at = np.linspace(0, 1, POINTS)
        maps = self.recalibration.maps
        if isinstance(maps[0], Power):
            return plots.plot_maps(at, {"every class": maps[0].of_one(at)}, ax)
        several = maps[1:] if len(maps) == 2 else maps
        labels = self.classes[-len(several) :]
        curves = {str(label): one(at) for label, one in zip(labels, several, strict=True)}
        return plots.plot_maps(at, curves, ax)

    def _facts(self) -> dict[str, str]:
        return {"Method": self.method, "Learned from": self.recalibration.rows}

    def _card(self) -> Card:
        return Card("Calibrated fit", self._facts(), self.table)
