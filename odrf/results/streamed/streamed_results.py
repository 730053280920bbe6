"""Results of an oblique random forest whose rows came in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice, is_word
from odrf.errors import InputError
from odrf.fits.prediction.scores import error_name
from odrf.fits.streamed.predicting_chunks import chunks_predicted, predictions_to_parquet
from odrf.fits.streamed.streamed_fit import StreamedFit
from odrf.public.chunks import Chunks, ChunkSource
from odrf.reports.importance_tables import MeasuredImportance, impurity_table
from odrf.reports.streamed.streamed_summary import (
    streamed_card,
    streamed_confusion,
    streamed_importance,
    streamed_r_squared,
    streamed_scores,
    streamed_summary,
    summed_rows,
)
from odrf.results.forest import ODRFResults
from odrf.results.measured import IMPORTANCES
from odrf.text.card import Card
from odrf.text.summary import Summary

__all__ = ["StreamedResults"]

OUT_OF_BAG, IMPURITY = "out_of_bag", "impurity"


class StreamedResults(ODRFResults):
    """A forest whose rows came in chunks, as returned by `odrf.odrf` for a path or `odrf.Chunks`.

    It is a forest that keeps none of its training rows.  It predicts, shows its trees, is saved,
    pruned and exported as any other.  The out-of-bag errors are those of all rows, summed up while
    they passed by, and so are the out-of-bag importances.  What is computed from training rows
    later raises `InputError`: predictions of them, other importances, intervals, effects, Shapley
    values without `background`, `update`, `grow`.

    Parameters
    ----------
    fit : StreamedFit
        Design, options, trees and out-of-bag sums.

    Attributes
    ----------
    fit : StreamedFit
    parent : ODRFResults or None
        The forest before its options pruned it.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ .", [data[:200], data[200:]], n_trees=20, seed=1)
    >>> forest.nobs
    442
    >>> bool(forest.r_squared > 0.3)
    True
    """

    fit: StreamedFit

    def __init__(self, fit: StreamedFit) -> None:
        super().__init__(fit)

    @property
    def oob_error(self) -> float:
        """Out-of-bag mean squared error, or misclassification rate."""
        return float(summed_rows(self.fit).error_path[-1])

    @property
    def oob_scores(self) -> pd.Series:
        """Scores of the out-of-bag predictions of all rows, weighted by case weights.

        For a regression ``mse`` and ``r2``; for classes ``error``, ``brier`` and ``log_loss``, in
        which a probability of 0 counts as 2⁻⁵².  ``rows`` are the rows of positive weight that some
        tree did not draw.
        """
        return streamed_scores(self.fit)

    @property
    def error_path(self) -> pd.Series:
        """Out-of-bag error of the first 1, 2, … trees."""
        path = summed_rows(self.fit).error_path
        index = pd.RangeIndex(1, len(path) + 1, name="trees")
        return pd.Series(path, index=index, name=f"out-of-bag {error_name(self.kind)}")

    @property
    def r_squared(self) -> float:
        """R²: share of the response's variance that out-of-bag predictions explain.

        Raises
        ------
        InputError
            For classes.
        """
        return streamed_r_squared(self.fit)

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Confusion matrix out of bag: observed classes down, predicted classes across.

        Entries are sums of case weights.  The column ``error`` is the error rate of each class.

        Raises
        ------
        InputError
            For a regression.
        """
        return streamed_confusion(self.fit)

    def predict_chunks(
        self, source: ChunkSource, type: str = "response", *, progress: bool = False
    ) -> Iterator[pd.Series | pd.DataFrame]:
        """Predict rows in chunks, one chunk after the other.

        Parameters
        ----------
        source : path, Chunks, iterable of data frames, or function
            The rows, as `odrf.Chunks` takes them.  An iterator is walked once.
        type : str, default "response"
            As in `predict`.
        progress : bool, default False
            Show a progress bar of the chunks.

        Returns
        -------
        iterator of Series or DataFrame
            The prediction of each chunk, as of `predict`.  Rows of data frames of pandas keep their
            labels; others are numbered from 0 on.

        Raises
        ------
        InputError
            As by `predict` and `odrf.Chunks`.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ .", [data], n_trees=5, seed=1)
        >>> [len(values) for values in forest.predict_chunks([data[:100], data[100:]])]
        [100, 342]
        """
        found = chunks_predicted(self.fit, Chunks(source), type, progress=progress)
        return (predicted for _, predicted in found)

    def predict_to_parquet(
        self,
        source: ChunkSource,
        path: str | PathLike[str],
        type: str = "response",
        *,
        keep: Sequence[str] = (),
        progress: bool = False,
    ) -> int:
        """Predict rows in chunks, and write the predictions to a file of Parquet.

        Parameters
        ----------
        source : path, Chunks, iterable of data frames, or function
            The rows, as `odrf.Chunks` takes them.
        path : str or path
            The file, which is written as a whole: if this fails, what was there is unchanged.
        type : str, default "response"
            As in `predict`.
        keep : sequence of str, default ()
            Columns of the source that are written, too, such as an identifier.
        progress : bool, default False
            Show a progress bar of the chunks.

        Returns
        -------
        int
            The number of rows.

        Raises
        ------
        InputError
            As by `predict` and `odrf.Chunks`; if pyarrow is not installed, or the file cannot be
            written.
        """
        return predictions_to_parquet(self.fit, Chunks(source), path, type, keep, progress)

    def importance(
        self,
        type: str | None = None,
        *,
        test: str = "t",
        adjust: str | None = "holm",
        groups: Mapping[str, Sequence[str]] | None = None,
        level: float = 0.95,
        progress: bool = False,
    ) -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        Parameters
        ----------
        type : {"out_of_bag", "impurity"}, default "out_of_bag"
            As in `ODRFResults.importance`: judged by the rows that each tree did not draw, summed
            up while they passed by; or by the rows that chose the splits, so that predictors of
            many values seem more important than they are.
        test, adjust, groups, level, progress
            They are for types that need training rows.

        Returns
        -------
        DataFrame
            Index: predictors as in the formula.  Columns: ``importance`` and ``share``.

        Raises
        ------
        InputError
            If `type` is another one: rows would have to be there again.
        """
        if type is None or is_word(type, OUT_OF_BAG):
            return streamed_importance(self.fit).table
        if checked_choice("type", type, IMPORTANCES) == IMPURITY:
            return impurity_table(self.fit)
        raise InputError(
            f"type={type!r} needs the training rows, and a fit on rows in chunks keeps none: use "
            f'type="{OUT_OF_BAG}" or "{IMPURITY}", or fit a data frame of some of the rows'
        )

    @property
    def kinds(self) -> pd.DataFrame:
        """For blends, which forests on rows in chunks are not.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError("trees grown on rows in chunks are all of one kind")

    def to_sklearn(self) -> Any:
        """Say that estimators of scikit-learn are fitted on arrays in memory.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            "estimators of scikit-learn have training rows in memory, and a fit on rows in chunks "
            "has none: use predict()"
        )

    def _noise_residuals(self) -> NDArray[np.float64]:
        return np.empty(0)

    def _measured_importance(self, progress: bool = False) -> MeasuredImportance:
        return streamed_importance(self.fit)

    def _summary(self, progress: bool) -> Summary:
        return streamed_summary(self.fit)

    def _shown_card(self) -> Card:
        return self._card()

    def _card(self) -> Card:
        return streamed_card(self.fit)
