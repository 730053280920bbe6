"""Results of forests and trees whose rows came in chunks."""

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
from odrf.fits.chunks import chunks_predicted, predictions_to_parquet
from odrf.fits.fit import StreamedFit
from odrf.fits.scores import error_name
from odrf.public.chunks import ChunkSource, chunks_to_predict
from odrf.reports.chunks import (
    all_rows_card,
    all_rows_summary,
    importance_by_own_rows,
    streamed_card,
    streamed_confusion,
    streamed_importance,
    streamed_r_squared,
    streamed_scores,
    streamed_summary,
    summed_rows,
    training_confusion,
    training_error,
    training_r_squared,
)
from odrf.reports.importance import MeasuredImportance, impurity_table
from odrf.reports.paths import PruningPath
from odrf.results.base import FittedResults
from odrf.results.forest import ODRFResults
from odrf.results.scores import ADJUST, IMPORTANCES, TEST, TEST_LEVEL, require_no_test
from odrf.results.tree import ODTResults
from odrf.text.summary import Card, Summary

__all__ = [
    "AllRowsResults",
    "ChunkPredicting",
    "StreamedResults",
]


# ------------------------------------------------------------------------------------------------
# What results of rows in chunks share: they predict rows in chunks, and keep no training rows.
# ------------------------------------------------------------------------------------------------


class ChunkPredicting(FittedResults):
    """Base class of results of rows in chunks."""

    def predict_chunks(
        self, source: ChunkSource, type: str = "response", *, progress: bool = False
    ) -> Iterator[pd.Series | pd.DataFrame]:
        """Predict rows in chunks, one chunk after the other.

        Parameters
        ----------
        source : path, Chunks, iterable of data frames, or function
            The rows, as `odrf.Chunks` takes them; also an iterator of data frames, such as
            ``pd.read_csv(path, chunksize=100_000)``.
        type : str, default "response"
            As in `predict`.
        progress : bool, default False
            Show a progress bar of the chunks.

        Returns
        -------
        iterator of Series or DataFrame
            The prediction of each chunk, as of `predict`, which is computed, and errors are raised,
            when it is asked for.  Rows of data frames of pandas keep their labels; others are
            numbered from 0 on.

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
        found = chunks_predicted(self.fit, chunks_to_predict(source), type, progress=progress)
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
            The rows, as by `predict_chunks`.
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
            written; if `keep` has a column twice, or one that is called like a prediction.
        """
        return predictions_to_parquet(
            self.fit, chunks_to_predict(source), path, type, keep, progress
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


# ------------------------------------------------------------------------------------------------
# Results of an oblique random forest whose rows came in chunks.
# ------------------------------------------------------------------------------------------------

OUT_OF_BAG, IMPURITY = "out_of_bag", "impurity"


class StreamedResults(ChunkPredicting, ODRFResults):
    """A forest whose rows came in chunks, as returned by `odrf.odrf` for a path or `odrf.Chunks`.

    It is a forest that keeps none of its training rows.  It predicts, shows its trees, is saved,
    pruned and exported as any other.  The out-of-bag errors are those of all rows, summed up while
    they passed by, and so are the out-of-bag importances; of a forest that `prune` has cut they are
    not known.  With ``newdata=``, `predictions`, `partial`, `ice` and `ale` have estimates without
    standard errors.  What is computed from training rows later raises `InputError`: predictions of
    them, other importances, intervals, comparisons, slopes, Shapley values without `background`,
    `update`, `grow`.

    Parameters
    ----------
    fit : StreamedFit
        Design, options, trees and out-of-bag sums.
    parent : StreamedResults, optional
        The forest before pruning.

    Attributes
    ----------
    fit : StreamedFit
    parent : StreamedResults or None
        The forest before pruning.

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

    @property
    def oob_error(self) -> float:
        """Out-of-bag mean squared error, or misclassification rate.

        Raises
        ------
        InputError
            If rows have not judged this very forest, but the one that it was pruned from or to.
        """
        return float(summed_rows(self.fit).error_path[-1])

    @property
    def oob_scores(self) -> pd.Series:
        """Scores of the out-of-bag predictions of all rows, weighted by case weights.

        For a regression ``mse`` and ``r2``; for classes ``error``, ``brier`` and ``log_loss``, in
        which a probability of 0 counts as 2⁻⁵².  ``rows`` are the rows of positive weight that some
        tree did not draw.

        Raises
        ------
        InputError
            If rows have not judged this very forest, but the one that it was pruned from or to.
        """
        return streamed_scores(self.fit)

    @property
    def error_path(self) -> pd.Series:
        """Out-of-bag error of the first 1, 2, … trees.

        Raises
        ------
        InputError
            If rows have not judged this very forest, but the one that it was pruned from or to.
        """
        path = summed_rows(self.fit).error_path
        index = pd.RangeIndex(1, len(path) + 1, name="trees")
        return pd.Series(path, index=index, name=f"out-of-bag {error_name(self.kind)}")

    @property
    def r_squared(self) -> float:
        """R²: share of the response's variance that out-of-bag predictions explain.

        Raises
        ------
        InputError
            For classes; as `oob_error`.
        """
        return streamed_r_squared(self.fit)

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Confusion matrix out of bag: observed classes down, predicted classes across.

        Entries are sums of case weights.  The column ``error`` is the error rate of each class.

        Raises
        ------
        InputError
            For a regression; as `oob_error`.
        """
        return streamed_confusion(self.fit)

    def importance(
        self,
        type: str | None = None,
        *,
        test: str = TEST,
        adjust: str | None = ADJUST,
        groups: Mapping[str, Sequence[str]] | None = None,
        level: float = TEST_LEVEL,
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
            If `type` is another one: rows would have to be there again; if an argument of tests is
            given; of ``"out_of_bag"`` as `oob_error`.
        """
        asked = OUT_OF_BAG if type is None else checked_choice("type", type, IMPORTANCES)
        if asked not in (OUT_OF_BAG, IMPURITY):
            raise InputError(
                f"type={type!r} needs the training rows, and a fit on rows in chunks keeps none: "
                f'use type="{OUT_OF_BAG}" or "{IMPURITY}", or fit a data frame of some of the rows'
            )
        require_no_test(test, adjust, groups, level)
        if asked == IMPURITY:
            return impurity_table(self.fit)
        summed_rows(self.fit)  # refuses what the rows have not judged
        return streamed_importance(self.fit).table

    @property
    def kinds(self) -> pd.DataFrame:
        """For blends, which forests on rows in chunks are not.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError("trees grown on rows in chunks are all of one kind")

    def _measured_importance(self, progress: bool = False) -> MeasuredImportance:
        return streamed_importance(self.fit)

    def _summary(self, progress: bool) -> Summary:
        return streamed_summary(self.fit)

    def _shown_card(self) -> Card:
        return self._card()

    def _card(self) -> Card:
        return streamed_card(self.fit)


# ------------------------------------------------------------------------------------------------
# Results of one oblique tree of all rows in chunks.
# ------------------------------------------------------------------------------------------------

ALL_ROWS_IMPURITY = "impurity"


class AllRowsResults(ChunkPredicting, ODTResults):
    """One tree of all rows in chunks, as returned by `odrf.odt` for a path or `odrf.Chunks`.

    It is a tree that keeps none of its training rows.  It predicts, shows its nodes and rules, is
    saved, pruned and exported as any other.  If its size was chosen by rows held out, its ``path``
    has their errors.  With ``newdata=``, `predictions`, `partial`, `ice` and `ale` have estimates.
    What is computed from training rows later raises `InputError`: predictions of them, importances
    judged by rows, intervals, comparisons, slopes, Shapley values without `background`, `update`,
    growth paths, cross-validation.

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
        """Error of the rows that the tree grew on: mean squared error, or misclassification rate.

        Rows held out to choose its size are not among them.  It is smaller than the error of new
        rows.
        """
        return training_error(self.fit)

    @property
    def r_squared(self) -> float:
        """R²: share of the response's variance that the tree explains in the rows that it grew on.

        Raises
        ------
        InputError
            For classes.
        """
        return training_r_squared(self.fit)

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Confusion matrix of the rows that the tree grew on: observed down, predicted across.

        Entries are sums of case weights.  The column ``error`` is the error rate of each class.

        Raises
        ------
        InputError
            For a regression.
        """
        return training_confusion(self.fit)

    def importance(
        self,
        type: str | None = None,
        *,
        test: str = TEST,
        adjust: str | None = ADJUST,
        groups: Mapping[str, Sequence[str]] | None = None,
        level: float = TEST_LEVEL,
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
            If `type` is another one: rows would have to be there again; if an argument of tests is
            given.
        """
        if type is not None and checked_choice("type", type, IMPORTANCES) != ALL_ROWS_IMPURITY:
            raise InputError(
                f"type={type!r} needs the training rows, and a fit on rows in chunks keeps none: "
                f'use type="{ALL_ROWS_IMPURITY}", or fit a data frame of some of the rows'
            )
        require_no_test(test, adjust, groups, level)
        return impurity_table(self.fit)

    def _measured_importance(self, progress: bool = False) -> MeasuredImportance:
        return importance_by_own_rows(self.fit)

    def _summary(self, progress: bool) -> Summary:
        return all_rows_summary(self.fit, self.path)

    def _shown_card(self) -> Card:
        return self._card()

    def _card(self) -> Card:
        return all_rows_card(self.fit)
