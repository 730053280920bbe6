"""Results of one oblique decision tree, and of a tree that imitates a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from odrf import fits, plots, reports
from odrf.checks import (
    Seed,
    checked_choice,
    checked_seed,
    checked_truth,
    checked_whole,
    require_default,
)
from odrf.design.folds import Folds
from odrf.fits.fit import Fit
from odrf.fits.pruning import sized_tree
from odrf.fits.responses import leaves_rows_out
from odrf.public import public_method
from odrf.results import export, predictions, pruning
from odrf.results.base import FittedResults
from odrf.results.importance import DIGITS, MOST_TERMS, check_drawn_tree
from odrf.results.models import TreeResults
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odrf.reports.explain import Surrogate
    from odrf.reports.paths import PruningPath

PLOTS = ("tree", "importance")
OF_FORESTS = "it is of forests, whose trees leave rows out: use odrf()"
OF_ONE_TREE = {
    "several trees": "it is one tree",
    "trees to add": "its options end its growth: fit again with others, or use odrf()",
    "combine": "two trees are no tree: grow a forest with odrf()",
    "out-of-bag rows": OF_FORESTS,
    "rounds": "use prune(leaves=) for smaller trees",
}
"""What one tree lacks, whatever the response."""


class ODTResults(TreeResults):
    """A fitted oblique decision tree, as returned by `odrf.odt`.

    Parameters
    ----------
    fit : Fit
        Design, data, options and tree.
    parent : ODTResults, optional
        The tree before pruning.
    path : PruningPath, optional
        The pruning path that this tree was chosen from.

    Attributes
    ----------
    fit, parent, path

    Examples
    --------
    >>> import odrf
    >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), max_leaves=8, seed=1)
    >>> tree.n_leaves
    8
    >>> tree.prune(leaves=3).n_leaves
    3
    """

    fit: Fit
    _lacks: ClassVar[Mapping[str, str]] = {
        **OF_ONE_TREE,
        "a distribution": OF_FORESTS,
        "trees to imitate": "it is one tree itself: use prune(leaves=) for a smaller one",
    }

    def __init__(
        self, fit: Fit, parent: ODTResults | None = None, path: PruningPath[Any] | None = None
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
    predict = predictions.predict

    # The tree
    nodes = export.nodes
    splits = export.splits
    surrogates = export.surrogates
    rules = export.rules

    # Pruning
    pruning_path = pruning.pruning_path
    prune = pruning.prune
    growth_path = pruning.growth_path

    # Export
    to_sql = export.to_sql
    to_dot = export.to_dot

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
        type: str | None = None,
        progress: bool = False,
    ) -> Axes:
        """Plot the tree, or the importances of its predictors.

        Parameters
        ----------
        kind : {"tree", "importance"}, default "tree"
        ax : Axes, optional
            Where to draw.  By default on a new figure that is large enough for the tree.  On given
            axes the text is made small enough to fit.
        max_depth : int, optional
            Levels of splits to draw.  By default all, or as many as stay readable: at most 32
            leaves, 20 inches, letters of 5 points on given axes.  A box shows how many leaves below
            it are not drawn.
        max_terms : int, default 3
            Most terms of a linear combination, or levels of a factor, in a box: those with the
            largest coefficients for predictors scaled to [0, 1].  `rules` and `splits` show all.
        digits : int, default 3
            Significant digits.
        type : str, optional
            Which importances, as in `importance`; tests are drawn with their intervals.  By default
            those of the summary.
        {progress}

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or an argument is given that is for the other kind; if a number is
            below 1.
        """
        checked_choice("kind", kind, PLOTS)
        check_drawn_tree(kind, max_depth, max_terms, digits)
        if kind == "importance":
            return self._plot_importance(ax, progress, type)
        require_default("type", type, None, 'kind="importance"')
        return plots.tree.plot_tree(
            self.fit.forest,
            self.fit.design,
            ax=ax,
            max_depth=max_depth,
            max_terms=max_terms,
            digits=digits,
        )

    def _sized(self, fit: Fit) -> Fit:
        return sized_tree(fit)

    def _summary(self, progress: bool) -> Summary:
        """Return a summary: data, options, size, importances, training and held-out error."""
        return reports.summaries.tree_summary(
            self.fit, self._in_bag, self.path, self._measured_importance(progress)
        )

    def _card(self) -> Card:
        return reports.summaries.tree_card(self.fit, self._in_bag)


OF_CONSTANTS = 'it is of trees with leaves="constant"'


class LineTreeResults(ODTResults):
    """A fitted tree whose leaves are lines, as returned by ``odrf.odt(…, leaves="linear")``.

    Its chapters are those of `ODTResults`; besides, `lines` is the table of the leaves' lines.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tree = odrf.odt("progression ~ bmi + bp", data, leaves="linear", seed=1)
    >>> tree.n_leaves
    1
    >>> tree.lines["predictor"].tolist()
    ['(intercept)', 'bmi', 'bp']
    """

    # The tree
    lines = export.lines

    _lacks: ClassVar[Mapping[str, str]] = {
        "a theorem": "its theorems are about constant leaves: fit without leaves=",
        "one sum of trees": OF_CONSTANTS,
        "rows to add": OF_CONSTANTS,
    }


# One tree that imitates a fit.


@public_method
def surrogate(
    self: FittedResults,
    max_leaves: int = 8,
    *,
    cv: Folds = 10,
    seed: Seed = None,
    progress: bool = False,
) -> Surrogate[ODTResults]:
    """Return one pruned oblique tree that imitates the predictions of the fit.

    The tree is grown on the fit's predictions of the training rows, and pruned to at most
    `max_leaves` leaves.  Its fidelity says how much of the fit it repeats.  Of a fit with offsets
    it imitates predictions at an offset of 0: of counts, those of one unit of exposure.

    Parameters
    ----------
    max_leaves : int, default 8
        The most leaves: as many as can be read.  The tree has fewer if the larger trees of its
        pruning path have a larger error by cross-validation.
    cv : int, array-like or splitter, default 10
        The folds that choose the tree's size and evaluate it; as in `ODTResults.pruning_path`.
    seed : int, SeedSequence or Generator, optional
        By default that of the fit.
    {progress}

    Returns
    -------
    Surrogate
        With the tree, its fidelity, and the errors of both against the response.

    Raises
    ------
    InputError
        If an argument is invalid; if the fit predicts the same for all rows, or was saved without
        its rows.

    Notes
    -----
    The validation rows were not in the tree's training rows, but in those of the fit.  So the
    fidelity is that of the imitation, and the error of the tree against the response is a little
    too small.

    Of classes, the tree has a copy of each row for each class, weighted by its probability.  So its
    own summary counts copies, and its training error is that of drawing a class at random.  Its
    nodes, and the drawn tree, count each row once.

    References
    ----------
    M. W. Craven and J. W. Shavlik (1996). Extracting tree-structured representations of trained
    networks. NeurIPS.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> bool(forest.surrogate(max_leaves=4).agreement > 0.9)
    True
    """
    leaves = checked_whole("max_leaves", max_leaves, 2)
    chosen = self.seed if seed is None else checked_seed(seed)
    imitation = fits.explain.imitated(
        self.fit, leaves, cv, chosen, checked_truth("progress", progress)
    )
    tree = ODTResults(imitation.fit)
    if leaves_rows_out(self.fit):
        error, source = self._scored_error, "out of bag"
    else:
        error, source = fits.scores.mean_loss(self.fit, self._in_bag), "in training"
    return reports.explain.Surrogate(self.call, imitation, tree, error, source)
