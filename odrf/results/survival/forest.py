"""Results of an oblique random forest for survival times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from odrf import fits, reports
from odrf.checks import (
    MOST,
    checked_choice,
    checked_part,
    checked_whole,
    require_default,
)
from odrf.fits.responses import require_out_of_bag
from odrf.public import public_method, taking
from odrf.results import absent, export, growing
from odrf.results.absent import known
from odrf.results.forest import DROP, FDR, ROUNDS, require_options_of
from odrf.results.importance import KNOCKOFF
from odrf.results.survival import curves as curve_predictions
from odrf.results.survival import importance as importances
from odrf.results.survival import scores
from odrf.results.survival.base import CURVES_OF_TREES, OF_ONE_NUMBER, LeafCurveResults
from odrf.results.survival.estimand import EstimandResults
from odrf.results.survival.tree import SurvivalTreeResults
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from odrf.fits.fit import Fit
    from odrf.fits.survival.fit import SurvivalFit
    from odrf.reports.importance_tests import KnockoffSelection
    from odrf.reports.selection import Elimination, ShadowSelection


BY_ESTIMAND = 'it predicts curves: use estimand("survival", time=...), which has it for one number'


def _grown_again(fit: Fit) -> SurvivalForestResults:
    """Return a forest that was grown again, with its curves."""
    return SurvivalForestResults(fits.survival.fit.with_curves(fit))


def _out_of_bag_scores(result: Any) -> None:
    """Need out-of-bag rows with events."""
    absent.rows(result)
    require_out_of_bag(result.fit, "Out-of-bag scores")
    result._evaluated_training  # noqa: B018 - without events it raises


class SurvivalForestResults(LeafCurveResults):
    """A forest for survival times, as returned by `odrf.odrf` for ``Surv(time, event)``.

    Examples
    --------
    >>> import odrf
    >>> from odrf import simulate
    >>> data = simulate.proportional_hazards().sample(200, seed=1)
    >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    >>> bool(forest.oob_scores.loc["harrell_c", "estimate"] > 0.6)
    True
    """

    _lacks: ClassVar[Mapping[str, str]] = {
        **CURVES_OF_TREES,
        **dict.fromkeys((*OF_ONE_NUMBER, "out-of-bag rows"), BY_ESTIMAND),
        "nodes": "it is of one tree: use tree(i)",
        "to_dot": "it is of one tree: see tree(i).plot()",
        "to_sql": "it predicts curves, which are no column of a table: see tree(i).rules()",
        "subtrees": "use a larger min_leaf= for smaller trees",
        "growth_path": "it is of responses that are numbers or classes: see error_path",
        "strength_correlation": "it is of squared errors of numbers and classes: see score()",
        "get_prediction": "it predicts curves: see bands()",
        "oob_error": BY_ESTIMAND,
        "update": "fit again for more rows; grow() adds trees",
        "rounds": "its trees have no order: see error_path",
    }

    # Predictions
    predict = curve_predictions.predict
    curves = taking(curve_predictions.curves, "cause", "cause_of_curves")
    bands = curve_predictions.bands

    def estimand(self, estimand: str, *, time: float, cause: str | None = None) -> EstimandResults:
        """Return the forest as the regression forest of one number of its curves.

        It has the same trees.  So effects, curves, Shapley values, importances and confidence
        intervals of a number of the curve are those of any forest: the difference that a treatment
        makes for the survival at a year is ``estimand("survival", time=365).comparisons(...)``.

        Parameters
        ----------
        estimand : {"survival", "rmst", "hazard", "incidence", "lost"}
            - ``"survival"``: the probability that the event comes after `time`.
            - ``"rmst"``: the restricted mean survival time, the area under the survival curve up to
              `time`: how long a row is expected to be without the event, of this time.
            - ``"hazard"``: the cumulative hazard at `time`.
            - ``"incidence"``: the probability of an event of the cause by `time`, others being
              possible: of what has one cause, 1 minus survival.
            - ``"lost"``: the time that is expected to be lost by the cause up to `time`, the area
              under its incidence (Andersen 2013).
        time : float
            In the unit of the response.
        cause : str, optional
            The cause of ``"incidence"`` and ``"lost"``, if events have several.

        Returns
        -------
        EstimandResults
            Its `predict` gives the number that `predict` gives here, to rounding.

        Raises
        ------
        InputError
            If the estimand is unknown; if `cause` is missing, unknown, without events, or given
            where there is nothing to choose; if the time is not above 0, is before the first event
            (of the cause, if there is one; of an area: not after it), or is after the last
            observation; if the number is the same for all training rows.

        Warns
        -----
        UserWarning
            If the time is after the last event, where curves stay as they are.

        References
        ----------
        P. K. Andersen (2013). Decomposition of number of life years lost according to causes of
        death. Statistics in Medicine 32, 5278-5285.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.simulate.hazard_jump(p=3).sample(300, seed=1)
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> gained = forest.estimand("rmst", time=1).comparisons("x3", contrast=(0, 0.5))
        >>> list(gained.table["term"])
        ['x3']
        >>> data = odrf.simulate.competing_risks(p=4).sample(300, seed=1)
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> forest.estimand("incidence", time=1, cause="2").design.response.name
        'F(1, 2)'
        """
        return EstimandResults(fits.survival.fit.estimand_fit(self.fit, estimand, time, cause))

    # Scores
    score = taking(scores.score, "cause", "cause_evaluated")
    calibration = taking(scores.calibration, "cause", "cause_evaluated")
    roc = taking(scores.roc, "cause", "cause_evaluated")
    error_path = importances.error_path

    @known(_out_of_bag_scores)
    def oob_scores(self) -> pd.DataFrame:
        """How good out-of-bag risks and curves are: the table of `score`.

        Raises
        ------
        InputError
            If every tree uses all rows.
        """
        return self.score()

    # The trees

    def tree(self, i: int) -> SurvivalTreeResults:
        """Return one tree of the forest as a result.

        Parameters
        ----------
        i : int
            The number of the tree, from 0.

        Returns
        -------
        SurvivalTreeResults
            The rows that it did not sample evaluate it.

        Raises
        ------
        InputError
            If there is no such tree.
        """
        return SurvivalTreeResults(fits.survival.fit.survival_tree_of(self.fit.of_tree(i)))

    splits = export.splits_of_trees
    kinds = export.kinds

    # More trees
    grow = growing.grow
    combine = growing.combine

    def _enlarged(self, k: int, n_jobs: int, progress: bool) -> SurvivalFit:
        larger = fits.updating.enlarged_fit(self.fit, k, n_jobs, progress)
        return fits.survival.fit.with_curves(larger)

    def _with_trees_of(self, other: SurvivalForestResults) -> SurvivalFit:
        return fits.survival.fit.with_curves(fits.updating.combined_fits(self.fit, other.fit))

    # Importance
    importance = importances.importance
    _measured_importance = importances.measured

    @public_method
    def select_variables(
        self,
        method: str = "backward",
        *,
        drop: float = DROP,
        rounds: int = ROUNDS,
        fdr: float = FDR,
        metric: str = "auto",
        progress: bool = False,
    ) -> (
        Elimination[SurvivalForestResults]
        | ShadowSelection[SurvivalForestResults]
        | KnockoffSelection[SurvivalForestResults]
    ):
        """Select few predictors that predict as well as all, or all that have any influence.

        Parameters
        ----------
        method : {"backward", "boruta", "knockoff"}, default "backward"
            ``"backward"``: drop the predictors of smallest permutation importance, step by step,
            grow the forest again, and compare out-of-bag errors.

            ``"boruta"``: compare each predictor with permuted copies of all of them (Kursa and
            Rudnicki 2010), in new forests.  It finds all predictors that tell anything, also those
            that others make needless.

            ``"knockoff"``: compare predictors with knockoffs, by the log-rank scores that splits on
            them explain out of bag; see `ODRFResults.select_variables`.  It bounds the expected
            share of false discoveries.
        drop : float, default 0.2
            For ``"backward"``: share of the predictors that a step drops, at least one predictor.
        rounds : int, default 50
            For ``"boruta"``: most rounds of comparison; see `ODRFResults.select_variables`.
        fdr : float, default 0.1
            For ``"knockoff"``: the bound.  At 0.1 either none or at least ten are selected.
        metric : {"auto", "integrated_brier", "uno_c", "harrell_c"}, default "auto"
            Not for ``"knockoff"``.  What the errors and the importances are of; the errors are 1
            minus C, and importances are of Uno's C in either case.  By default the integrated
            Brier score of the curves.
        {progress}

        Returns
        -------
        Elimination, ShadowSelection or KnockoffSelection
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
        checked_choice("method", method, ("backward", "boruta", KNOCKOFF))
        require_options_of(method, drop=drop, rounds=rounds, fdr=fdr)
        if method == KNOCKOFF:
            require_default("metric", metric, "auto", 'method="backward" or "boruta"')
            return reports.importance_tests.KnockoffSelection(
                self.fit, checked_part("fdr", fdr), _grown_again
            )
        steps = fits.importance_tests.survival_steps(
            checked_choice("metric", metric, fits.importance_tests.ELIMINATED_BY)
        )
        if method == "boruta":
            most = checked_whole("rounds", rounds, 1, MOST)
            return reports.selection.ShadowSelection(
                self.fit, most, progress, SurvivalForestResults, steps
            )
        return reports.selection.Elimination(
            self.fit, checked_part("drop", drop), progress, SurvivalForestResults, steps
        )

    # Plots and summary
    plot = importances.plot

    def _summary(self, progress: bool) -> Summary:
        measured, of_causes = (
            self._measured_importance(None, None, progress),
            self._evaluated_causes(),
        )
        return reports.survival.summaries.survival_summary(
            self.fit, self._validation_if_any, of_causes, measured
        )

    def _card(self) -> Card:
        return reports.survival.summaries.survival_card(self.fit, self._validation_if_any)
