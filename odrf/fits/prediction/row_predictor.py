"""Fast prediction of one row at a time, without a data frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.design.columns import listed
from odrf.design.missing import SURROGATE
from odrf.design.new_rows import RawRow, RowPlan, plan_row
from odrf.engine.trees.forest import predicted_classes
from odrf.engine.trees.packing import Packed
from odrf.engine.trees.routing import predict_row
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.empty_cells import FillingRule, filling_rule
from odrf.fits.prediction.predicting import require_classes

__all__ = ["ROW_PREDICTIONS", "RowPredictor", "row_predictor"]

ROW_PREDICTIONS = ("response", "class", "prob")

SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class RowPredictor:
    """A function that predicts one row, as returned by ``fit.row_predictor()``.

    It returns what ``fit.predict`` returns for a data frame with this row, but takes a few
    microseconds instead of hundreds.  It can be pickled, with the trees but without training data.
    In memory it keeps the fit until the first row with an empty cell comes, in a predictor that has
    none in training: then what such cells stand for is found among the training rows.

    Parameters
    ----------
    type : {"response", "class", "prob"}
        What it returns.
    plan : RowPlan
        How raw values become scaled predictors.
    packed : Packed
        The trees.
    filling : FillingRule or None
        The trees for rows with empty cells in predictors that have none in training: with a fill
        for each term, or surrogates.  None unless ``missing`` is "split" or "surrogate".
    value : (m, K) float64
        Mean response, or class shares, of the nodes.
    labels : (K,) tuple
        The classes; empty for a regression.
    votes : bool
        Whether the values are votes, to be scaled to add up to 1.
    ordered : bool
        Whether the predicted class is the median, instead of the most probable class.

    Examples
    --------
    >>> import odrf
    >>> penguins = odrf.load_data("penguins")
    >>> fit = odrf.odrf("species ~ bill_length_mm + year + sex", penguins, missing="drop", seed=1)
    >>> species = fit.row_predictor()
    >>> species
    RowPredictor(type='response') of a row: 'bill_length_mm', 'year', 'sex'
    >>> species([39.1, 2007, "male"])
    'Adelie'
    >>> species({"sex": "female", "bill_length_mm": 48.4, "year": 2009})
    'Gentoo'
    """

    type: str
    plan: RowPlan
    packed: Packed
    filling: FillingRule | None
    value: NDArray[np.float64]
    labels: tuple[Any, ...]
    votes: bool
    ordered: bool

    @property
    def predictors(self) -> tuple[str, ...]:
        """The names of the predictors, in the order of a row's values."""
        return self.plan.design.predictors

    def __call__(self, row: RawRow) -> Any:
        """Predict one row.

        Parameters
        ----------
        row : array, list, tuple, mapping or Series
            A raw value for each of the `predictors`, in their order or by their names.  Other names
            are ignored.

        Returns
        -------
        float, label or dict
            The mean response, or the class; for ``"prob"`` the probability of each class, by its
            label.  With ``missing="drop"``, missing if a value of the row is missing.

        Raises
        ------
        InputError
            If the row does not have one value for each predictor, or `predict` refuses it.

        Warns
        -----
        UserWarning
            A value is a level that no training row has.
        """
        x = self.plan.scaled(row)
        if x is None:
            return self._missing()
        mean = self._mean(x)
        if self.votes:
            mean /= np.cumsum(mean)[-1]
        numbers = mean.tolist()
        if self.type == "prob":
            return dict(zip(self.labels, numbers, strict=True))
        if self.ordered:
            return self.labels[int(predicted_classes(mean[np.newaxis], True)[0])]
        return self.labels[numbers.index(max(numbers))] if self.labels else numbers[0]

    def _mean(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        if self.filling is None or not np.isnan(x).any():
            return predict_row(self.packed, self.value, x)
        return self.filling.mean(self.value, x)

    def _missing(self) -> Any:
        if self.type == "prob":
            return dict.fromkeys(self.labels, np.nan)
        return np.nan

    def __repr__(self) -> str:
        return f"RowPredictor(type={self.type!r}) of a row: {listed(self.predictors, SHOWN)}"


def row_predictor(fit: AnyFit, type: str) -> RowPredictor:
    """Return the function that predicts one row of a fit, by this `type`."""
    checked_choice("type", type, ROW_PREDICTIONS)
    response = fit.design.response
    require_classes(response, type)
    labels = () if response.classes is None else tuple(response.classes.tolist())
    forest, votes = fit.forest, fit.votes and bool(labels)
    return RowPredictor(
        type,
        plan_row(fit.design),
        forest.packed_for(fit.data.X),
        filling_rule(fit) if fit.design.missing in ("split", SURROGATE) else None,
        forest.value,
        labels,
        votes,
        fit.ordered,
    )
