"""Results of forests whose rows came in chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits, reports
from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.fits.fit import StreamedFit
from odrf.public import public_method
from odrf.results.absent import classes, known, numbers
from odrf.results.forest import ODRFResults
from odrf.results.importance import ADJUST, IMPORTANCES, TEST, TEST_LEVEL, require_no_test
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from odrf.reports.importance import MeasuredImportance


OUT_OF_BAG, IMPURITY = "out_of_bag", "impurity"


def _evaluated(result: Any) -> None:
    """Need rows that have evaluated this very forest."""
    reports.chunks.summed_rows(result.fit)


class StreamedResults(ODRFResults):
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
    _lacks: ClassVar[Mapping[str, str]] = {
        "kinds": "trees grown on rows in chunks are all of one kind",
        "an estimator": "estimators of scikit-learn have training rows in memory, and a fit on "
        "rows in chunks has none: use predict()",
    }

    # Out of bag
    @known(_evaluated)
    def oob_error(self) -> float:
        """Out-of-bag mean squared error, or misclassification rate.

        Raises
        ------
        InputError
            If rows have not evaluated this very forest, but the one that it was pruned from or to.
        """
        return float(reports.chunks.summed_rows(self.fit).error_path[-1])

    @known(_evaluated)
    def oob_scores(self) -> pd.Series:
        """Scores of the out-of-bag predictions of all rows, weighted by case weights.

        For a regression ``mse`` and ``r2``; for classes ``error``, ``brier`` and ``log_loss``, in
        which a probability of 0 counts as 2⁻⁵².  ``rows`` are the rows of positive weight that some
        tree did not sample.

        Raises
        ------
        InputError
            If rows have not evaluated this very forest, but the one that it was pruned from or to.
        """
        return reports.chunks.streamed_scores(self.fit)

    @known(_evaluated)
    def error_path(self) -> pd.Series:
        """Out-of-bag error of the first 1, 2, … trees.

        Raises
        ------
        InputError
            If rows have not evaluated this very forest, but the one that it was pruned from or to.
        """
        path = reports.chunks.summed_rows(self.fit).error_path
        index = pd.RangeIndex(1, len(path) + 1, name="trees")
        return pd.Series(path, index=index, name=f"out-of-bag {fits.scores.error_name(self.kind)}")

    @known(numbers, _evaluated)
    def r_squared(self) -> float:
        """R²: share of the response's variance that out-of-bag predictions explain.

        Raises
        ------
        InputError
            For classes; as `oob_error`.
        """
        return reports.chunks.streamed_r_squared(self.fit)

    @known(classes, _evaluated)
    def confusion_matrix(self) -> pd.DataFrame:
        """Confusion matrix out of bag: observed classes down, predicted classes across.

        Entries are sums of case weights.  The column ``error`` is the error rate of each class.

        Raises
        ------
        InputError
            For a regression; as `oob_error`.
        """
        return reports.chunks.streamed_confusion(self.fit)

    # Importance
    @public_method
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
            - ``"out_of_bag"``: the decrease of the variance of the response (for classes, of the
              Gini index) by the splits on the predictor, evaluated by the rows that each tree did
              not sample, summed up while they passed by.
            {about impurity}
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
            return reports.importance.impurity_table(self.fit)
        reports.chunks.summed_rows(self.fit)  # refuses what the rows have not evaluated
        return reports.chunks.streamed_importance(self.fit).table

    def _measured_importance(self, progress: bool = False) -> MeasuredImportance:
        return reports.chunks.streamed_importance(self.fit)

    def _summary(self, progress: bool) -> Summary:
        return reports.chunks.streamed_summary(self.fit)

    def _shown_card(self) -> Card:
        return self._card()

    def _card(self) -> Card:
        return reports.chunks.streamed_card(self.fit)

    def _noise_residuals(self) -> NDArray[np.float64]:
        return np.empty(0)
