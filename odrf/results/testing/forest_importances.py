"""Importances of the predictors of a forest, and tests of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from odrf.checks import is_word
from odrf.fits.fit import Fit
from odrf.fits.responses import leaves_rows_out, require_out_of_bag
from odrf.public import public
from odrf.reports.importance import (
    OUT_OF_BAG,
    MeasuredImportance,
    judged_measured,
    out_of_bag_table,
    permutation_table,
)
from odrf.reports.importance_tests import knockoff_table, warn_of_correlation
from odrf.results.forest_predicting import ForestPredicting
from odrf.results.measured import ADJUST, KNOCKOFF, LEVEL, TEST, require_no_test

__all__ = ["ForestImportances"]

PERMUTATION, BY_OUT_OF_BAG = "permutation", "out_of_bag"
OF_FORESTS = (PERMUTATION, BY_OUT_OF_BAG, KNOCKOFF)


@public
class ForestImportances(ForestPredicting):
    """Base class of forests with importances of their predictors."""

    fit: Fit

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
        type : {"out_of_bag", "impurity", "permutation", "held_out", "conditional", "loco", \
"knockoff"}, optional
            By default ``"out_of_bag"``; if every tree uses all rows, ``"held_out"``, or
            ``"impurity"`` if there are too few rows to hold some out.

            - ``"out_of_bag"``: the decrease of the variance of the response (for classes, of the
              Gini index) by the splits on the predictor, judged by the rows that each tree did not
              draw (Li et al. 2019).  For splits without a relation to the response it is 0 on
              average, whether on numbers or on a factor of many levels.  It may be below 0.
            - ``"impurity"``: the impurity decrease of its splits, as in `ODTResults.importance`.
              The rows that chose the splits also judge them: predictors with many cut points seem
              more important than they are.
            - ``"permutation"``: the increase of a tree's out-of-bag loss (squared error, or
              misclassification) when the predictor's values are permuted: the mean over the trees.
              Where predictors are strongly correlated, permuting makes rows that do not occur:
              see ``"conditional"``.
            - ``"held_out"``: as in `ODTResults.importance`.  If every tree uses all rows, half of
              the trees are grown again on each half of the rows, and judged by the other half.
            - ``"conditional"``, ``"loco"``: tests of each variable, as in `ODTResults.importance`.
            - ``"knockoff"``: each predictor compared with its knockoff, as in `select_variables`.

            Splits on several predictors are divided among them as in `ODTResults.importance`.
        test, adjust, groups, level
            For ``"conditional"`` and ``"loco"``: as in `ODTResults.importance`.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        DataFrame
            Index: predictors as in the formula; a factor is one.  Columns: ``importance``; for
            all but permutation ``share``, its share of the sum of those above 0; for permutation
            ``std_error``, the standard error of the mean over rows and trees, and
            ``monte_carlo_error``, the part of it that more trees make small.  The standard error is
            for this forest: it tells whether a predictor matters to it, not how the importance
            would vary with another sample.  For tests the columns of `ODTResults.importance`; for
            knockoffs these, too, with ``estimate`` the difference of the importances of predictor
            and knockoff, ``p_adjusted`` the smallest false discovery rate at which the predictor is
            selected, and NaN elsewhere.

        Raises
        ------
        InputError
            If `type` is unknown, or if it needs out-of-bag rows and there are none; as in
            `ODTResults.importance`.

        Warns
        -----
        UserWarning
            For permutation: two predictors are strongly correlated.

        References
        ----------
        X. Li, Y. Wang, S. Basu, K. Kumbier and B. Yu (2019). A debiased MDI feature importance
        measure for random forests. NeurIPS.
        """
        if isinstance(type, str) and type in OF_FORESTS:
            require_no_test(test, adjust, groups, level)
        if is_word(type, PERMUTATION):
            require_out_of_bag(self.fit, "Permutation importances")
            if "_permutation_table" not in vars(self):
                warn_of_correlation(self.fit)
                self._permutation_table = permutation_table(self.fit, progress)
            return self._permutation_table.copy()
        if is_word(type, BY_OUT_OF_BAG):
            require_out_of_bag(self.fit, "Out-of-bag importances")
            return self._out_of_bag_importance(progress).copy()
        if is_word(type, KNOCKOFF):
            return knockoff_table(self.fit)
        return super().importance(
            type, test=test, adjust=adjust, groups=groups, level=level, progress=progress
        )

    def _out_of_bag_importance(self, progress: bool) -> pd.DataFrame:
        if "_out_of_bag_table" not in vars(self):
            self._out_of_bag_table = out_of_bag_table(self.fit, progress)
        return self._out_of_bag_table

    def _measured_importance(self, progress: bool = False) -> MeasuredImportance:
        if leaves_rows_out(self.fit):
            return judged_measured(self.fit, self._out_of_bag_importance(progress), OUT_OF_BAG)
        return super()._measured_importance(progress)
