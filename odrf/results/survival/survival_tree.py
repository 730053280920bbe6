"""Results of one oblique tree for times to an event."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from odrf import plots
from odrf.checks import checked_choice, checked_truth, checked_whole, is_word
from odrf.errors import InputError
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.reports.data_summary import with_data
from odrf.reports.importance_tables import MeasuredImportance
from odrf.reports.node_tables import splits_table
from odrf.reports.survival.hazard_nodes import hazard_nodes, hazard_rules, hazards_of
from odrf.reports.survival.survival_summary import survival_card
from odrf.reports.survival.survival_tree_summary import deviance_measured, survival_tree_summary
from odrf.results.of_one_tree.drawn_tree import DIGITS, MOST_TERMS, check_drawn_tree
from odrf.results.of_one_tree.prunable_tree import PrunableTree
from odrf.results.survival.survival_importances import IMPURITY, PERMUTATION
from odrf.results.survival.survival_plots import CURVES, IMPORTANCE
from odrf.results.survival.survival_shown import ShownSurvivalResults
from odrf.text.card import Card
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SurvivalTreeResults"]

PLOTS = ("tree", CURVES, IMPORTANCE)


class SurvivalTreeResults(PrunableTree, ShownSurvivalResults):
    """A tree for times to an event, as returned by `odrf.odt` for ``Surv(time, event)``.

    A leaf predicts the Kaplan–Meier curve of its rows.  The tree is pruned, and its nodes are
    described, by the exponential deviance (LeBlanc and Crowley 1992), whatever it was grown by;
    with ``loss="log_rank"`` it is pruned by the log-rank statistics of its splits (LeBlanc and
    Crowley 1993).  Of several causes the deviances are added up.  A tree whose splits are about one
    cause counts the events of this one alone, in deviances, hazards and statistics: the others are
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

    M. LeBlanc and J. Crowley (1992). Relative risk trees for censored survival data. Biometrics
    48, 411-425.

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
        cause, all of these but ``median`` are about this cause.  In an honest tree ``count`` and
        the columns after it, except ``order``, are those of the rows that did not choose splits.
        """
        return hazard_nodes(self.fit)

    @cached_property
    def splits(self) -> pd.DataFrame:
        """The splits, one row for each coefficient; see `odrf.results.tree.ODTResults.splits`."""
        return splits_table(self.fit.forest, self.fit.design)

    def rules(self, digits: int = 4, max_terms: int | None = None) -> str:
        """Return the tree as text: an indented line for each node, with ``*`` at the leaves.

        Each line has the number of rows and of events, the median time and the relative hazard, as
        in `nodes`.

        Parameters
        ----------
        digits : int, default 4
            Significant digits.
        max_terms : int, optional
            Most terms of a sum, or levels of a factor; by default all.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If `digits` or `max_terms` is not a whole number of at least 1.
        """
        digits = checked_whole("digits", digits, 1)
        if max_terms is not None:
            max_terms = checked_whole("max_terms", max_terms, 1)
        return hazard_rules(self.fit, digits, max_terms)

    def importance(
        self, type: str | None = None, *, cause: str | None = None, progress: bool = False
    ) -> pd.DataFrame:
        """Return how much exponential deviance each predictor removes, the most important first.

        What a split on several predictors removes is divided among them, as in
        `ODTResults.importance`.  The rows that chose the splits also judge them: predictors with
        many cut points seem more important than they are.

        Parameters
        ----------
        type : {"impurity"}, optional
            The only one; ``"permutation"`` is for forests.
        cause : None
            For forests: the exponential deviance is that of all causes, or of the one that splits
            are about.
        progress : bool, default False
            Without effect: there is nothing to wait for.

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
                'type="permutation" judges all trees of a forest together, and this is one tree: '
                "use importance() of a forest of odrf()"
            )
        checked_choice("type", IMPURITY if type is None else type, (IMPURITY,))
        if cause is not None:
            raise InputError('cause= is for type="permutation" of forests: leave it out')
        return deviance_measured(self.fit)

    # one tree is one panel, and has arguments that forests do not have
    def plot(  # type: ignore[override]
        self,
        kind: str = "tree",
        *,
        ax: Axes | None = None,
        max_depth: int | None = None,
        max_terms: int = MOST_TERMS,
        digits: int = DIGITS,
    ) -> Axes:
        """Plot the tree with the Kaplan–Meier curves of its leaves, its predictions or importances.

        A leaf shows its relative hazard, as in `nodes`, the numbers of its rows and events, and its
        curve from 0 to the last event time; the grey one behind it is that of all rows.  The darker
        a leaf, the larger its hazard.

        Parameters
        ----------
        kind : {"tree", "curves", "importance"}, default "tree"
            ``"curves"``: the training rows in four groups of similar risk, as for forests, but
            predicted by the tree that they grew; of a tree of a forest, rows that it did not draw.
        ax : Axes, optional
            Where to draw.  By default on a new figure that is large enough for the tree.
        max_depth : int, optional
            Levels of splits to draw.  By default all, or as many as stay readable.
        max_terms : int, default 3
            Most terms of a linear combination, or levels of a factor, in a box.
        digits : int, default 3
            Significant digits.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or an argument is given that is for another kind; if a number is
            below 1.
        """
        checked_choice("kind", kind, PLOTS)
        check_drawn_tree(kind, max_depth, max_terms, digits)
        if kind == CURVES:
            return self._plot_curves(ax)
        if kind == IMPORTANCE:
            return self._plot_importance(ax, None, None, False)
        fit, hazards = self.fit, hazards_of(self.fit)
        curves = plots.CurvesInLeaves(
            fit.forest.count, hazards.events * fit.data.weight_unit, hazards.relative, fit.curves,
            fit.event_times, digits,
        )  # fmt: skip
        return plots.plot_survival_tree(
            fit.forest, fit.design, curves, ax=ax, max_depth=max_depth, max_terms=max_terms
        )

    def summary(self, *, detail: bool = False, progress: bool = False) -> Summary:
        """Return a summary: data, options, size, scores, deviances, leaves, importances.

        Parameters
        ----------
        detail : bool, default False
            Also show what each predictor was taken as: the table of `data_summary`.
        progress : bool, default False
            Without effect: there is nothing to wait for.

        Returns
        -------
        Summary
        """
        judged = self._judging_if_any
        summary = survival_tree_summary(self.fit, judged, self._judged_causes(), self.path)
        return with_data(summary, self.fit) if checked_truth("detail", detail) else summary

    def _card(self) -> Card:
        return survival_card(self.fit, self._judging_if_any)
