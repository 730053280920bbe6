"""Results of an oblique random forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd

from odrf import plots
from odrf.checks import checked_part, checked_whole
from odrf.engine.trees.out_of_bag_losses import OutOfBag
from odrf.errors import InputError, allowed
from odrf.fits.combining import combined_fits
from odrf.fits.enlarging import enlarged_fit
from odrf.fits.evaluating import forest_sizes
from odrf.fits.fit import Fit
from odrf.fits.out_of_bag_values import require_out_of_bag
from odrf.fits.prediction.intervals import (
    LEVEL,
    QUANTILES,
    asked_interval,
    interval_frame,
    quantile_frame,
)
from odrf.fits.prediction.predicting import rows_of
from odrf.fits.prediction.prior_correction import checked_priors
from odrf.fits.pruned import checked_alpha, pruned_at, pruned_unseen
from odrf.fits.sizing import sized_forest
from odrf.options.control import Control
from odrf.options.rule import OOB
from odrf.pruning.choosing import CHOICES
from odrf.pruning.complexity import RULES
from odrf.reports.elimination import Elimination
from odrf.reports.forest_path import ForestPath
from odrf.reports.importance_tables import permutation_table
from odrf.reports.kinds_table import kinds_table
from odrf.reports.shadows import ShadowSelection
from odrf.reports.strength_correlation import StrengthCorrelation
from odrf.reports.summaries import forest_card, forest_summary
from odrf.results.extendable import Extendable
from odrf.results.fitted import Priors
from odrf.results.forest_out_of_bag import ForestOutOfBag
from odrf.results.panelled import Drawing, Panelled
from odrf.results.tree import ODTResults
from odrf.results.updatable import Updatable
from odrf.text.summary import Summary

__all__ = ["ODRFResults"]

SELECTIONS = ("backward", "boruta")


class ODRFResults(ForestOutOfBag, Extendable, Updatable, Panelled):
    """A fitted oblique random forest.

    Parameters
    ----------
    fit : Fit
        Design, data, options and the trees.
    parent : ODRFResults, optional
        The forest this one was pruned from.

    Attributes
    ----------
    fit : Fit
    parent : ODRFResults or None

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=20, seed=1)
    >>> bool(forest.r_squared > 0.3)
    True
    """

    def __init__(self, fit: Fit, parent: ODRFResults | None = None) -> None:
        super().__init__(fit)
        if parent is None and fit.pruning is not None:
            parent = ODRFResults(fit.pruning.grown)
        self.parent = parent

    def predict(
        self,
        newdata: pd.DataFrame | None = None,
        type: str = "response",
        *,
        priors: Priors = None,
        interval: str | None = None,
        level: float = LEVEL,
        method: str = "auto",
        quantiles: float | Sequence[float] = QUANTILES,
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows; for a regression, on request with intervals.

        Parameters
        ----------
        newdata, type, priors
            As in `ODTResults.predict`; ``"quantile"`` gives a column for each of `quantiles`.
        interval : {"confidence", "prediction"}, optional
            For the forest's expectation over training samples, or for a new response.
        level : float, default 0.95
            The share of intervals that are to cover it.
        method : {"auto", "jackknife", "conformal", "quantile"}, default "auto"
            - ``"jackknife"``, for confidence: normal, by the infinitesimal jackknife
              (`odrf.statistics.jackknife`).  It takes some n trees, better of subsamples.
            - ``"conformal"``, the default for prediction: from out-of-bag residuals, whatever
              their distribution (`odrf.statistics.conformal`).
            - ``"quantile"``: quantiles of the training responses that share leaves with the row
              (`odrf.statistics.quantiles`), which lie too close for rows of the training.
        quantiles : float or sequence of float, default (0.05, 0.5, 0.95)
            Levels above 0 and below 1.

        Returns
        -------
        Series or DataFrame
            With `interval`, the columns ``prediction``, ``lower``, ``upper`` and, for confidence,
            ``se``; missing, with a warning, where the trees are too few to tell.

        Raises
        ------
        InputError
            Naming the argument at fault.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ .", data[:400], n_trees=50, seed=1)
        >>> new = forest.predict(data[400:], interval="prediction", level=0.9)
        >>> bool(data["progression"][400:].between(new["lower"], new["upper"]).mean() > 0.8)
        True
        """
        asked = asked_interval(self.fit, type, interval, level, method)
        if type == "quantile" or asked is not None:
            checked_priors(priors, self.design.response, type)
        if type == "quantile":
            return quantile_frame(self.fit, rows_of(self.fit, newdata), quantiles)
        if asked is None:
            return super().predict(newdata, type, priors=priors)
        return interval_frame(self.fit, rows_of(self.fit, newdata), asked, lambda: self._out_of_bag)

    def tree(self, i: int) -> ODTResults:
        """Return tree `i`, counted from 0, as a result of its own.

        Its fitted values and errors are those of all training rows, drawn for it or not; counts
        and weights in its `nodes` are those of the rows it drew.

        Raises
        ------
        InputError
            If there is no such tree.
        """
        fit = self.fit
        if not isinstance(i, (int, np.integer)) or not 0 <= i < fit.forest.n_trees:
            raise InputError(
                f"i={i!r} is no tree of this forest: use 0 to {fit.forest.n_trees - 1}"
            )
        return ODTResults(
            replace(
                fit,
                call=f"{fit.call}.tree({i})",
                control=self._control_of(int(i)).with_trees(1),
                forest=fit.forest.tree(int(i)),
                streams=fit.streams[i : i + 1],
                blend=None,
                kinds={},
                pruning=None,
                changes=None if fit.changes is None else fit.changes.iloc[[i]],
                n_at_split=None
                if fit.n_at_split is None
                else fit.n_at_split[slice(*fit.forest.root[i : i + 2])],
            )
        )

    def _control_of(self, i: int) -> Control:
        fit = self.fit
        if fit.blend is None:
            return fit.control
        return list(fit.kinds.values())[fit.blend.of_tree[i]]

    @property
    def kinds(self) -> pd.DataFrame:
        """The kinds of trees of a blended forest: one row each.

        Columns ``trees``, how many of them there are; ``weight``, their share as stacking found
        it; ``pilot_error``, the out-of-bag mean squared error of the pilot (for classes its Brier
        score), as of very many trees; ``rows``, the share of the rows that each tree draws;
        ``cuts``, ``min_leaf``, ``singles`` and ``directions``, what else makes them a kind.

        Raises
        ------
        InputError
            If all trees are of one kind.
        """
        if self.fit.blend is None:
            raise InputError("all trees are of one kind: fit with blend=True for several")
        return kinds_table(self.fit.blend, self.fit.kinds)

    def pruning_path(self, rule: str | None = None) -> ForestPath[ODRFResults]:
        """Return what rising prices α of a leaf do to size and out-of-bag error.

        Parameters
        ----------
        rule : {"weakest_link", "growth"}, optional
            Which subtrees each tree has to choose from; by default those of the fit's option
            `pruning`.  See `ODTResults.pruning_path`.

        Raises
        ------
        InputError
            If `rule` is unknown, or no rows are out of bag.
        """
        require_out_of_bag(self.fit, "Pruning paths of forests")
        rule = self.control.pruning if rule is None else rule
        if rule not in RULES:
            raise allowed("rule", rule, RULES)
        return ForestPath(self.fit, forest_sizes(self.fit, rule), self.prune)

    def prune(
        self,
        alpha: float | None = None,
        *,
        rule: str | None = None,
        path: ForestPath[ODRFResults] | None = None,
    ) -> ODRFResults:
        """Return the forest with its trees pruned.

        Give `alpha` or `rule`:

        Parameters
        ----------
        alpha : float, optional
            Price of a leaf, the same for every tree (Theorem 5).  Each tree becomes its subtree
            with the smallest R + alpha·(number of leaves), with R the error on the rows it drew;
            see `ODTResults.prune`.
        rule : {"oob", "min", "1se"}, optional
            - ``"oob"``: each tree at the α that the rows it did not draw find best for it alone.
              These rows have then had their say: the out-of-bag error of the pruned forest is
              too low.
            - ``"min"``, ``"1se"``: all trees at the α that the forest's out-of-bag error finds
              best; see `ForestPath.best`.
        path : ForestPath, optional
            What was found for the forest before, for ``"min"`` and ``"1se"``.

        Returns
        -------
        ODRFResults
            With this forest as its ``parent``.

        Raises
        ------
        InputError
            If not exactly one of the two is given, or it is out of range.
        """
        if (alpha is None) == (rule is None):
            raise InputError("prune() takes either alpha= or rule=, and exactly one of them")
        by = self.control.pruning if path is None else path.rule
        if rule == OOB:
            require_out_of_bag(self.fit, 'rule="oob"')
            return ODRFResults(pruned_unseen(self.fit, by), parent=self)
        if rule is None:
            price = checked_alpha(alpha)
            return ODRFResults(pruned_at(self.fit, price, by, f"alpha={price!r}"), parent=self)
        if rule not in CHOICES:
            raise allowed("rule", rule, (OOB, *CHOICES))
        path = self.pruning_path() if path is None else path
        price = path.sizes.alpha(rule)
        return ODRFResults(pruned_at(self.fit, price, path.rule, f"rule={rule!r}"), parent=self)

    def select_variables(
        self,
        method: str = "backward",
        *,
        drop: float = 0.2,
        rounds: int = 50,
        progress: bool = False,
    ) -> Elimination[ODRFResults] | ShadowSelection[ODRFResults]:
        """Ask which predictors the forest needs.

        Parameters
        ----------
        method : {"backward", "boruta"}, default "backward"
            - ``"backward"``: grow the forest again and again, each time without the predictors
              whose permutation costs least, and compare out-of-bag errors.  For a model that
              predicts as well with few predictors.
            - ``"boruta"``: compare predictors with permuted copies of themselves.  For all
              predictors that have to do with the response.
        drop : float, default 0.2
            Share of the predictors that a backward step drops, at least one.
        rounds : int, default 50
            The most rounds of comparison with shadows; 50 tell a predictor that wins three
            rounds in four from one that wins half among hundreds.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        Elimination or ShadowSelection
            With ``table``, ``selected()``, ``best()``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If an option is unknown or out of range, or no rows are out of bag.
        """
        require_out_of_bag(self.fit, "Selections of variables")
        if method not in SELECTIONS:
            raise allowed("method", method, SELECTIONS)
        if method == "boruta":
            most = checked_whole("rounds", rounds, 1)
            return ShadowSelection(self.fit, most, progress, ODRFResults)
        return Elimination(self.fit, checked_part("drop", drop), progress, ODRFResults)

    def strength_correlation(
        self, subset_sizes: Sequence[int] | None = None
    ) -> StrengthCorrelation:
        """Ask how good the trees are, and how alike (Breiman 2001).

        Parameters
        ----------
        subset_sizes : sequence of int, optional
            Sizes q of random subsets to grow the forest again with, besides its own.  By default
            the first 2, 4, … trees of this forest are judged.

        Returns
        -------
        StrengthCorrelation
            With ``table``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If there are fewer than two trees, no rows are out of bag, or a size is out of range.
        """
        require_out_of_bag(self.fit, "Strength and correlation")
        if self.forest.n_trees < 2:
            raise InputError("strength_correlation() needs at least 2 trees: fit with n_trees=100")
        return StrengthCorrelation(self.fit, subset_sizes)

    def _with_more(self, k: int, n_jobs: int, progress: bool) -> ODRFResults:
        return ODRFResults(enlarged_fit(self.fit, k, n_jobs, progress))

    def _with_trees_of(self, other: ODRFResults) -> ODRFResults:
        return ODRFResults(combined_fits(self.fit, other.fit))

    @staticmethod
    def _sized(fit: Fit) -> Fit:
        return sized_forest(fit)

    def importance(self, type: str = "impurity") -> pd.DataFrame:
        """Return the importance of each predictor, the most important first.

        Parameters
        ----------
        type : {"impurity", "permutation"}, default "impurity"
            - ``"impurity"``: the impurity that splits on the predictor removed, each split
              weighted by its share of the rows, averaged over the trees.  A split on several
              columns is shared among them in proportion to the size of their coefficients for
              predictors scaled to [0, 1].
            - ``"permutation"``: mean rise of a tree's out-of-bag loss (squared error;
              misclassification) when the predictor's values are permuted.

        Returns
        -------
        DataFrame
            Index: predictors as in the formula, a factor being one.  Column ``importance``;
            then ``share`` of the total for impurity, or ``std_error``, the standard error of the
            mean over trees, for permutation.

        Raises
        ------
        InputError
            If `type` is unknown, or the fit has no out-of-bag rows to permute.
        """
        if type != "permutation":
            return super().importance(type)
        require_out_of_bag(self.fit, "Permutation importances")
        return self._permutation_table

    @cached_property
    def _permutation_table(self) -> pd.DataFrame:
        return permutation_table(self.fit)

    def summary(self) -> Summary:
        """Return a summary: data, options, size, out-of-bag error, importances."""
        return forest_summary(self.fit, self._known_out_of_bag)

    @property
    def _known_out_of_bag(self) -> OutOfBag | None:
        return None if self.control.resample == "none" else self._out_of_bag

    def _drawing(self) -> Drawing:
        return "error", lambda panel: plots.plot_error(self.error_path, panel)

    def __repr__(self) -> str:
        return forest_card(self.fit, self._known_out_of_bag)
