"""Results of one oblique tree of all rows in chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import pandas as pd

from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.fits.all_rows.all_rows_fit import AllRowsFit
from odrf.reports.chunks import (
    all_rows_card,
    all_rows_summary,
    importance_by_own_rows,
    training_confusion,
    training_error,
    training_r_squared,
)
from odrf.reports.importance import MeasuredImportance, impurity_table
from odrf.reports.paths import PruningPath
from odrf.results.measured import ADJUST, IMPORTANCES, LEVEL, TEST, require_no_test
from odrf.results.streamed.chunk_predicting import ChunkPredicting
from odrf.results.tree import ODTResults
from odrf.text.summary import Card, Summary

__all__ = ["AllRowsResults"]

IMPURITY = "impurity"


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
        level: float = LEVEL,
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
        if type is not None and checked_choice("type", type, IMPORTANCES) != IMPURITY:
            raise InputError(
                f"type={type!r} needs the training rows, and a fit on rows in chunks keeps none: "
                f'use type="{IMPURITY}", or fit a data frame of some of the rows'
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
