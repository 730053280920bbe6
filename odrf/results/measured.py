"""Importances of predictors: what all fits can tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from odrf import plots
from odrf.checks import checked_choice, is_word
from odrf.errors import InputError
from odrf.fits.fit import AnyFit
from odrf.public import public
from odrf.reports.importance_tables import (
    HELD_OUT,
    MeasuredImportance,
    held_out_table,
    impurity_measured,
    impurity_table,
    judged_measured,
)
from odrf.results.scored import Scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Measured"]

BY_HELD_OUT = "held_out"
IMPORTANCES = (BY_HELD_OUT, "impurity", "out_of_bag", "permutation")


@public
class Measured(Scored):
    """Base class of results with importances of predictors."""

    fit: AnyFit

    def importance(self, type: str | None = None, *, progress: bool = False) -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        Parameters
        ----------
        type : {"held_out", "impurity"}, optional
            By default ``"held_out"``; if there are too few rows to hold some out, ``"impurity"``.

            - ``"held_out"``: the decrease of the variance of the response (for classes, of the
              Gini index) by the splits on the predictor, judged by rows that did not grow the tree:
              the covariance of the response with the change of the prediction that a split makes
              (Li et al. 2019).  For splits without a relation to the response it is 0 on average,
              whether on numbers or on a factor of many levels.  It may be below 0.
            - ``"impurity"``: the impurity decrease of the splits on the predictor, each weighted by
              the node's share of the rows: the mean over the trees.  For boosted trees, decrease
              times node weight: the sum over the trees.  The rows that chose the splits also judge
              them: predictors with many cut points seem more important than they are.

            What a split on several predictors adds is divided among them: in proportion to the
            absolute values of their coefficients, for numbers scaled to [0, 1]; of a factor the
            range of its coefficients, 0 among them, stands for it.  So a predictor without a
            relation that is split on together with others has a part of what these add.
        progress : bool, default False
            Show a progress bar while trees are grown.

        Returns
        -------
        DataFrame
            Index: predictors as in the formula; a factor is one.  Columns: ``importance``, and
            ``share``, its share of the sum of those above 0.

        Raises
        ------
        InputError
            If `type` is unknown; ``"held_out"`` with too few rows; ``"out_of_bag"`` or
            ``"permutation"``, which only forests of `odrf.odrf` have.

        Notes
        -----
        No row is held out of a tree of `odrf.odt`, of boosted trees of one run, and of a guided
        forest.  So for ``"held_out"`` the fit is made again on parts of the rows, and each part
        judges the trees that were grown without it (cross-fitting).  The result is for trees as
        these options grow them on so many rows, not for each split of this fit:

        - a tree is grown again without each of five folds, or without each of two halves if rows
          times columns are more than 20,000;
        - boosted trees are grown again without each half of the rows;
        - of a guided forest, half of the trees are grown again on each half of the rows.

        If held-out rows choose the size of the tree or the number of rounds, these are chosen
        again: the rows that judge have chosen nothing.  A tree that `prune` has cut is judged by
        trees of as many leaves; if held-out rows chose this number, the importances are a little
        too large.  A tree without splits has importances of 0.

        All this is done once, and follows from the fit's seed.  It takes about as long as the fit;
        for small tables, of which a fit takes a fraction of a second, up to five times as long.

        Boosted trees of several runs are judged by the rows that each run did not draw, which with
        ``validation="oob"`` have also chosen the number of rounds.  A tree taken from a forest is
        judged by the rows that it did not draw.

        Every plane of a guided forest uses all columns of its tree, so that its coefficients do not
        tell which of them divides the regions.  Its importances are the covariance of response and
        prediction, minus what is left of it when the predictor is permuted among the rows that
        judge.

        Of boosted trees, the importance is the covariance of the response with the scores, summed
        over the trees.  For a loss other than the squared error, the response is replaced by the
        slope of the loss before the first round, with opposite sign: for classes the difference
        between indicator and class share.

        References
        ----------
        X. Li, Y. Wang, S. Basu, K. Kumbier and B. Yu (2019). A debiased MDI feature importance
        measure for random forests. NeurIPS.

        Examples
        --------
        >>> import odrf
        >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), max_leaves=8, seed=1)
        >>> list(tree.importance().columns)
        ['importance', 'share']
        """
        if is_word(type, "permutation") or is_word(type, "out_of_bag"):
            raise InputError(
                f'type="{type}" needs out-of-bag rows of every tree, which only forests of odrf() '
                f'have: use type="{BY_HELD_OUT}"'
            )
        if type is None:
            return self._measured_importance(progress).table.copy()
        if checked_choice("type", type, IMPORTANCES) == "impurity":
            return impurity_table(self.fit)
        table = self._held_out_importance(progress)
        if table is None:
            raise InputError(
                f'type="{BY_HELD_OUT}" needs more rows: in each part of them the response must '
                'vary; use type="impurity"'
            )
        return table.copy()

    def _held_out_importance(self, progress: bool) -> pd.DataFrame | None:
        if "_held_out_table" not in vars(self):
            self._held_out_table = held_out_table(self.fit, progress)
        return self._held_out_table

    def _measured_importance(self, progress: bool = False) -> MeasuredImportance:
        """Return the importances that are shown first."""
        table = self._held_out_importance(progress)
        if table is None:
            return impurity_measured(self.fit)
        return judged_measured(self.fit, table, HELD_OUT)

    def _plot_importance(self, ax: Axes | None, progress: bool) -> Axes:
        measured = self._measured_importance(progress)
        return plots.plot_importance(measured.table["share"], measured.measure, ax)
