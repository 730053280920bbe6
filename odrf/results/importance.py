"""Importances of predictors, tests of them, and plots that show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd
from numpy.typing import NDArray

from odrf import plots, reports
from odrf.checks import MOST, checked_choice, checked_whole, is_word, require_default
from odrf.errors import InputError
from odrf.fits.fit import BoostedFit, Fit
from odrf.public import public_method, respelled
from odrf.results.base import AnyResults, FittedResults, Of, kept

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odrf.reports.importance import MeasuredImportance, PixelImportance, ProjectionImportance

BY_HELD_OUT = "held_out"
KNOCKOFF = "knockoff"
IMPORTANCES = (
    BY_HELD_OUT, "impurity", "out_of_bag", "permutation", "conditional", "loco", KNOCKOFF
)  # fmt: skip
TEST, ADJUST, TEST_LEVEL = "t", "holm", 0.95
PERMUTED = "increase of the out-of-bag loss when permuted"
WORDS = {
    "conditional": "increase of the loss if drawn anew",
    "loco": "increase of the loss if grown without",
    KNOCKOFF: "importance less that of the knockoff",
}


def require_no_test(
    test: str, adjust: str | None, groups: Mapping[str, Sequence[str]] | None, level: float
) -> None:
    """Raise `InputError` if an argument of tests is given for importances that are none."""
    tests = 'type="conditional" and "loco"'
    require_default("test", test, TEST, tests)
    require_default("adjust", adjust, ADJUST, tests)
    require_default("groups", groups, None, tests)
    require_default("level", level, TEST_LEVEL, tests)


@public_method
def importance(
    self: FittedResults,
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
    type : {"held_out", "impurity", "conditional", "loco"}, optional
        By default ``"held_out"``; if there are too few rows to hold some out, ``"impurity"``.

        - ``"held_out"``: the decrease of the variance of the response (for classes, of the
          Gini index) by the splits on the predictor, evaluated by rows that did not grow the
          tree: the covariance of the response with the change of the prediction that a split
          makes (Li et al. 2019).  For splits without a relation to the response it is 0 on
          average, whether on numbers or on a factor of many levels.  It may be below 0.
        {about impurity}
        {about tests_of_variables}

        {about splits_on_several}
    {test, adjust, groups_tested, level_of_tests}
    progress : bool, default False
        Show a progress bar while trees are grown.

    Returns
    -------
    DataFrame
        Index: predictors as in the formula; a factor is one.  Columns: ``importance``, and
        ``share``, its share of the sum of those above 0.  For tests one row for each variable
        of the data or set of them, with the columns ``term``, ``estimate`` (the mean rise of
        the loss), ``std_error``, ``statistic``, ``p_value``, ``conf_low``, ``conf_high`` and
        ``p_adjusted``.

    Raises
    ------
    InputError
        If `type` is unknown; ``"held_out"`` or a test with too few rows; ``"out_of_bag"``,
        ``"permutation"`` or ``"knockoff"``, which only forests of `odrf.odrf` have; if an
        argument of tests is given and `type` is no test.

    Notes
    -----
    No row is held out of a tree of `odrf.odt`, of boosted trees of one run, and of a guided
    forest.  So for ``"held_out"`` the fit is made again on parts of the rows, and each part
    evaluates the trees that were grown without it (cross-fitting).  The result is for trees as
    these options grow them on so many rows, not for each split of this fit:

    - a tree is grown again without each of five folds, or without each of two halves if rows
      times columns are more than 20,000;
    - boosted trees are grown again without each half of the rows;
    - of a guided forest, half of the trees are grown again on each half of the rows.

    If held-out rows choose the size of the tree or the number of rounds, these are chosen
    again: the validation rows have chosen nothing.  A tree that `prune` has cut is evaluated by
    trees of as many leaves; if held-out rows chose this number, the importances are a little
    too large.  A tree without splits has importances of 0.

    All this is done once, and follows from the fit's seed.  It takes about as long as the fit;
    for small tables, of which a fit takes a fraction of a second, up to five times as long.

    Boosted trees of several runs are evaluated by the rows that each run did not sample, which
    with ``validation="oob"`` have also chosen the number of rounds.  A tree taken from a forest
    is evaluated by the rows that it did not sample.

    Every plane of a guided forest uses all columns of its tree, so that its coefficients do not
    tell which of them divides the regions; and of a tree with lines in its leaves the splits are
    not all.  Their importances are the covariance of response and
    prediction, minus what is left of it when the predictor is permuted among the rows that
    evaluate.

    Of boosted trees, the importance is the covariance of the response with the scores, summed
    over the trees.  For a loss other than the squared error, the response is replaced by the
    slope of the loss before the first round, with opposite sign: for classes the difference
    between indicator and class share.

    {about notes_on_tests}

    References
    ----------
    {about references_of_importances}

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
    if is_word(type, KNOCKOFF):
        raise InputError(
            f'type="{KNOCKOFF}" compares predictors within a forest of odrf(): use '
            'type="conditional"'
        )
    if type is not None:
        checked_choice("type", type, IMPORTANCES)
    if type in ("conditional", "loco"):
        return reports.importance_tests.importance_tests(
            self.fit, type, test, adjust, groups, level, progress
        )
    require_no_test(test, adjust, groups, level)
    if type is None:
        return self._measured_importance(progress).table.copy()
    if type == "impurity":
        return reports.importance.impurity_table(self.fit)
    table = held_out(self, progress)
    if table is None:
        raise InputError(
            f'type="{BY_HELD_OUT}" needs more rows: in each part of them the response must '
            'vary; use type="impurity"'
        )
    return table.copy()


def held_out(self: AnyResults, progress: bool) -> pd.DataFrame | None:
    """Return the importances by held-out rows; None if there are too few rows."""
    return kept(
        self, "_held_out_table", lambda: reports.importance.held_out_table(self.fit, progress)
    )


def measured(self: AnyResults, progress: bool = False) -> MeasuredImportance:
    """Return the importances that are shown first: by held-out rows, if there are enough."""
    table = held_out(self, progress)
    if table is None:
        return reports.importance.impurity_measured(self.fit)
    return reports.importance.evaluated_measured(self.fit, table, reports.importance.HELD_OUT)


def drawn(self: FittedResults, ax: Axes | None, progress: bool, type: str | None = None) -> Axes:
    """Draw the importances of a type, by default those that are shown first."""
    if type is None:
        first = self._measured_importance(progress)
        return plots.importance.plot_importance(
            first.table["share"], f"share of {first.measure}", ax
        )
    table = self.importance(type, progress=progress)
    if "term" in table:
        return plots.effects.plot_effects(table[["term"]], table, WORDS[type], 0.0, ax)
    if type == "permutation":
        return plots.importance.plot_importance(table["importance"], PERMUTED, ax)
    return plots.importance.plot_importance(
        table["share"], f"share of {type.replace('_', ' ')}", ax
    )


def out_of_bag(self: Of[Fit], progress: bool) -> pd.DataFrame:
    """Return the importances by the rows that each tree did not sample."""
    return kept(
        self, "_out_of_bag_table", lambda: reports.importance.out_of_bag_table(self.fit, progress)
    )


def pixel_importance(
    self: Of[Fit | BoostedFit], shape: tuple[int, int] | None = None, channels: int | None = None
) -> PixelImportance:
    """Return how often splits use each pixel (Perry 2020, section 3.2).

    Parameters
    ----------
    shape : (int, int), optional
        Height and width of the images; (1, T) for series of length T.  By default those of the
        fit's patches or, failing that, of its data: see `odrf.Patch`.
    channels : int, optional
        Channels of the images, with the same default.

    Returns
    -------
    PixelImportance
        With ``table``, ``images``, ``summary()`` and ``plot_image()``.

    Raises
    ------
    InputError
        If the shape is not known, or does not match the number of predictors.
    """
    return reports.importance.PixelImportance(self.fit, shape, channels)


@respelled(by_name=("resamples", "progress"))
@public_method
def projection_importance(
    self: Of[Fit], top: int = 10, *, resamples: int = 0, progress: bool = False
) -> ProjectionImportance:
    """Return the most important directions (Tomita et al. 2020); θ and -θ count as one.

    Parameters
    ----------
    top : int, default 10
        Most directions to return.
    resamples : int, default 0
        Number of random halves of the rows on which the model is fitted again, to count on how many
        of them each direction is among the `top` again.
    {progress}

    Returns
    -------
    ProjectionImportance
        With ``table``, ``coefficients``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If `top` or `resamples` is not a whole number, or too small.
    """
    return reports.importance.ProjectionImportance(
        self.fit,
        checked_whole("top", top, 1),
        checked_whole("resamples", resamples, 0, MOST),
        progress,
    )


Drawing = tuple[str, Callable[[Any], object]]
IMPORTANCE, TREE = "importance", "tree"
# What is written in the boxes of a drawn tree by default.
MOST_TERMS, DIGITS = 3, 3


class Panels(Protocol):
    """Results that plot their growth and their importances."""

    def _plot_importance(self, ax: Axes | None, progress: bool, type: str | None = None) -> Axes:
        """Draw the importances of a type, or those that are shown first."""

    def _drawing(self) -> Drawing:
        """Return the name of the plot of the growth, and the function that draws it on axes."""


@public_method
def plot(
    self: Panels,
    kind: str | None = None,
    *,
    ax: Axes | NDArray | None = None,
    type: str | None = None,
    progress: bool = False,
) -> Axes | NDArray:
    """Plot the growth of the fit, the importances of its predictors, or both.

    Parameters
    ----------
    kind : str, optional
        ``"importance"``: the importances.  ``"error"``, for forests of `odrf.odrf`: the out-of-bag
        error against the number of trees.  ``"loss"``, for boosted trees: the loss against the
        number of rounds.  ``"growth"``, for guided forests: the impurity against the number of
        planes.  ``"parts"``, for `odrf.auto`: errors and weights of the models.  By default two
        panels: this one, and the importances.
    ax : Axes or array of two Axes, optional
        Where to draw.  By default on a new figure.
    type : str, optional
        Which importances, as in `importance`; tests are drawn with their intervals.  By default
        those of the summary.
    {progress}

    Returns
    -------
    Axes or array of Axes

    Raises
    ------
    InputError
        If `kind` is unknown, or shows no importances and a `type` of them is given; if `ax` has
        another number of axes.
    """
    if kind is not None and not is_word(kind, IMPORTANCE):
        require_default("type", type, None, f'kind="{IMPORTANCE}"')
    if ax is None and is_word(kind, IMPORTANCE):
        # a figure of its own is as high as its rows need
        return self._plot_importance(None, progress, type)
    name, draw = self._drawing()
    drawings: dict[str, Callable[[Any], object]] = {
        name: draw,
        IMPORTANCE: partial(self._plot_importance, progress=progress, type=type),
    }
    return plots.style.draw_panels(drawings, kind, ax)


def check_drawn_tree(kind: str, max_depth: int | None, max_terms: int, digits: int) -> None:
    """Raise `InputError` if a plot of `kind` is no tree, and ignores an argument that is given.

    Also if a number is below 1.
    """
    if kind != TREE:
        used = f'kind="{TREE}"'
        require_default("max_depth", max_depth, None, used)
        require_default("max_terms", max_terms, MOST_TERMS, used)
        require_default("digits", digits, DIGITS, used)
    checked_whole("max_depth", 1 if max_depth is None else max_depth, 1)
    checked_whole("max_terms", max_terms, 1)
    checked_whole("digits", digits, 1)
