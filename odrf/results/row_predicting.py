"""Fast prediction of single rows."""

from __future__ import annotations

from odrf.fits.prediction.row_predictor import RowPredictor, row_predictor
from odrf.results.fitted import FittedResults

__all__ = ["RowPredicting"]


class RowPredicting(FittedResults):
    """Base class of results that can predict single rows quickly."""

    def row_predictor(self, type: str = "response") -> RowPredictor:
        """Return a function that predicts one row at a time, in microseconds.

        Parameters
        ----------
        type : {"response", "class", "prob"}, default "response"
            What the function returns for a row, as in `predict`.

        Returns
        -------
        RowPredictor
            A function of the raw values in the order of its `predictors`, or of a mapping from
            their names to values.

        Raises
        ------
        InputError
            If `type` is unknown, or needs classes in a regression; if the formula has terms that
            are not columns of the data, such as ``log(a)``.

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
