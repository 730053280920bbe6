"""Results of one oblique decision tree."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odrf.errors import InputError, allowed
from odrf.plots.importance import plot_importance
from odrf.plots.tree import plot_tree
from odrf.pruning import prune_to_leaves
from odrf.results.base import TreeResults
from odrf.results.fit import Fit
from odrf.results.path import PruningPath
from odrf.results.pruned import pruned_at, with_forest
from odrf.results.report import tree_card, tree_summary
from odrf.results.rules import rules_text
from odrf.results.scores import confusion_table, mean_loss, r_squared
from odrf.results.tables import nodes_table, splits_table
from odrf.summary import Summary

__all__ = ["ODTResults"]

PLOTS = ("tree", "importance")
PRUNING_RULES = ("growth",)


class ODTResults(TreeResults):
    """A fitted oblique decision tree.

    Parameters
    ----------
    fit : Fit
        Design, data, options and the tree.
    parent : ODTResults, optional
        The tree this one was pruned from.

    Attributes
    ----------
    fit : Fit
    parent : ODTResults or None

    Examples
    --------
    >>> import odrf
    >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), max_leaves=8, seed=1)
    >>> int(tree.n_leaves[0])
    8
    >>> int(tree.prune(leaves=3).n_leaves[0])
    3
    """

    def __init__(self, fit: Fit, parent: ODTResults | None = None) -> None:
        super().__init__(fit)
        self.parent = parent

    @cached_property
    def nodes(self) -> pd.DataFrame:
        """The nodes, one row each; the index is the node's number, 0 for the root.

        Columns: ``parent``, ``depth``, ``leaf``, ``left``, ``right`` (numbers of the children),
        ``count`` and ``weight`` (training rows and their weights), ``impurity``, ``gain`` (the
        impurity that its split removes, per unit of weight), ``order`` (rank of the split in
        the tree's growth), and for a regression ``value``, the mean response; for classes
        ``prediction`` and a column ``P(class)`` for each.
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

        Raises
        ------
        InputError
            For a regression.
        """
        return confusion_table(self.fit, self._fitted)

    @cached_property
    def training_error(self) -> float:
        """Weighted mean squared error, or misclassification rate, of the training rows."""
        return mean_loss(self.fit.data, self._fitted)

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

    def pruning_path(self, rule: str = "growth") -> PruningPath:
        """Return the subtrees that pruning can choose, with the α from which each is chosen.

        Parameters
        ----------
        rule : {"growth"}, default "growth"
            The tree with τ leaves is the tree as it was when it had grown τ leaves.

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        if rule not in PRUNING_RULES:
            raise allowed("rule", rule, PRUNING_RULES)
        return PruningPath(self)

    def prune(self, *, alpha: float | None = None, leaves: int | None = None) -> ODTResults:
        """Return the tree cut back along its growth.

        Give one of:

        Parameters
        ----------
        alpha : float, optional
            Price of a leaf: of the trees with τ = 1, 2, … leaves along the growth, the one with
            the smallest R(τ) + alpha·τ, where R is the training mean squared error or
            misclassification rate; the smallest tree if tied.
        leaves : int, optional
            The number of leaves to keep.

        Returns
        -------
        ODTResults
            With this tree as its ``parent``.

        Raises
        ------
        InputError
            If not exactly one is given, or it is out of range.
        """
        if (alpha is None) == (leaves is None):
            raise InputError("prune() takes either alpha= or leaves=, and exactly one of them")
        if alpha is not None:
            return ODTResults(pruned_at(self.fit, alpha), parent=self)
        forest = prune_to_leaves(self.fit.forest, self._checked_leaves(leaves))
        return ODTResults(with_forest(self.fit, forest, f"leaves={leaves}"), parent=self)

    def _checked_leaves(self, leaves: object) -> int:
        most = int(self.n_leaves[0])
        if not isinstance(leaves, (int, np.integer)) or not 1 <= leaves <= most:
            raise InputError(
                f"leaves={leaves!r} is out of range: this tree has {most} leaves, "
                f"so use a whole number from 1 to {most}"
            )
        return int(leaves)

    def summary(self) -> Summary:
        """Return a summary of the tree: data, options, size, training error, importances."""
        return tree_summary(self)

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
            return plot_importance(self.importance()["share"], ax)
        if kind != "tree":
            raise allowed("kind", kind, PLOTS)
        for name, value in (("max_depth", max_depth), ("max_terms", max_terms), ("digits", digits)):
            if value is not None and value < 1:
                raise InputError(f"{name}={value!r} must be at least 1")
        return plot_tree(
            self.fit.forest,
            self.fit.design,
            ax=ax,
            max_depth=max_depth,
            max_terms=max_terms,
            digits=digits,
        )

    def _permutation_importance(self) -> pd.DataFrame:
        raise InputError(
            'a tree alone has no permutation importance: use type="impurity", or fit a forest'
        )

    def __repr__(self) -> str:
        return tree_card(self)
