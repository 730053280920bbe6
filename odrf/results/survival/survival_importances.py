"""Importances of predictors of times to an event."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.fits.responses import leaves_rows_out, require_out_of_bag
from odrf.fits.survival.hazards import cause_numbers
from odrf.reports.importance import MeasuredImportance
from odrf.reports.survival.summaries import (
    permutation_measured,
    survival_impurity_measured,
)
from odrf.results.survival.judged_curves import JudgedSurvivalResults

__all__ = ["SurvivalImportances"]

PERMUTATION, IMPURITY = "permutation", "impurity"


class SurvivalImportances(JudgedSurvivalResults):
    """Base class of results for times to an event with importances of predictors."""

    def importance(
        self, type: str | None = None, *, cause: str | None = None, progress: bool = False
    ) -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        Parameters
        ----------
        type : {"permutation", "impurity"}, optional
            By default ``"permutation"``; of trees without rows out of bag, or without events in
            these, ``"impurity"``.

            - ``"permutation"``: by how much Uno's C of the out-of-bag predictions falls when the
              values of the predictor are permuted among the rows.  The whole forest predicts the
              rows anew, so that it is the forest that is judged, not its trees one by one.
            - ``"impurity"``: the decrease of the squared error of the log-rank scores by the splits
              on the predictor, each weighted by the node's share of the rows: the mean over the
              trees.  The rows that chose the splits also judge them: predictors with many cut
              points seem more important than they are.
        cause : str, optional
            For ``"permutation"``: the cause whose events are predicted, as in `score`.  By default
            every cause counts as the event.
        progress : bool, default False
            Show a progress bar of the predictors.

        Returns
        -------
        DataFrame
            Index: predictors as in the formula; a factor is one, whose levels are permuted
            together.  For ``"permutation"`` the columns ``importance``, ``std_error``, ``conf_low``
            and ``conf_high`` (95%); ``monte_carlo_error``, the part of the error that is due to
            random permutations; ``brier_rise`` and ``brier_std_error``, by how much the integrated
            Brier score rises.  For ``"impurity"`` ``importance``, and ``share`` of their sum.

        Raises
        ------
        InputError
            If `type` is unknown; ``"permutation"`` of trees without rows out of bag; if there is no
            such `cause`, or it is given with ``"impurity"``.

        Notes
        -----
        A predictor is permuted 2 to 10 times, the more often the fewer rows.  The permutations
        follow from the fit's seed.  Standard errors are those of the infinitesimal jackknife over
        rows, or over groups of a fit with ``groups=``; the fit is taken as given.  A predictor that
        tells what others tell, too, loses little: the others are there.

        References
        ----------
        L. Breiman (2001). Random forests. Machine Learning 45, 5-32, section 10.

        Examples
        --------
        >>> import odrf
        >>> from odrf import simulate
        >>> data = simulate.proportional_hazards(p=6, relevant=2).sample(200, seed=1)
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> sorted(forest.importance().index[:2])
        ['x1', 'x2']
        """
        return self._measured_importance(type, cause, progress).table.copy()

    def _measured_importance(
        self, type: str | None, cause: str | None, progress: bool
    ) -> MeasuredImportance:
        """Return the importances of a type, or those that are shown first."""
        if type is None:
            judges = leaves_rows_out(self.fit) and self._judging_if_any is not None
            type = PERMUTATION if judges else IMPURITY
        if checked_choice("type", type, (PERMUTATION, IMPURITY)) == IMPURITY:
            if cause is not None:
                raise InputError('cause= is for type="permutation", not "impurity"')
            return survival_impurity_measured(self.fit)
        require_out_of_bag(self.fit, "Permutation importances")
        cause_numbers(cause, self.fit.design.response.causes)
        known = self._permutation_importances
        if cause not in known:
            judged = self._judging(None, cause)
            known[cause] = permutation_measured(self.fit, judged, progress)
        return known[cause]

    @cached_property
    def _permutation_importances(self) -> dict[str | None, MeasuredImportance]:
        """Those that have been computed, by cause; None: of all causes."""
        return {}
