"""Importances of predictors of survival times, and plots of trees and forests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import NDArray

from odrf import fits, plots, reports
from odrf.checks import checked_choice, is_word, require_default
from odrf.errors import InputError
from odrf.fits.responses import leaves_rows_out, require_out_of_bag
from odrf.public import public_method
from odrf.results import absent
from odrf.results import importance as importances
from odrf.results.absent import known
from odrf.results.base import kept
from odrf.results.importance import ADJUST, TEST, TEST_LEVEL
from odrf.results.survival.base import LeafCurveResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odrf.reports.importance import MeasuredImportance

PERMUTATION, IMPURITY, CONDITIONAL, LOCO = "permutation", "impurity", "conditional", "loco"
KNOCKOFF = importances.KNOCKOFF
TYPES = PERMUTATION, IMPURITY, CONDITIONAL, LOCO, KNOCKOFF


@public_method
def importance(
    self: LeafCurveResults,
    type: str | None = None,
    *,
    cause: str | None = None,
    test: str = TEST,
    adjust: str | None = ADJUST,
    groups: Mapping[str, Sequence[str]] | None = None,
    level: float = TEST_LEVEL,
    progress: bool = False,
) -> pd.DataFrame:
    """Return the importance of each predictor, the most important first.

    Parameters
    ----------
    type : {"permutation", "impurity", "conditional", "loco", "knockoff"}, optional
        By default ``"permutation"``; of trees without rows out of bag, or without events in these,
        ``"impurity"``.

        - ``"permutation"``: by how much Uno's C of the out-of-bag predictions falls when the values
          of the predictor are permuted among the rows.  The whole forest predicts the rows anew, so
          that it is the forest that is evaluated, not its trees one by one.
        - ``"impurity"``: the decrease of the squared error of the log-rank scores by the splits on
          the predictor, each weighted by the node's share of the rows: the mean over the trees.
          The rows that chose the splits also evaluate them: predictors with many cut points seem
          more important than they are.
        {about tests_of_variables}
        - ``"knockoff"``: by how much the predictor's splits explain more than those of its
          knockoff, which has the same relation to the other predictors but none to the times: by
          the covariance of log-rank scores out of bag; see `select_variables`.
    cause : str, optional
        For ``"permutation"`` and tests: the cause whose events are predicted, as in `score`.  By
        default every cause counts as the event.
    {test, adjust, groups_tested, level_of_tests}
    {progress}

    Returns
    -------
    DataFrame
        Index: predictors as in the formula; a factor is one, whose levels are permuted together.
        For ``"permutation"`` the columns ``importance``, ``std_error``, ``conf_low`` and
        ``conf_high`` (95%); ``monte_carlo_error``, the part of the error that is due to random
        permutations; ``brier_rise`` and ``brier_std_error``, by how much the integrated Brier score
        rises.  For ``"impurity"`` ``importance``, and ``share`` of their sum.  For tests and
        knockoffs the columns of `ODRFResults.importance`.

    Raises
    ------
    InputError
        If `type` is unknown; ``"permutation"`` of trees without rows out of bag; if there is no
        such `cause`, or it is given with ``"impurity"`` or ``"knockoff"``; a test of rows that
        enter late, or of too few rows; if an argument of tests is given and `type` is no test.

    Notes
    -----
    A predictor is permuted 2 to 10 times, the more often the fewer rows.  The permutations follow
    from the fit's seed.  Standard errors are those of the infinitesimal jackknife over rows, or
    over groups of a fit with ``groups=``; the fit is taken as given.  A predictor that tells what
    others tell, too, loses little: the others are there.  One without influence that is correlated
    with others seems to matter more often than its interval says; tests are for that.

    The loss of a row in the tests is its integrated Brier score: the squared difference between
    predicted survival and the state of the row, at up to 20 event times, up to the last one at
    which a tenth of the rows is at risk.  States count by the inverse probability not to be
    censored by then, estimated by Kaplan-Meier from all rows: censoring must not depend on the
    predictors.  Of one cause it is the incidence that is compared.

    {about notes_on_tests}

    References
    ----------
    L. Breiman (2001). Random forests. Machine Learning 45, 5-32, section 10.

    {about references_of_importances}

    Examples
    --------
    >>> import odrf
    >>> from odrf import simulate
    >>> data = simulate.proportional_hazards(p=6, relevant=2).sample(200, seed=1)
    >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    >>> sorted(forest.importance().index[:2])
    ['x1', 'x2']
    """
    if is_word(type, CONDITIONAL) or is_word(type, LOCO):
        fits.survival.hazards.cause_numbers(cause, self.fit.design.response.causes)
        return reports.importance_tests.importance_tests(
            self.fit, str(type), test, adjust, groups, level, progress, cause
        )
    importances.require_no_test(test, adjust, groups, level)
    if is_word(type, KNOCKOFF):
        _require_no_cause(cause, KNOCKOFF)
        require_out_of_bag(self.fit, "Knockoffs")
        return reports.importance_tests.knockoff_table(self.fit)
    return self._measured_importance(type, cause, progress).table.copy()


def _require_no_cause(cause: str | None, type: str) -> None:
    if cause is not None:
        raise InputError(f'cause= is for type="permutation" and tests, not "{type}"')


def measured(
    self: LeafCurveResults, type: str | None, cause: str | None, progress: bool
) -> MeasuredImportance:
    """Return the importances of a type, or those that are shown first."""
    if type is None:
        evaluates = leaves_rows_out(self.fit) and self._validation_if_any is not None
        type = PERMUTATION if evaluates else IMPURITY
    if checked_choice("type", type, TYPES) == IMPURITY:
        _require_no_cause(cause, IMPURITY)
        return reports.survival.summaries.survival_impurity_measured(self.fit)
    require_out_of_bag(self.fit, "Permutation importances")
    fits.survival.hazards.cause_numbers(cause, self.fit.design.response.causes)
    return kept(
        self,
        f"_permutation_importance_{cause}",
        lambda: reports.survival.summaries.permutation_measured(
            self.fit, self._validation(None, cause), progress
        ),
    )


def _errors_by_trees(self: LeafCurveResults) -> None:
    absent.rows(self)
    require_out_of_bag(self.fit, "Errors by the number of trees")


@known(_errors_by_trees)
def error_path(self: LeafCurveResults) -> pd.Series:
    """Out-of-bag error of the first trees, 1 - Harrell's C, by their number.

    It is computed at up to 16 numbers of trees, about equally far apart on a logarithmic scale,
    over the rows that some of these trees did not sample; missing where none can be compared.

    Raises
    ------
    InputError
        If every tree uses all rows.
    """
    path = kept(
        self, "_error_path", lambda: fits.survival.fit.error_by_trees(self.fit, self._unseen)
    )
    return path.copy()


CURVES, IMPORTANCE, ERROR = "curves", "importance", "error"
# Predictors that a plot shows.
ROWS = 15


@public_method
def plot(
    self: LeafCurveResults,
    kind: str | None = None,
    *,
    ax: Axes | NDArray | None = None,
    type: str | None = None,
    cause: str | None = None,
    progress: bool = False,
) -> Axes | NDArray:
    """Plot predicted curves beside observed ones, the importances of predictors, or both.

    Parameters
    ----------
    kind : {"curves", "importance", "error"}, optional
        - ``"curves"``: the training rows in four groups of similar risk, as predicted out of bag:
          the mean of their predicted survival, and their Kaplan–Meier curve with 95% limits,
          pointwise.  Below the axis the numbers of rows at risk in each group.  Times go to the
          last event at which a tenth of the rows is at risk.  Of one cause, the groups are of
          similar risk of this one, and the curves are its incidence, predicted and by the
          Aalen–Johansen estimate.
        - ``"importance"``: the importances, with intervals if they are by permutation.
        - ``"error"``: 1 - Harrell's C of the first trees, out of bag, by their number.

        By default two panels: the curves, and the importances.
    ax : Axes or array of two Axes, optional
        Where to draw.  By default on a new figure.
    type : str, optional
        Which importances, as in `importance`.
    cause : str, optional
        The cause that is evaluated, if events have several: by the curves, by default the one that
        splits are about, or all; by the importances, as in `importance`.
    {progress}

    Returns
    -------
    Axes or array of Axes

    Raises
    ------
    InputError
        If `kind` is unknown, or `type` or `cause` is given and it does not show them; if there is
        no such `cause`; if `ax` has another number of axes.
    """
    if kind is not None and not is_word(kind, IMPORTANCE):
        require_default("type", type, None, f'kind="{IMPORTANCE}"')
        if not is_word(kind, CURVES):
            require_default("cause", cause, None, f'kind="{CURVES}" and kind="{IMPORTANCE}"')
    draw = partial(draw_importance, self, type=type, cause=cause, progress=progress)
    if ax is None and is_word(kind, IMPORTANCE):
        # a figure of its own is as high as its rows need
        return draw(None)
    drawings: dict[str, Callable[[Any], object]] = {
        CURVES: partial(draw_curves, self, cause=cause),
        IMPORTANCE: draw,
    }
    if kind is not None:
        drawings[ERROR] = lambda panel: plots.fits.plot_error(error_path.__get__(self), panel)
    return plots.style.draw_panels(drawings, kind, ax)


def draw_curves(self: LeafCurveResults, ax: Axes | None, cause: str | None) -> Axes:
    """Draw predicted curves of four groups of rows beside observed ones."""
    cause = self.fit.control.cause if cause is None else str(cause)
    return reports.survival.curves.drawn_risk_groups(self._validation(None, cause), ax, cause)


def draw_shares(measured: MeasuredImportance, ax: Axes | None) -> Axes:
    """Draw the shares of the predictors in the sum of the importances."""
    share = measured.table["share"]
    return plots.importance.plot_importance(share, f"share of {measured.measure}", ax)


def draw_importance(
    self: LeafCurveResults, ax: Axes | None, type: str | None, cause: str | None, progress: bool
) -> Axes:
    """Draw the importances of a type, with intervals if they have some."""
    if any(is_word(type, each) for each in (CONDITIONAL, LOCO, KNOCKOFF)):
        tested = importance.__get__(self)(type, cause=cause, progress=progress)
        words = importances.WORDS[str(type)]
        return plots.effects.plot_effects(tested[["term"]], tested, words, 0.0, ax)
    measured = self._measured_importance(type, cause, progress)
    shown, P = measured.table.head(ROWS), len(measured.table)
    if "conf_low" not in shown:
        return draw_shares(measured, ax)
    numbers = shown.rename(columns={"importance": "estimate"})
    labels = pd.DataFrame({"predictor": shown.index})
    drawn = plots.effects.plot_effects(labels, numbers, measured.measure, 0.0, ax)
    if P > ROWS:
        drawn.set_xlabel(f"estimate (first {ROWS} of {P})")
    return drawn
