"""Results of one oblique tree for survival times."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from odrf import fits, plots, reports
from odrf.checks import checked_choice, is_word
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.public import public_method, taking
from odrf.results import export, pruning
from odrf.results.importance import DIGITS, MOST_TERMS, check_drawn_tree
from odrf.results.survival import curves as curve_predictions
from odrf.results.survival import importance as importances
from odrf.results.survival import scores
from odrf.results.survival.base import CURVES_OF_TREES, OF_ONE_NUMBER, LeafCurveResults
from odrf.results.survival.importance import (
    CURVES,
    IMPORTANCE,
    IMPURITY,
    PERMUTATION,
    draw_curves,
    draw_importance,
)
from odrf.results.tree import OF_ONE_TREE
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odrf.fits.survival.fit import SurvivalFit
    from odrf.plots.survival import CurvesInLeaves
    from odrf.reports.importance import MeasuredImportance
    from odrf.reports.paths import PruningPath

PLOTS = ("tree", CURVES, IMPORTANCE)
OF_A_FOREST = (
    'it predicts curves: use estimand("survival", time=...) of a forest of odrf(), which has it '
    "for one number"
)


class SurvivalTreeResults(LeafCurveResults):
    """A tree for survival times, as returned by `odrf.odt` for ``Surv(time, event)``.

    A leaf predicts the Kaplan–Meier curve of its rows, and the incidence of each of several causes
    by their Aalen–Johansen estimate.  The tree is pruned, and its nodes are described, by the
    exponential deviance (LeBlanc and Crowley 1992), whatever it was grown by; with
    ``loss="log_rank"`` it is pruned by the log-rank statistics of its splits (LeBlanc and Crowley
    1993).  Of several causes the deviances are added up.  A tree whose splits are about one cause
    counts the events of this one alone, in deviances, hazards and statistics: the others are
    censored, or with ``criterion="gray"`` their rows stay at risk, weighted as by Fine and Gray
    (1999).

    Parameters
    ----------
    fit : SurvivalFit
        Design, data, options and tree.
    parent : SurvivalTreeResults, optional
        The tree before pruning.
    path : PruningPath, optional
        The pruning path that this tree was chosen from.

    Attributes
    ----------
    fit, parent, path

    References
    ----------
    J. P. Fine and R. J. Gray (1999). A proportional hazards model for the subdistribution of a
    competing risk. Journal of the American Statistical Association 94, 496-509.

    M. LeBlanc and J. Crowley (1992). Relative risk trees for censored survival data. Biometrics 48,
    411-425.

    M. LeBlanc and J. Crowley (1993). Survival trees by goodness of split. Journal of the American
    Statistical Association 88, 457-467.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("gbsg2")
    >>> tree = odrf.odt("Surv(time, event) ~ .", data, max_leaves=4, seed=1)
    >>> nodes = tree.nodes[tree.nodes["leaf"]]
    >>> nodes[["count", "events", "relative_hazard"]].sort_values("relative_hazard").shape
    (4, 3)
    >>> tree.pruning_path(cv=5).table.columns.tolist()
    ['alpha', 'leaves', 'error', 'relative_error', 'xerror', 'xstd']
    """

    fit: SurvivalFit
    _lacks: ClassVar[Mapping[str, str]] = {
        **CURVES_OF_TREES,
        **OF_ONE_TREE,
        "curves": "it is of forests: use odrf()",
        "bands": "they compare the trees of a forest: use odrf()",
        "oob_scores": "see score(), of the rows that grew the tree, or score(newdata)",
        **dict.fromkeys(OF_ONE_NUMBER, OF_A_FOREST),
        "growth_path": "see pruning_path(), by the deviance or by log-rank statistics",
        "to_dot": "see plot() and rules()",
        "to_sql": "it predicts curves, which are no column of a table: see rules()",
    }

    def __init__(
        self,
        fit: Fit,
        parent: SurvivalTreeResults | None = None,
        path: PruningPath[Any] | None = None,
    ) -> None:
        super().__init__(fit)
        if parent is None:
            parent, path = pruning.before_pruning(self, path)
        self.parent, self.path = parent, path

    __str__ = export.tree_as_text

    # Fit
    @property
    def n_leaves(self) -> int:  # type: ignore[override]
        """Number of leaves."""
        return int(self.fit.forest.leaves()[0])

    # Predictions
    predict = curve_predictions.predict
    curves = taking(curve_predictions.curves, "cause", "cause_of_curves")

    # Scores
    score = taking(scores.score, "cause", "cause_evaluated")
    calibration = taking(scores.calibration, "cause", "cause_evaluated")
    roc = taking(scores.roc, "cause", "cause_evaluated")
    error_path = importances.error_path

    # The tree
    splits = export.splits
    surrogates = export.surrogates

    # Pruning
    pruning_path = pruning.pruning_path
    prune = pruning.prune

    # The tree
    @cached_property
    def nodes(self) -> pd.DataFrame:
        """The nodes, one row each; the index is the node's number, 0 for the root.

        Columns: ``parent``, ``depth``, ``leaf``, ``left``, ``right`` (numbers of the children),
        ``count`` and ``weight`` (number and total weight of the training rows), ``impurity`` (the
        exponential deviance per unit of weight), ``gain`` (its decrease by the split), ``order``
        (rank of the split in the tree's growth), ``events``, ``person_time`` (how long the rows
        were observed, all together), ``rate`` (events divided by person-time), ``median`` (of the
        Kaplan–Meier curve, infinite if less than half had the event by the last event time),
        ``relative_hazard``: events divided by the number expected by the hazard of all rows, both
        plus 1, as in rpart; and ``log_rank``: the log-rank statistic of the rows on the left of a
        split against those on its right, missing at leaves.  Of several causes it is the sum of
        theirs, the events of the others being censored.  Of a tree whose splits are about one
        cause, all of these are about this cause: ``median`` is the time by which half have had an
        event of it, others being possible, and infinite if fewer have.  Of several causes there are
        two more columns for each, such as ``events(relapse)`` and ``incidence(relapse)``: the
        number of its events, and the Aalen–Johansen estimate of the probability of one by the last
        event time.  Where subjects have several rows each (see `groups` of `odrf.odt`),
        ``subjects`` is their number.  In an honest tree ``count`` and the columns after it, except
        ``order``, are those of the rows that did not choose splits.
        """
        return reports.survival.summaries.hazard_nodes(self.fit)

    rules = export.rules

    # Importance

    @public_method
    def importance(
        self, type: str | None = None, *, cause: str | None = None, progress: bool = False
    ) -> pd.DataFrame:
        """Return how much exponential deviance each predictor removes, the most important first.

        What a split on several predictors removes is divided among them, as in
        `ODTResults.importance`.  The rows that chose the splits also evaluate them: predictors with
        many cut points seem more important than they are.

        Parameters
        ----------
        type : {"impurity"}, optional
            The only one; ``"permutation"`` is for forests.
        cause : None
            For forests: the exponential deviance is that of all causes, or of the one that splits
            are about.
        {progress}

        Returns
        -------
        DataFrame
            Index: predictors as in the formula.  Columns: ``importance``, and ``share``, its share
            of the sum.

        Raises
        ------
        InputError
            If `type` is another one.
        """
        return self._measured_importance(type, cause, progress).table.copy()

    def _measured_importance(
        self, type: str | None, cause: str | None, progress: bool
    ) -> MeasuredImportance:
        if is_word(type, PERMUTATION):
            raise InputError(
                'type="permutation" evaluates all trees of a forest together; this is one tree: '
                "use importance() of a forest of odrf()"
            )
        checked_choice("type", IMPURITY if type is None else type, (IMPURITY,))
        if cause is not None:
            raise InputError('cause= is for type="permutation" of forests: leave it out')
        return reports.survival.summaries.deviance_measured(self.fit)

    # Plots and summary

    @public_method
    def plot(
        self,
        kind: str = "tree",
        *,
        ax: Axes | None = None,
        max_depth: int | None = None,
        max_terms: int = MOST_TERMS,
        digits: int = DIGITS,
        cause: str | None = None,
    ) -> Axes:
        """Plot the tree with the Kaplan–Meier curves of its leaves, its predictions or importances.

        A leaf shows its relative hazard, as in `nodes`, the numbers of its rows and events, and its
        curve from 0 to the last event time; the grey one behind it is that of all rows.  The darker
        a leaf, the larger its hazard.  With a `cause` the curves are the Aalen–Johansen estimates
        of its incidence.

        Parameters
        ----------
        kind : {"tree", "curves", "importance"}, default "tree"
            ``"curves"``: the training rows in four groups of similar risk, as for forests, but
            predicted by the tree that they grew; of a tree of a forest, rows that it did not
            sample.
        ax : Axes, optional
            Where to draw.  By default on a new figure that is large enough for the tree.
        max_depth : int, optional
            Levels of splits to draw.  By default all, or as many as stay readable.
        max_terms : int, default 3
            Most terms of a linear combination, or levels of a factor, in a box.
        digits : int, default 3
            Significant digits.
        cause : str, optional
            The cause of events whose incidence curves are drawn, if there are several; by default
            the one that splits are about, or all.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or an argument is given that is for another kind; if a number is
            below 1; if there is no such `cause`, or the tree is about another one.
        """
        checked_choice("kind", kind, PLOTS)
        check_drawn_tree(kind, max_depth, max_terms, digits)
        if kind == CURVES:
            return draw_curves(self, ax, cause)
        if kind == IMPORTANCE:
            return draw_importance(self, ax, None, cause, False)
        fit = self.fit
        return plots.survival.plot_survival_tree(
            fit.forest,
            fit.design,
            self._curves_in_leaves(cause, digits),
            ax=ax,
            max_depth=max_depth,
            max_terms=max_terms,
        )

    def _curves_in_leaves(self, cause: str | None, digits: int) -> CurvesInLeaves:
        """Return what leaves show of one cause, by default that of splits, or of all."""
        fit, hazards, about = (
            self.fit,
            reports.survival.summaries.hazards_of(self.fit),
            self.fit.control.cause,
        )
        cause = about if cause is None else str(cause)
        code = int(fits.survival.hazards.cause_numbers(cause, fit.design.response.causes)[0])
        if about not in (None, cause):
            raise InputError(
                f"cause={cause!r}: splits and hazards of this tree are about {about!r}: fit "
                "without cause=, or with this one"
            )
        return plots.survival.CurvesInLeaves(
            fit.forest.count,
            hazards.events * fit.training.weight_unit,
            hazards.relative if cause == about else hazards.relative_of(code),
            fit.curves,
            fit.event_times,
            digits,
            reports.survival.summaries.counted_by_cause(fit),
            cause,
            code,
            hazards.subjects,
        )

    def _summary(self, progress: bool) -> Summary:
        return reports.survival.summaries.survival_tree_summary(
            self.fit, self._validation_if_any, self._evaluated_causes(), self.path
        )

    def _card(self) -> Card:
        return reports.survival.summaries.survival_card(self.fit, self._validation_if_any)
