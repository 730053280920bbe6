"""Results of one oblique decision tree."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

import pandas as pd

from odrf import plots
from odrf.checks import checked_jobs
from odrf.design.folds import checked_folds
from odrf.errors import InputError, allowed
from odrf.fits.evaluating import path_by_folds, path_by_rows, stages_by_folds, training_path
from odrf.fits.fit import Fit
from odrf.fits.prediction.scores import confusion_table, mean_loss, r_squared
from odrf.fits.pruned import checked_alpha, checked_leaves, pruned_at, with_forest
from odrf.fits.sizing import sized_tree
from odrf.pruning.complexity import ERROR, LOSSES, RULES, WEAKEST_LINK
from odrf.pruning.growth_stages import LEAVES
from odrf.pruning.subtrees import with_leaves
from odrf.reports.growth_path import GrowthPath, growth_path
from odrf.reports.node_tables import nodes_table, splits_table
from odrf.reports.pruning_path import PruningPath
from odrf.reports.rules import rules_text
from odrf.reports.summaries import tree_card, tree_summary
from odrf.results.updatable import Updatable
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ODTResults"]

PLOTS = ("tree", "importance")


class ODTResults(Updatable):
    """A fitted oblique decision tree.

    Parameters
    ----------
    fit : Fit
        Design, data, options and the tree.
    parent : ODTResults, optional
        The tree this one was pruned from.
    path : PruningPath, optional
        The subtrees it was chosen from.

    Attributes
    ----------
    fit : Fit
    parent : ODTResults or None
    path : PruningPath or None

    Examples
    --------
    >>> import odrf
    >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), max_leaves=8, seed=1)
    >>> int(tree.n_leaves[0])
    8
    >>> int(tree.prune(leaves=3).n_leaves[0])
    3
    """

    def __init__(
        self,
        fit: Fit,
        parent: ODTResults | None = None,
        path: PruningPath[ODTResults] | None = None,
    ) -> None:
        super().__init__(fit)
        if parent is None and fit.pruning is not None:
            parent = ODTResults(fit.pruning.grown)
            if fit.pruning.path is not None:
                path = PruningPath(parent.fit, fit.pruning.path, parent.prune)
        self.parent, self.path = parent, path

    @cached_property
    def nodes(self) -> pd.DataFrame:
        """The nodes, one row each; the index is the node's number, 0 for the root.

        Columns: ``parent``, ``depth``, ``leaf``, ``left``, ``right`` (numbers of the children),
        ``count`` and ``weight`` (training rows and their weights), ``impurity``, ``gain`` (the
        impurity that its split removes, per unit of weight), ``order`` (rank of the split in
        the tree's growth), and for a regression ``value``, the mean response; for classes
        ``prediction`` and a column ``P(class)`` for each.  Of an honest tree all but ``order`` are
        about the half of the rows that fills it.
        """
        return nodes_table(self.fit.forest, self.fit.design)

    @cached_property
    def splits(self) -> pd.DataFrame:
        """The splits, one row for each coefficient, the largest (scaled) of a node first.

        A row of data goes left from ``node`` when the sum of ``coefficient`` times ``column``
        is at most ``threshold``, all in the data's own units.  ``scaled_coefficient`` is the
        same for columns scaled to [0, 1] on the training rows, of Euclidean length 1: the sizes
        to compare.
        """
        return splits_table(self.fit.forest, self.fit.design)

    @cached_property
    def confusion_matrix(self) -> pd.DataFrame:
        """Training rows by observed (rows) and fitted (columns) class, with the error of each.

        Rows count as often as they weigh.

        Raises
        ------
        InputError
            For a regression.
        """
        return confusion_table(self.fit, self._fitted)

    @cached_property
    def training_error(self) -> float:
        """Weighted mean squared error, or misclassification rate, of the training rows."""
        return mean_loss(self.fit, self._fitted)

    @property
    def r_squared(self) -> float:
        """Share of the training rows' variance that the tree explains.

        Raises
        ------
        InputError
            For classes.
        """
        return r_squared(self.fit, self.training_error)

    def rules(self, digits: int = 4) -> str:
        """Return the tree as text: an indented line for each node, ``*`` at the leaves.

        Parameters
        ----------
        digits : int, default 4
            Significant digits.

        Examples
        --------
        >>> import odrf
        >>> tree = odrf.odt("progression ~ bmi", odrf.load_data("diabetes"), max_leaves=2, seed=1)
        >>> print(tree.rules())  # doctest: +ELLIPSIS
        n = 442, progression ~ bmi
        node) split  n  mean of progression;  * marks a leaf
        <BLANKLINE>
        0) root  n = 442  152.1
          1) bmi <= ...
        """
        return rules_text(self.fit.forest, self.fit.design, digits)

    def pruning_path(
        self,
        rule: str = WEAKEST_LINK,
        *,
        cv: int | None = 10,
        validation: pd.DataFrame | None = None,
        loss: str = ERROR,
        seed: int | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> PruningPath[ODTResults]:
        """Return the nested subtrees that pruning can choose, judged on held-out rows.

        A subtree T costs R(T) + α·(number of leaves) at the complexity α, R being the training
        error.  The path holds those that are cheapest at some α.

        Parameters
        ----------
        rule : {"weakest_link", "growth"}, default "weakest_link"
            - ``"weakest_link"``: of all subtrees (Breiman et al. 1984, section 3.3).
            - ``"growth"``: of the trees that there were while this one grew, with τ = 1, 2, …
              leaves (Zhan, Liu and Xia, section 3.2).  They never cost less.
        cv : int or None, default 10
            Folds of the cross-validation: the tree is grown again without each fold, with the
            same options, pruned at the geometric means of successive critical values, and judged
            on the fold.  Classes are dealt out evenly.  None for training errors alone.
        validation : DataFrame, optional
            Rows with responses to judge the subtrees on, instead of folds; each counts once.
        loss : {"error", "impurity"}, default "error"
            For classes, R is the misclassification rate, or the impurity by which the tree was
            grown.  Of a tree grown by the impurity of ordered classes it is the mean rank error,
            which no split can raise.  Held-out rows always judge by misclassification.
        seed : int, optional
            Of folds and trees; by default that of the fit.
        n_jobs : int, optional
            Threads, a fold each; by default all cores.  The result is the same for any number.
        progress : bool, default False
            Show a progress bar of the folds.

        Returns
        -------
        PruningPath

        Raises
        ------
        InputError
            If an option is unknown or out of range, or `validation` cannot be judged on.

        Examples
        --------
        >>> import odrf
        >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), seed=1)
        >>> path = tree.pruning_path(cv=5)
        >>> small = path.best("1se")
        """
        if rule not in RULES:
            raise allowed("rule", rule, RULES)
        if loss not in LOSSES:
            raise allowed("loss", loss, LOSSES)
        if validation is not None:
            path = path_by_rows(self.fit, rule, loss, validation)
        elif cv is None:
            path = training_path(self.fit, rule, loss)
        else:
            k, own = checked_folds(cv, self.nobs, ", or None"), self.seed if seed is None else seed
            path = path_by_folds(self.fit, rule, loss, k, own, checked_jobs(n_jobs), progress)
        return PruningPath(self.fit, path, self.prune)

    def prune(
        self,
        *,
        alpha: float | None = None,
        leaves: int | None = None,
        rule: str | None = None,
        path: PruningPath[ODTResults] | None = None,
    ) -> ODTResults:
        """Return the tree cut back to one of its subtrees.

        Give one of the first three:

        Parameters
        ----------
        alpha : float, optional
            Price of a leaf: the subtree with the smallest R + alpha·(number of leaves), the
            smallest if tied, where R is the training mean squared error or misclassification
            rate.
        leaves : int, optional
            The number of leaves to keep.  Weakest links leave no subtree of some sizes; then the
            largest that is smaller.
        rule : {"min", "1se"}, optional
            What held-out rows find best; see `PruningPath.best`.
        path : PruningPath, optional
            The subtrees to choose from.  By default those of the fit's option `pruning`, judged,
            if need be, by 10-fold cross-validation.

        Returns
        -------
        ODTResults
            With this tree as its ``parent`` and the ``path`` it was taken from, if any.

        Raises
        ------
        InputError
            If not exactly one is given, or it is out of range, or `path` is another tree's.

        Examples
        --------
        >>> import odrf
        >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), seed=1)
        >>> int(tree.prune(rule="1se").n_leaves[0]) < int(tree.n_leaves[0])
        True
        """
        if sum(choice is not None for choice in (alpha, leaves, rule)) != 1:
            raise InputError(
                "prune() takes one of alpha=, leaves= and rule=, and exactly one of them"
            )
        if path is not None and path.fit.forest is not self.forest:
            raise InputError("path= belongs to another tree: use this tree's pruning_path()")
        if rule is not None:
            path = path or self.pruning_path(self.control.pruning, cv=min(10, self.nobs))
            return self._cut(path.subtrees.alpha(rule), f"rule={rule!r}", path)
        if alpha is not None:
            price = checked_alpha(alpha)
            return self._cut(price, f"alpha={price!r}", path)
        by, loss = _rule_and_loss(path, self.control.pruning)
        kept = checked_leaves(leaves, int(self.n_leaves[0]))
        forest = with_leaves(self.forest, kept, by, loss)
        return ODTResults(with_forest(self.fit, forest, f"leaves={leaves}"), self, path)

    def _cut(self, alpha: float, option: str, path: PruningPath[ODTResults] | None) -> ODTResults:
        by, loss = _rule_and_loss(path, self.control.pruning)
        subtrees = None if path is None else path.subtrees
        return ODTResults(pruned_at(self.fit, alpha, by, option, loss, subtrees), self, path)

    def growth_path(
        self,
        newdata: pd.DataFrame | None = None,
        along: str = LEAVES,
        *,
        cv: int = 10,
        seed: int | None = None,
        n_jobs: int | None = None,
    ) -> GrowthPath:
        """Return training and test error of the tree as it was at each size.

        A pruned tree's path is that of the tree it was cut from.

        Parameters
        ----------
        newdata : DataFrame, optional
            Rows with responses to test on, each counted once.  By default cross-validation.
        along : {"leaves", "depth"}, default "leaves"
            After τ = 1, 2, … leaves of its growth, or without the splits below depth 0, 1, ….
            ``prune(leaves=τ, path=fit.pruning_path("growth", cv=None))`` is the tree itself.
        cv, seed, n_jobs
            Folds, as in `pruning_path`: the tree is grown again without each.

        Returns
        -------
        GrowthPath
            With ``table``, ``best``, ``chosen``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If an option is unknown or out of range, or `newdata` cannot be judged on.

        Examples
        --------
        >>> import odrf
        >>> path = odrf.odt("progression ~ .", odrf.load_data("diabetes"), seed=1).growth_path()
        >>> bool(path.table["train"].is_monotonic_decreasing)
        True
        >>> path.best < path.size
        True
        """
        k = cv if newdata is not None else checked_folds(cv, self.nobs, ", or give newdata=")
        by_folds = partial(
            stages_by_folds, along=along, cv=k, seed=self.seed if seed is None else seed
        )
        by = f"{k}-fold cross-validation"
        return growth_path(self.fit, along, newdata, n_jobs, by_folds, by)

    def summary(self) -> Summary:
        """Return a summary of the tree: data, options, size, training error, importances."""
        return tree_summary(self.fit, self._fitted)

    def plot(
        self,
        kind: str = "tree",
        *,
        ax: Axes | None = None,
        max_depth: int | None = None,
        max_terms: int = 3,
        digits: int = 3,
    ) -> Axes:
        """Draw the tree, or the importances of its predictors.

        Parameters
        ----------
        kind : {"tree", "importance"}, default "tree"
        ax : Axes, optional
            Where to draw.  By default on a new figure that is large enough for the tree; on
            given axes the text shrinks until it fits.
        max_depth : int, optional
            Levels of splits to draw.  By default all, or as many as stay readable (about 32
            leaves); a box then tells how many leaves are below it.
        max_terms : int, default 3
            Terms of a linear combination, or levels of a factor, written in a box: the largest
            coefficients for predictors scaled to [0, 1].  `rules` and `splits` have them all.
        digits : int, default 3
            Significant digits.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `kind` is unknown or a number is below 1.
        """
        if kind == "importance":
            return plots.plot_importance(self.importance()["share"], ax)
        if kind != "tree":
            raise allowed("kind", kind, PLOTS)
        for name, value in (("max_depth", max_depth), ("max_terms", max_terms), ("digits", digits)):
            if value is not None and value < 1:
                raise InputError(f"{name}={value!r} must be at least 1")
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

    def __repr__(self) -> str:
        return tree_card(self.fit, self._fitted)


def _rule_and_loss(path: PruningPath[ODTResults] | None, rule: str) -> tuple[str, str]:
    """Return by which rule and loss a path prunes; without one, `rule` and the error."""
    return (rule, ERROR) if path is None else (path.rule, path.loss)
