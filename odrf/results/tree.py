"""Results of one oblique decision tree."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from odrf import plots
from odrf.checks import (
    Seed,
    checked_choice,
    checked_seed,
    require_default,
)
from odrf.design.folds import Folds
from odrf.fits.fit import Fit
from odrf.fits.pruning import sized_tree, stages_by_folds
from odrf.fits.responses import folds_asked
from odrf.pruning.growth_stages import LEAVES
from odrf.reports.paths import GrowthPath, growth_path
from odrf.reports.summaries import tree_card, tree_summary
from odrf.results.explaining.explained import Explained
from odrf.results.explaining.near_rows import ProximityResults
from odrf.results.explaining.shared_by_shapley import ShapleyResults
from odrf.results.of_one_tree.drawn_tree import DIGITS, MOST_TERMS, check_drawn_tree
from odrf.results.of_one_tree.prunable_tree import FOLDS, PrunableTree, require_no_folds
from odrf.results.of_one_tree.readable_tree import ReadableTree
from odrf.results.updatable import Updatable
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ODTResults"]

PLOTS = ("tree", "importance")


class ODTResults(
    PrunableTree, ReadableTree, Updatable, Explained, ShapleyResults, ProximityResults
):
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
    >>> int(tree.n_leaves[0])
    8
    >>> int(tree.prune(leaves=3).n_leaves[0])
    3
    """

    fit: Fit

    def growth_path(
        self,
        newdata: pd.DataFrame | None = None,
        along: str = LEAVES,
        *,
        cv: Folds = FOLDS,
        seed: Seed = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> GrowthPath:
        """Return training and test error of the tree stopped at each size.

        The path of a pruned tree is that of the tree before pruning.

        Parameters
        ----------
        newdata : DataFrame, optional
            Test rows with responses; each counts once.  By default cross-validation.
        along : {"leaves", "depth"}, default "leaves"
            ``"leaves"``: the tree as it was when it had τ = 1, 2, … leaves; the tree itself is
            ``prune(leaves=τ, path=fit.pruning_path("growth", cv=None))``.  ``"depth"``: the tree
            without its splits below depth 0, 1, ….
        cv, seed, n_jobs, progress
            As in `pruning_path`.  `cv` and `seed` are for folds, not for `newdata`.

        Returns
        -------
        GrowthPath

        Raises
        ------
        InputError
            If an option is invalid, or `newdata` lacks the response, a column or complete rows.

        Examples
        --------
        >>> import odrf
        >>> path = odrf.odt("salary ~ .", odrf.load_data("hitters").dropna(), seed=1).growth_path()
        >>> bool(path.table["train"].is_monotonic_decreasing)
        True
        >>> path.best_size() < path.size
        True
        """
        of_folds = self.seed if seed is None else checked_seed(seed)
        if newdata is not None:
            require_no_folds(cv)
            return growth_path(self.fit, along, newdata, n_jobs, None, "", progress)
        folds = folds_asked(self.fit, cv, of_folds, ", or give newdata=")
        by_folds = partial(stages_by_folds, along=along, cv=folds, progress=progress)
        return growth_path(self.fit, along, None, n_jobs, by_folds, folds.by, progress)

    def _summary(self, progress: bool) -> Summary:
        """Return a summary: data, options, size, importances, training and held-out error."""
        return tree_summary(self.fit, self._in_bag, self.path, self._measured_importance(progress))

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
            leaves, 20 inches, letters of 5 points on given axes.  A box shows how many leaves
            below it are not drawn.
        max_terms : int, default 3
            Most terms of a linear combination, or levels of a factor, in a box: those with the
            largest coefficients for predictors scaled to [0, 1].  `rules` and `splits` show all.
        digits : int, default 3
            Significant digits.
        type : str, optional
            Which importances, as in `importance`; tests are drawn with their intervals.  By default
            those of the summary.
        progress : bool, default False
            Show a progress bar while the importances are computed.

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
        return plots.plot_tree(
            self.fit.forest,
            self.fit.design,
            ax=ax,
            max_depth=max_depth,
            max_terms=max_terms,
            digits=digits,
        )

    @staticmethod
    def _sized(fit: Fit) -> Fit:
        return sized_tree(fit)

    def _card(self) -> Card:
        return tree_card(self.fit, self._in_bag)
