"""What predicts single rows quickly."""

from __future__ import annotations

from odrf.fits.prediction.row_predictor import RowPredictor, row_predictor
from odrf.results.fitted import FittedResults

__all__ = ["RowPredicting"]


class RowPredicting(FittedResults):
    """The part of the results of trees that are averaged which predicts rows one by one."""

    def row_predictor(self, type: str = "response") -> RowPredictor:
        """Return a function that predicts one row at a time, in microseconds.

        Parameters
        ----------
        type : {"response", "class", "prob"}, default "response"
            What it returns for a row, as in `predict`.

        Returns
        -------
        RowPredictor
            It takes the raw values in the order of its `predictors`, or a mapping of their
            names to values.

        Raises
        ------
        InputError
            If `type` is none of these, or needs classes where there are none; if the formula
            has terms that are not simply columns of the data.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> fit = odrf.odrf("progression ~ bmi + bp + sex", data, n_trees=20, seed=1)
        >>> progression = fit.row_predictor()
        >>> progression.predictors
        ('bmi', 'bp', 'sex')
        >>> bool(progression(data.loc[0]) == fit.predict(data)[0])
        True
        """
        return row_predictor(self.fit, type)
