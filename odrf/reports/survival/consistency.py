"""Consistency of predicted survival curves: which result covers a fit, and what it leaves open."""

from __future__ import annotations

import numpy as np

from odrf.design.encoding import Indicators, Ranks
from odrf.engine.factors import stored
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.survival.boosted import BoostedSurvivalFit
from odrf.fits.survival.fit import SurvivalFit
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.options.tree import ResolvedOptions
from odrf.public import public
from odrf.reports.consistency import TheoremReport
from odrf.statistics.theorems import (
    SurvivalFitProperties,
    conclusion_on_curves,
    conditions_of_curves,
)

SOURCES = (
    "[I]: Ishwaran and Kogalur (2010), Statistics and Probability Letters 80, 1056-1064; [C]: Cui, "
    "Zhu, Zhou and Kosorok (2022), Statistica Sinica 32, 1245-1267.",
    "Neither is about splits on several predictors, or pruning by the deviance. Usual rules of "
    "splitting compare curves within a node, which are biased because its rows do not have one law "
    "of events and of censoring ([C]). The papers have further conditions, which no fit can show.",
    "Splits about one of several causes are the same with the other causes censored, or for Gray's "
    "splits kept at risk; neither paper is about incidences.",
)


@public
class CurveConsistency(TheoremReport):
    """Which result on consistency covers a fit to survival times, and what is not covered.

    Returned by the method `consistency` of results.

    Attributes
    ----------
    fit : SurvivalFit or BoostedSurvivalFit
    table : DataFrame
        One row for each condition.  Columns: ``theorem``; ``condition``; ``quantity``, what the fit
        has; ``verdict``: "holds", "does not hold", "cannot be evaluated" or "assumed".

    Examples
    --------
    >>> import odrf
    >>> from odrf import simulate
    >>> data = simulate.proportional_hazards().sample(200, seed=1)
    >>> tree = odrf.odt("Surv(time, event) ~ .", data, alpha=None, seed=1)
    >>> tree.consistency().conclusion[:21]
    'No result covers it: '
    """

    def __init__(self, fit: SurvivalFit | BoostedSurvivalFit) -> None:
        self.fit, self._properties = fit, _properties_of(fit)
        self.table = self._of_conditions(conditions_of_curves(self._properties))

    @property
    def conclusion(self) -> str:
        """The conclusion, in one sentence."""
        return conclusion_on_curves(self._properties)

    def _notes(self) -> tuple[str, ...]:
        return SOURCES


def _properties_of(fit: SurvivalFit | BoostedSurvivalFit) -> SurvivalFitProperties:
    """Return what the theorems ask of a fit."""
    recipe = fit.design.recipe
    finite = [
        all(isinstance(recipe.variables[v].encoding, Indicators | Ranks) for v in term)
        for term in recipe.terms
    ]
    kinds: list[ResolvedOptions | ResolvedBoostingOptions] = [fit.control]
    if isinstance(fit, SurvivalFit) and fit.kinds:
        kinds = list(fit.kinds.values())
    tried = [kind.mixture.n_singles + kind.mixture.n_directions for kind in kinds]
    one_each = all(
        number == 1 and kind.n_thresholds == 1 for number, kind in zip(tried, kinds, strict=True)
    )
    return SurvivalFitProperties(
        P=len(finite),
        numbers=finite.count(False),
        mixed=_mixed_leaves(fit) if all(finite) else np.nan,
        oblique=any(kind.mixture.n_directions > 0 for kind in kinds),
        chosen=not one_each,
        least_rows=min(kind.min_leaf for kind in kinds),
        summed=isinstance(fit, BoostedSurvivalFit),
    )


def _mixed_leaves(fit: SurvivalFit | BoostedSurvivalFit) -> float:
    """Return the share of leaves that training rows of different predictors reach."""
    X = fit.data.X
    _, value = np.unique(stored(X), axis=1, return_inverse=True)
    reached = leaf_nodes(fit.forest, X, fit.control.n_jobs).ravel()
    pairs = np.unique(np.column_stack([reached, np.repeat(value, fit.forest.n_trees)]), axis=0)
    return float((np.unique(pairs[:, 0], return_counts=True)[1] > 1).mean())
