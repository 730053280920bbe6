"""One prediction explained: paths, neighbours, nearest changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from odrf.checks import checked_above_0, checked_whole, require_default
from odrf.errors import InputError
from odrf.fits.fit import raw_rows
from odrf.public import public
from odrf.reports.explain import Explanation
from odrf.results.fitted import FittedResults

__all__ = ["LocalResults"]


@public
class LocalResults(FittedResults):
    """Base class of results that explain single predictions."""

    def explain(
        self,
        row: pd.DataFrame | Mapping[str, Any] | pd.Series,
        *,
        change: float | None = None,
        nearest: int = 5,
    ) -> Explanation:
        """Explain the prediction of one row: its splits, its neighbours, and what would change it.

        Parameters
        ----------
        row : DataFrame of one row, mapping or Series
            The row: values of the columns that predictors are computed from, and of the column that
            ``offset=`` named, if the fit has offsets.
        change : float, optional
            For numbers: by how much, above 0, the prediction must change in `Explanation.changes`.
            By default half a standard deviation of the response.  For classes the class changes,
            and there is nothing to set.
        nearest : int, default 5
            How many neighbours are shown.

        Returns
        -------
        Explanation
            With tables of splits, neighbours, nearest changes and slopes.

        Raises
        ------
        InputError
            If `row` is not one row that can be predicted; if an argument is invalid.

        Notes
        -----
        Nearest changes are found among the values of training rows: along each variable, up to 50
        of them, and for pairs of the six variables that move the prediction most on a coarser grid.
        Each is a change of the prediction, checked by predicting it; a nearer one between the
        values that are tried may exist.  They describe the fit; they do not say what would happen
        if somebody changed the values.

        References
        ----------
        S. Wachter, B. Mittelstadt and C. Russell (2017). Counterfactual explanations without
        opening the black box. Harvard Journal of Law and Technology 31, 841-887.

        Examples
        --------
        >>> import odrf
        >>> penguins = odrf.load_data("penguins")
        >>> formula = "species ~ bill_length_mm + bill_depth_mm"
        >>> forest = odrf.odrf(formula, penguins, n_trees=20, seed=1)
        >>> explanation = forest.explain({"bill_length_mm": 39.0, "bill_depth_mm": 18.0})
        >>> explanation.prediction.idxmax()
        'Adelie'
        """
        if isinstance(row, Mapping | pd.Series):
            row = pd.DataFrame({name: [value] for name, value in row.items()})
        if row is None:
            raise InputError("row=None is no row: give a data frame of one row, or a mapping")
        if isinstance(row, pd.DataFrame) and len(row) != 1:
            raise InputError(
                f"row has {len(row)} rows: explain() takes one, such as data.iloc[[3]]"
            )
        amount = None if change is None else checked_above_0("change", change)
        if self.classes is not None:
            require_default("change", change, None, "predictions of numbers")
        rows = raw_rows(self.fit, row)
        return Explanation(self.fit, rows, amount, checked_whole("nearest", nearest, 1))
