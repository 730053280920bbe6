"""Results of one number of the curves of a survival forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from odrf import reports
from odrf.checks import checked_choice, checked_whole, is_word
from odrf.errors import InputError
from odrf.public import public_method
from odrf.results import effects, export, predictions
from odrf.results import forest_predictions as forests
from odrf.results import importance as importances
from odrf.results import proximity as proximities
from odrf.results import tree as trees
from odrf.results.importance import BY_HELD_OUT, KNOCKOFF
from odrf.results.models import TreeResults
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from odrf.fits.survival.fit import EstimandFit
    from odrf.reports.interactions import Interactions
    from odrf.reports.proximity import Proximity


OUT_OF_BAG, PERMUTATION = "out_of_bag", "permutation"
GROWN_FOR_CURVES = "its trees are those of a survival forest"
# What other forests have and this has not, because it would grow or change trees.
WITHOUT = {
    "nodes": "it is of one tree: see surrogate()",
    "surrogate splits": "they are of one tree: see surrogate()",
    "rounds": "its trees have no order: see error_path",
    "changes": f"{GROWN_FOR_CURVES}, which is not updated",
    "combine": f"{GROWN_FOR_CURVES}: combine these, and call estimand() of the result",
    "consistency": f"{GROWN_FOR_CURVES}, of which theorems on squared errors say nothing",
    "get_prediction": 'its responses are pseudo-values: use predict(interval="confidence")',
    "grow": f"{GROWN_FOR_CURVES}: fit that with a larger n_trees=, and call estimand() again",
    "growth_path": f"{GROWN_FOR_CURVES}, whose curves are those of leaves alone: see error_path",
    "kinds": f"{GROWN_FOR_CURVES}: see there",
    "pixel_importance": f"{GROWN_FOR_CURVES}, whose splits are for curves: see importance()",
    "predictive_check": "its responses are pseudo-values, whose distribution says nothing",
    "projection_importance": f"{GROWN_FOR_CURVES}, whose splits are for curves: see importance()",
    "prune": f"{GROWN_FOR_CURVES}: fit that with a larger min_leaf=",
    "pruning_path": f"{GROWN_FOR_CURVES}: fit that with a larger min_leaf=",
    "select_variables": f"{GROWN_FOR_CURVES}, and selections grow others: see importance()",
    "strength_correlation": f"{GROWN_FOR_CURVES}: see error_path for whether they are enough",
    "to_sklearn": f"{GROWN_FOR_CURVES}, and estimators of scikit-learn grow others: use predict()",
    "tree": f"{GROWN_FOR_CURVES}: see splits, or surrogate() for one tree to read",
    "update": f"{GROWN_FOR_CURVES}: fit that to all rows, and call estimand() again",
}
NOTE = (
    "Errors and importances compare predictions with pseudo-values, because censored times do not "
    "tell the number of a row."
)
ENTER_LATE = (
    "Rows enter late: pseudo-values of rows that are rarely seen are too far from their mean, so "
    "that errors and importances are rough. score() of the survival forest allows for late entry."
)
GROWN_ANEW = "it grows trees anew, by squared errors of pseudo-values"
# Importances that are not of this number, and why.
NOT_HERE = {
    "impurity": "it is of splits that were found for curves, not for this number",
    **dict.fromkeys((BY_HELD_OUT, "conditional", "loco", KNOCKOFF), GROWN_ANEW),
}


class EstimandResults(TreeResults):
    """One number of the curves of a survival forest, as returned by its method `estimand`.

    It is the regression forest of that number: the same trees, on the same samples of rows, with
    the number of each leaf's curve as its value.  So it has what a forest of `odrf.odrf` has for a
    regression: predictions and their confidence intervals, averaged predictions, comparisons and
    slopes, partial dependence, accumulated and individual effects, Shapley values, importances, a
    surrogate tree, proximities, explanations of single rows, exports, and plots.

    Censored times do not tell the number of a row.  In place of responses the training rows have
    pseudo-values: what each row adds to the Kaplan–Meier estimate of the number (to the
    Nelson–Aalen estimate of a hazard, to the Aalen–Johansen estimate of an incidence or of the time
    lost by a cause), as if it had been observed to the end
    (`odrf.statistics.survival.pseudo_values`).  Their mean given the predictors is the number that
    is predicted, if censoring does not depend on the predictors, and no rows enter late.  They are
    what out-of-bag errors, R² and importances compare predictions with; predictions, effects and
    their standard errors do not use them.  Single pseudo-values can lie outside the range of the
    number.

    What would grow or change trees is not there, or raises `InputError`: that is for the survival
    forest.

    Parameters
    ----------
    fit : EstimandFit
        Design, data, options and trees.

    Attributes
    ----------
    fit : EstimandFit

    References
    ----------
    Andersen, Klein and Rosthøj (2003), Generalised linear models for correlated
    pseudo-observations, with applications to multi-state models, Biometrika 90, 15-27.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.hazard_jump(p=3).sample(300, seed=1)
    >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    >>> alive = forest.estimand("survival", time=0.5)
    >>> alive.design.response.name
    'S(0.5)'
    >>> curve = forest.predict(data, type="survival", times=0.5)[0.5]
    >>> bool(abs(alive.predict(data) - curve).max() < 1e-12)
    True
    >>> bool(alive.partial("x1", points=5).table["estimate"].between(0, 1).all())
    True
    """

    fit: EstimandFit

    _lacks: ClassVar[Mapping[str, str]] = WITHOUT

    # Fit
    @property
    def estimand(self) -> str:
        """Which number it is, such as ``"survival"``; see the method `estimand` of forests."""
        return self.fit.estimand

    @property
    def cause(self) -> str | None:
        """The cause of events that the number is of; None: of all."""
        return self.fit.cause

    @property
    def time(self) -> float:
        """The time that the number is of."""
        return self.fit.time

    # Predictions
    predict = forests.predict

    # The trees
    splits = export.splits_of_trees

    # Out of bag
    oob_prediction = predictions.oob_prediction
    oob_prob = predictions.oob_prob
    oob_error = forests.oob_error
    error_path = forests.error_path

    # Checks
    surrogate = trees.surrogate

    # Plots and summary
    plot = importances.plot
    _drawing = forests.drawing
    _measured_importance = forests.measured
    _oob_value = _scored = forests.oob_value
    _out_of_bag_asked = predictions.values_asked
    _require_out_of_bag = _require_scored = forests.require_oob
    _noise_residuals = forests.noise_residuals

    def _check_intervals(self, type: str, interval: object, quantiles: object) -> None:
        if is_word(interval, "prediction") or is_word(type, "quantile") or quantiles is not None:
            raise InputError(
                "prediction intervals and quantiles would be those of pseudo-values, which nobody "
                'has: use interval="confidence", or predict(type="quantile") of the survival '
                "forest for the times of events"
            )

    @property
    def _scored_error(self) -> float:
        return self.oob_error

    # Importance
    @public_method
    def importance(
        self,
        type: str | None = None,
        *,
        test: str = "t",
        adjust: str | None = "holm",
        groups: Mapping[str, Sequence[str]] | None = None,
        level: float = 0.95,
        progress: bool = False,
    ) -> pd.DataFrame:
        """Return the importance of each predictor for this number, the most important first.

        Parameters
        ----------
        type : {"out_of_bag", "permutation"}, default "out_of_bag"
            By how much splits on the predictor move predictions towards the pseudo-values of rows
            out of bag; or the increase of the out-of-bag squared error of pseudo-values when the
            predictor is permuted.
        test, adjust, groups, level
            They are for tests, of which there are none here.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        DataFrame
            As `ODRFResults.importance`.

        Raises
        ------
        InputError
            If `type` is another one, an argument for tests is given, or no rows are out of bag.
        """
        asked = OUT_OF_BAG if type is None else type
        checked_choice("type", asked, (OUT_OF_BAG, PERMUTATION, *NOT_HERE))
        if asked in NOT_HERE:
            raise InputError(
                f"type={asked!r} is not for numbers of curves, because {NOT_HERE[asked]}: use "
                f'type="{OUT_OF_BAG}", or importance() of the survival forest'
            )
        return forests.importance(
            self, asked, test=test, adjust=adjust, groups=groups, level=level, progress=progress
        )

    # Effects
    @public_method
    def interactions(
        self,
        variables: list[str] | None = None,
        *,
        rows: int = 100,
        permutations: int = 0,
        newdata: pd.DataFrame | None = None,
        progress: bool = False,
    ) -> Interactions:
        """Return which variables interact in their effect on the number.

        Parameters
        ----------
        {variables_of_pairs, rows_of_pairs, rows_drawn}
        permutations : 0
            How often the fit is grown again to tell what noise reaches: not at all, because this
            would grow other trees.
        progress : bool, default False
            Show a progress bar of the curves.

        Returns
        -------
        Interactions
            With ``table``, ``overall``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If there are fewer than two variables, or no predictor is computed from one of them; if
            fewer than two rows have values of all; if `rows` is out of range, or `permutations` is
            not 0.
        """
        if checked_whole("permutations", permutations, 0):
            raise InputError(f"permutations={permutations!r}: {GROWN_ANEW}: use permutations=0")
        return effects.interactions(
            self, variables, rows=rows, permutations=0, newdata=newdata, progress=progress
        )

    # Rows
    @public_method
    def proximity(self, newdata: pd.DataFrame | None = None, *, type: str = "plain") -> Proximity:
        """Return how near rows are to the training rows, by the leaves that they share.

        Parameters
        ----------
        newdata : DataFrame, optional
            The rows.  By default the training rows.
        type : {"plain", "oob"}, default "plain"
            - ``"plain"``: the share of the trees in which two rows are in one leaf.
            - ``"oob"``: the same among the trees that sampled neither of two training rows.

        Returns
        -------
        Proximity
            With the sparse `matrix` (m, n).

        Raises
        ------
        InputError
            If the type is unknown, or ``"weights"``, or the fit has no such proximities; if more
            than 2^28 pairs of rows may share a leaf, which would take gigabytes.
        """
        if is_word(type, "weights"):
            raise InputError(
                'type="weights": predictions are no means of the pseudo-values of training rows: '
                'use type="plain"'
            )
        return proximities.proximity(self, newdata, type=type)

    def _summary(self, progress: bool) -> Summary:
        importance = self._measured_importance(progress)
        summary = reports.summaries.forest_summary(self.fit, self._known_out_of_bag, importance)
        facts = {"Number": self.fit.in_words, **summary.facts, "Criterion": "log-rank"}
        title = "Oblique random survival forest: a number of its curves"
        notes = (NOTE, ENTER_LATE) if self.fit.late else (NOTE,)
        return replace(summary, title=title, facts=facts, notes=(*summary.notes, *notes))

    def _card(self) -> Card:
        card = reports.summaries.forest_card(self.fit, self._known_out_of_bag)
        title = f"{self.fit.in_words.capitalize()}, by {self.forest.n_trees} survival trees"
        return replace(card, title=title)
