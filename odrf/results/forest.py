"""Results of an oblique random forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits, reports
from odrf.checks import (
    MOST,
    checked_choice,
    checked_part,
    checked_whole,
    is_list,
    is_word,
    require_default,
)
from odrf.errors import InputError
from odrf.fits.fit import Fit, RawRows
from odrf.fits.pruning import checked_alpha, forest_sizes, pruned_at, pruned_unseen, sized_forest
from odrf.fits.responses import require_out_of_bag
from odrf.options.sizes import OOB
from odrf.pruning.complexity import CHOICES, RULES
from odrf.public import public_method, respelled
from odrf.results import checks, export, growing, predictions
from odrf.results import forest_predictions as forests
from odrf.results import importance as importances
from odrf.results import tree as trees
from odrf.results.checks import Compared
from odrf.results.importance import KNOCKOFF
from odrf.results.models import TreeResults
from odrf.results.tree import ODTResults
from odrf.statistics.residuals import probability_transforms, row_influence
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from odrf.reports.importance import StrengthCorrelation
    from odrf.reports.importance_tests import KnockoffSelection
    from odrf.reports.paths import ForestPath
    from odrf.reports.selection import Elimination, ShadowSelection

SELECTIONS = ("backward", "boruta", KNOCKOFF)
DROP, ROUNDS, FDR = 0.2, 50, 0.1
SELECTION_OPTIONS = {
    "drop": (DROP, "backward"),
    "rounds": (ROUNDS, "boruta"),
    "fdr": (FDR, KNOCKOFF),
}
"""Default of each option of `select_variables`, and the method that has it."""
INFLUENCE = ("leverage", "influence")


def require_options_of(method: str, **options: float) -> None:
    """Raise `InputError` if an option is given that is for another method of selection."""
    for name, value in options.items():
        default, own = SELECTION_OPTIONS[name]
        if method != own:
            require_default(name, value, default, f'method="{own}"')


class ODRFResults(TreeResults):
    """A fitted oblique random forest, as returned by `odrf.odrf`.

    Parameters
    ----------
    fit : Fit
        Design, data, options and trees.
    parent : ODRFResults, optional
        The forest before pruning.

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

    _lacks: ClassVar[Mapping[str, str]] = {
        "nodes": "it is of one tree: use tree(i)",
        "surrogate splits": "they are of one tree: use tree(i)",
        "rounds": 'its trees have no order: see error_path and predict(type="trees")',
    }

    def __init__(self, fit: Fit, parent: ODRFResults | None = None) -> None:
        super().__init__(fit)
        if parent is None and fit.pruning is not None:
            parent = type(self)(fit.pruning.grown)
        self.parent = parent

    # Predictions
    predict = forests.predict
    get_prediction = forests.get_prediction

    # The trees
    def tree(self, i: int) -> ODTResults:
        """Return one tree of the forest as a result.

        Its fitted values and errors are those of all training rows.  Counts and weights in its
        `nodes` are those of the rows that it sampled.

        Parameters
        ----------
        i : int
            The number of the tree, from 0.

        Returns
        -------
        ODTResults

        Raises
        ------
        InputError
            If there is no such tree.
        """
        return ODTResults(self.fit.of_tree(i))

    splits = export.splits_of_trees
    kinds = export.kinds

    # More trees
    grow = growing.grow
    combine = growing.combine

    # Pruning

    @respelled(renamed={"rule": "pruning"})
    @public_method
    def pruning_path(
        self, pruning: str | None = None, *, progress: bool = False
    ) -> ForestPath[ODRFResults]:
        """Return size and out-of-bag error of the forest, pruned at increasing α.

        Parameters
        ----------
        pruning : {"weakest_link", "growth"}, optional
            Which subtrees of each tree are candidates; by default the fit's option `pruning`.  See
            `ODTResults.pruning_path`.
        {progress}

        Returns
        -------
        ForestPath
            With ``table``, ``best()``, ``forest()``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If `pruning` is unknown, or no rows are out of bag.
        """
        require_out_of_bag(self.fit, "Pruning paths of forests")
        pruning = self.control.pruning if pruning is None else pruning
        checked_choice("pruning", pruning, RULES)
        return reports.paths.ForestPath(
            self.fit, forest_sizes(self.fit, pruning, progress), self.prune
        )

    @public_method
    def prune(
        self,
        alpha: float | None = None,
        *,
        rule: str | None = None,
        path: ForestPath[ODRFResults] | None = None,
        progress: bool = False,
    ) -> ODRFResults:
        """Return the forest with all its trees pruned, by either `alpha` or `rule`.

        Parameters
        ----------
        alpha : float, optional
            Complexity parameter α, the same for every tree (Theorem 5).  Each tree is replaced by
            its subtree with the smallest R + α·(number of leaves), R being the error on the rows
            that it sampled; see `ODTResults.prune`.
        rule : {"oob", "min", "1se"}, optional
            - ``"oob"``: each tree is pruned at the best α for its own out-of-bag rows.
            - ``"min"``, ``"1se"``: all trees are pruned at one α, chosen by the forest's out-of-bag
              error; see `ForestPath.best`.

            Rows that have chosen α would make the pruned forest look too good.  Its out-of-bag
            results are therefore those of five folds of the rows: each fold is predicted by the
            trees as the rows of the other folds would prune them.
        path : ForestPath, optional
            The pruning path, if it is known, for ``"min"`` and ``"1se"``.  Its option `pruning`
            says which subtrees are candidates; by default that of the fit.
        {progress}

        Returns
        -------
        ODRFResults
            With this forest as its ``parent``.

        Raises
        ------
        InputError
            If not exactly one of the two is given, it is invalid, `path` is another forest's, or no
            rows are out of bag.
        """
        if (alpha is None) == (rule is None):
            raise InputError("prune() takes alpha= or rule=: give exactly one of them")
        reports.paths.require_own_path(path, self.fit, "forest")
        candidates = self.control.pruning if path is None else path.pruning
        if is_word(rule, OOB):
            require_out_of_bag(self.fit, 'Choices by rule="oob"')
            return type(self)(pruned_unseen(self.fit, candidates, progress), parent=self)
        if rule is None:
            alpha = checked_alpha(alpha)
            pruned = pruned_at(self.fit, alpha, candidates, f"alpha={alpha!r}")
            return type(self)(pruned, parent=self)
        checked_choice("rule", rule, (OOB, *CHOICES))
        path = self.pruning_path(progress=progress) if path is None else path
        alpha, choice = path.sizes.alpha(rule), path.sizes.choice(rule)
        option = f"rule={rule!r}"
        pruned = pruned_at(self.fit, alpha, path.pruning, option, choice=choice)
        return type(self)(pruned, parent=self)

    growth_path = forests.growth_path

    # Out of bag
    oob_prediction = predictions.oob_prediction
    oob_prob = predictions.oob_prob
    oob_error = forests.oob_error
    error_path = forests.error_path
    _oob_value = _scored = forests.oob_value
    _out_of_bag_asked = predictions.values_asked
    _require_out_of_bag = _require_scored = forests.require_oob
    _noise_residuals = forests.noise_residuals

    # Importance
    importance = forests.importance
    _measured_importance = forests.measured

    @public_method
    def select_variables(
        self,
        method: str = "backward",
        *,
        drop: float = DROP,
        rounds: int = ROUNDS,
        fdr: float = FDR,
        progress: bool = False,
    ) -> Elimination[ODRFResults] | ShadowSelection[ODRFResults] | KnockoffSelection[ODRFResults]:
        """Select predictors.

        Parameters
        ----------
        method : {"backward", "boruta", "knockoff"}, default "backward"
            - ``"backward"``: drop the predictors of smallest permutation importance, step by step,
              and compare out-of-bag errors.  Finds few predictors that predict as well as all.
            - ``"boruta"``: compare predictors with permuted copies.  Finds all that are related to
              the response.
            - ``"knockoff"``: compare predictors with knockoffs, which have the same relation to the
              other predictors but were drawn without the response (Candès et al. 2018).  Finds
              those that tell more than the others, and bounds the expected share of false ones.
              For numbers without missing values.
        drop : float, default 0.2
            For ``"backward"``: share of the predictors that a step drops, at least one predictor.
        rounds : int, default 50
            For ``"boruta"``: most rounds of comparison.  Among hundreds of predictors, 50 rounds
            distinguish predictors that win three rounds in four from those that win half of them.
        fdr : float, default 0.1
            For ``"knockoff"``: the expected share of predictors without influence among those
            selected is at most this.  At 0.1 either none or at least ten are selected.
        {progress}

        Returns
        -------
        Elimination, ShadowSelection or KnockoffSelection
            With ``table``, ``selected()``, ``best()``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If an option is unknown, out of range, or for another method; or no rows are out of bag.
        """
        require_out_of_bag(self.fit, "Selections of variables")
        checked_choice("method", method, SELECTIONS)
        require_options_of(method, drop=drop, rounds=rounds, fdr=fdr)
        if method == KNOCKOFF:
            return reports.importance_tests.KnockoffSelection(
                self.fit, checked_part("fdr", fdr), ODRFResults
            )
        if method == "boruta":
            most = checked_whole("rounds", rounds, 1, MOST)
            return reports.selection.ShadowSelection(self.fit, most, progress, ODRFResults)
        return reports.selection.Elimination(
            self.fit, checked_part("drop", drop), progress, ODRFResults
        )

    @public_method
    def strength_correlation(
        self, subset_sizes: Sequence[int] | None = None, *, progress: bool = False
    ) -> StrengthCorrelation:
        """Return the strength of the trees and the correlation between them (Breiman 2001).

        Parameters
        ----------
        subset_sizes : sequence of int, optional
            Sizes q of random subsets, to compare this forest with forests grown with these.  By
            default the first k trees of this forest are compared, for up to 15 numbers k from 2 to
            B.
        {progress}

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
        if subset_sizes is not None and not is_list(subset_sizes):
            raise InputError(f"subset_sizes={subset_sizes!r}: use a list of whole numbers")
        return reports.importance.StrengthCorrelation(self.fit, subset_sizes, progress)

    # Checks
    predictive_check = checks.predictive_check
    surrogate = trees.surrogate

    # Plots and summary
    plot = importances.plot
    _drawing = forests.drawing

    def _summary(self, progress: bool) -> Summary:
        """Return a summary: data, options, sizes, out-of-bag error, importances."""
        importance = self._measured_importance(progress)
        return reports.summaries.forest_summary(self.fit, self._known_out_of_bag, importance)

    def _card(self) -> Card:
        return reports.summaries.forest_card(self.fit, self._known_out_of_bag)

    def _compared(
        self,
        newdata: pd.DataFrame | None,
        rows: RawRows,
        y: NDArray[np.float64],
        level: float,
        progress: bool,
    ) -> Compared:
        predicted = self.predict(newdata, interval="prediction", level=level, progress=progress)
        frame = predicted[rows.complete]
        near = fits.proximity.proximities(
            self.fit, None if newdata is None else rows.X, fits.proximity.WEIGHTS
        )
        table = pd.DataFrame(
            {
                "fitted": frame["estimate"].to_numpy(),
                "conf_low": frame["conf_low"].to_numpy(),
                "conf_high": frame["conf_high"].to_numpy(),
                "pit": probability_transforms(near, self.fit.data.y, y),
            },
            index=frame.index,
        )
        if newdata is not None:
            return Compared(table, None)
        values = row_influence(near, self.fit.data.y, rows.weights)
        influence = pd.DataFrame(dict(zip(INFLUENCE, values, strict=True)), index=frame.index)
        return Compared(table, influence)

    def _enlarged(self, k: int, n_jobs: int, progress: bool) -> Fit:
        return fits.updating.enlarged_fit(self.fit, k, n_jobs, progress)

    def _with_trees_of(self, other: ODRFResults) -> Fit:
        return fits.updating.combined_fits(self.fit, other.fit)

    def _sized(self, fit: Fit) -> Fit:
        return sized_forest(fit)

    @property
    def _scored_error(self) -> float:
        return self.oob_error
