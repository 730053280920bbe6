"""Results of an oblique random forest for times to an event."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from odrf import fits, reports
from odrf.checks import (
    MOST,
    checked_choice,
    checked_jobs,
    checked_part,
    checked_whole,
    is_whole,
    is_word,
    require_default,
)
from odrf.errors import InputError
from odrf.fits.responses import require_out_of_bag
from odrf.results.forest import DROP, ROUNDS
from odrf.results.survival.base import ShownSurvivalResults
from odrf.results.survival.estimand import CurveEstimates
from odrf.results.survival.tree import SurvivalTreeResults
from odrf.text.summary import Card

if TYPE_CHECKING:
    from odrf.reports.selection import Elimination, ShadowSelection


class SurvivalForestResults(CurveEstimates, ShownSurvivalResults):
    """A forest for times to an event, as returned by `odrf.odrf` for ``Surv(time, event)``.

    Examples
    --------
    >>> import odrf
    >>> from odrf import simulate
    >>> data = simulate.proportional_hazards().sample(200, seed=1)
    >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    >>> bool(forest.oob_scores.loc["harrell_c", "estimate"] > 0.6)
    True
    """

    @property
    def oob_scores(self) -> pd.DataFrame:
        """How good out-of-bag risks and curves are: the table of `score`.

        Raises
        ------
        InputError
            If every tree uses all rows.
        """
        require_out_of_bag(self.fit, "Out-of-bag scores")
        return self.score()

    def tree(self, i: int) -> SurvivalTreeResults:
        """Return one tree of the forest as a result.

        Parameters
        ----------
        i : int
            The number of the tree, from 0.

        Returns
        -------
        SurvivalTreeResults
            The rows that it did not draw evaluate it.

        Raises
        ------
        InputError
            If there is no such tree.
        """
        n_trees = self.forest.n_trees
        if not is_whole(i) or not 0 <= i < n_trees:
            raise InputError(f"i={i!r} is not a tree of this forest: use 0 to {n_trees - 1}")
        return SurvivalTreeResults(fits.survival.fit.survival_tree_of(self.fit.of_tree(int(i))))

    @cached_property
    def splits(self) -> pd.DataFrame:
        """The splits of all trees, one row for each coefficient.

        Column ``tree`` is the number of the tree, from 0, as in ``predict(type="leaf")``.  The
        other columns are those of `ODTResults.splits`.
        """
        return reports.tree.splits_of_trees(self.fit.forest, self.fit.design)

    @property
    def kinds(self) -> pd.DataFrame:
        """The kinds of trees in a blended forest, one row each.

        The columns are those of `ODRFResults.kinds`; ``pilot_error`` is the sum of the Brier
        scores at nine quantiles of the event times.

        Raises
        ------
        InputError
            If all trees are of one kind.
        """
        if self.fit.blend is None:
            raise InputError("all trees are of one kind: fit with blend=True for several")
        return reports.data_summary.kinds_table(self.fit.blend, self.fit.kinds)

    def select_variables(
        self,
        method: str = "backward",
        *,
        drop: float = DROP,
        rounds: int = ROUNDS,
        metric: str = "auto",
        progress: bool = False,
    ) -> Elimination[SurvivalForestResults] | ShadowSelection[SurvivalForestResults]:
        """Select few predictors that predict as well as all, or all that have any influence.

        Parameters
        ----------
        method : {"backward", "boruta"}, default "backward"
            ``"backward"``: drop the predictors of smallest permutation importance, step by step,
            grow the forest again, and compare out-of-bag errors.

            ``"boruta"``: compare each predictor with permuted copies of all of them (Kursa and
            Rudnicki 2010), in new forests.  It finds all predictors that tell anything, also those
            that others make needless.
        drop : float, default 0.2
            For ``"backward"``: share of the predictors that a step drops, at least one predictor.
        rounds : int, default 50
            For ``"boruta"``: most rounds of comparison; see `ODRFResults.select_variables`.
        metric : {"auto", "integrated_brier", "uno_c", "harrell_c"}, default "auto"
            What the errors and the importances are of; the errors are 1 minus C, and importances
            are of Uno's C in either case.  By default the integrated Brier score of the curves.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        Elimination or ShadowSelection
            With ``table``, ``selected()``, ``best()``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If an option is unknown, out of range, or for another method; or no rows are out of bag.

        References
        ----------
        M. B. Kursa and W. R. Rudnicki (2010). Feature selection with the Boruta package. Journal of
        Statistical Software 36 (11).

        Examples
        --------
        >>> import odrf
        >>> from odrf import simulate
        >>> data = simulate.proportional_hazards(p=6, relevant=2).sample(300, seed=1)
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> forest.select_variables().table["predictors"].tolist()
        [6, 5, 4, 3, 2, 1]
        """
        require_out_of_bag(self.fit, "Selections of variables")
        if is_word(method, "knockoff"):
            raise InputError(
                'method="knockoff" is for forests of numbers and classes: use method="boruta", or '
                '"backward"'
            )
        checked_choice("method", method, ("backward", "boruta"))
        steps = fits.importance_tests.survival_steps(
            checked_choice("metric", metric, fits.importance_tests.ELIMINATED_BY)
        )
        if method == "boruta":
            require_default("drop", drop, DROP, 'method="backward"')
            most = checked_whole("rounds", rounds, 1, MOST)
            return reports.selection.ShadowSelection(
                self.fit, most, progress, SurvivalForestResults, steps
            )
        require_default("rounds", rounds, ROUNDS, 'method="boruta"')
        return reports.selection.Elimination(
            self.fit, checked_part("drop", drop), progress, SurvivalForestResults, steps
        )

    def grow(
        self, k: int, *, n_jobs: int | None = None, progress: bool = False
    ) -> SurvivalForestResults:
        """Return the forest with `k` more trees, bit for bit as if all had been grown at once.

        Parameters
        ----------
        k : int
            Number of trees to add.
        n_jobs : int, optional
            Threads; by default those of the fit.  The result is the same for any number.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        SurvivalForestResults
            A new result; this one does not change.

        Raises
        ------
        InputError
            If `k` is not a whole number of at least 1; if the forest comes from `combine`.

        Notes
        -----
        As of other forests; see `ODRFResults.grow`.
        """
        threads = self.fit.control.n_jobs if n_jobs is None else checked_jobs(n_jobs)
        larger = fits.updating.enlarged_fit(
            self.fit, checked_whole("k", k, 1, MOST), threads, progress
        )
        return SurvivalForestResults(fits.survival.fit.with_curves(larger))

    def combine(self, other: SurvivalForestResults) -> SurvivalForestResults:
        """Return a forest of the trees of both forests, which predicts the mean of all of them.

        Parameters
        ----------
        other : SurvivalForestResults
            A forest of the same call, with another seed and perhaps another number of trees.

        Returns
        -------
        SurvivalForestResults
            First the trees of this forest, then those of `other`.

        Raises
        ------
        InputError
            If `other` is no such forest, the forests differ in anything else, or share trees.

        Notes
        -----
        As of other forests; see `ODRFResults.combine`.
        """
        if not isinstance(other, SurvivalForestResults):
            raise InputError(
                f"other={type(other).__name__}: combine() needs two forests of one function, "
                "and this is SurvivalForestResults"
            )
        return SurvivalForestResults(
            fits.survival.fit.with_curves(fits.updating.combined_fits(self.fit, other.fit))
        )

    def _card(self) -> Card:
        return reports.survival.summaries.survival_card(self.fit, self._validation_if_any)
