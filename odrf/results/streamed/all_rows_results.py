"""Results of one oblique tree of all rows in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.fits.all_rows.all_rows_fit import AllRowsFit
from odrf.fits.streamed.predicting_chunks import chunks_predicted, predictions_to_parquet
from odrf.public.chunks import Chunks, ChunkSource
from odrf.reports.importance_tables import MeasuredImportance, impurity_table
from odrf.reports.pruning_path import PruningPath
from odrf.reports.streamed.all_rows_summary import (
    all_rows_card,
    all_rows_importance,
    all_rows_summary,
    training_confusion,
    training_error,
    training_r_squared,
)
from odrf.results.measured import IMPORTANCES
from odrf.results.tree import ODTResults
from odrf.text.card import Card
from odrf.text.summary import Summary

__all__ = ["AllRowsResults"]

IMPURITY = "impurity"


class AllRowsResults(ODTResults):
    """One tree of all rows in chunks, as returned by `odrf.odt` for a path or `odrf.Chunks`.

    It is a tree that keeps none of its training rows.  It predicts, shows its nodes and rules, is
    saved, pruned and exported as any other.  If its size was chosen by rows held out, its ``path``
    has their errors.  What is computed from training rows later raises `InputError`: predictions
    of them, importances judged by rows, intervals, effects, Shapley values without `background`,
    `update`, cross-validation.

    Parameters
    ----------
    fit : AllRowsFit
        Design, options and tree.
    parent : AllRowsResults, optional
        The tree before pruning.
    path : PruningPath, optional
        The pruning path that this tree was chosen from.

    Attributes
    ----------
    fit, parent, path

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tree = odrf.odt("progression ~ .", [data[:200], data[200:]], alpha=None, seed=1)
    >>> tree.nobs
    442
    >>> int(tree.prune(leaves=3).n_leaves[0])
    3
    """

    fit: AllRowsFit

    def __init__(
        self,
        fit: AllRowsFit,
        parent: AllRowsResults | None = None,
        path: PruningPath[ODTResults] | None = None,
    ) -> None:
        super().__init__(fit, parent, path)

    @cached_property
    def training_error(self) -> float:
        """Error of the training rows: mean squared error, or misclassification rate.

        It is smaller than the error of new rows.
        """
        return training_error(self.fit)

    @property
    def r_squared(self) -> float:
        """R²: share of the response's variance in the training rows that is explained.

        Raises
        ------
        InputError
            For classes.
        """
        return training_r_squared(self.fit)

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Confusion matrix of the training rows: observed classes down, predicted classes across.

        Entries are sums of case weights.  The column ``error`` is the error rate of each class.

        Raises
        ------
        InputError
            For a regression.
        """
        return training_confusion(self.fit)

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
            The prediction of each chunk, as of `predict`.

        Raises
        ------
        InputError
            As by `predict` and `odrf.Chunks`.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> tree = odrf.odt("progression ~ .", [data], seed=1)
        >>> [len(values) for values in tree.predict_chunks([data[:100], data[100:]])]
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
        type : {"impurity"}, optional
            The impurity decrease of the splits on the predictor, each weighted by the node's share
            of the rows.  The rows that chose the splits also judge them.
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
        if type is None or checked_choice("type", type, IMPORTANCES) == IMPURITY:
            return impurity_table(self.fit)
        raise InputError(
            f"type={type!r} needs the training rows, and a fit on rows in chunks keeps none: use "
            f'type="{IMPURITY}", or fit a data frame of some of the rows'
        )

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
        return all_rows_importance(self.fit)

    def _summary(self, progress: bool) -> Summary:
        return all_rows_summary(self.fit, self.path)

    def _shown_card(self) -> Card:
        return self._card()

    def _card(self) -> Card:
        return all_rows_card(self.fit)
