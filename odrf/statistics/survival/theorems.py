"""What is proved of the consistency of survival trees and forests, and what a fit has of it.

[I] Ishwaran and Kogalur (2010), Statistics and Probability Letters 80, 1056-1064: general rules of
splitting, bootstraps and drawn predictors, if all predictors are factors. [C] Cui, Zhu, Zhou and
Kosorok (2022), Statistica Sinica 32, 1245-1267: of finitely many predictors with splits at random,
or many weakly correlated ones. Both are about splits on single predictors; further conditions,
which no fit can show, are in the papers.
"""

from __future__ import annotations

from dataclasses import dataclass

from odrf.statistics.theorems import ASSUMED, FAILS, HOLDS, UNKNOWN, Condition

FINITE = "[I]"
RANDOM, SPARSE = "[C], splits at random", "[C], splits that are chosen"
CENSORING = "censoring independent of the event, given the predictors"
AT_RISK = "rows at risk at the last time, whatever the predictors"
ALONE = "splits on single predictors"
GROWING = "rows of a leaf → ∞"


@dataclass(frozen=True)
class SurvivalFitProperties:
    """The properties of a fit to times to an event that the theorems are about."""

    P: int
    numbers: int
    mixed: float
    oblique: bool
    chosen: bool
    least_rows: int
    summed: bool = False


def conditions_of_curves(fit: SurvivalFitProperties) -> list[Condition]:
    """Return the conditions of the results that may cover the fit."""
    return [*_finite(fit), *_univariate(fit)]


def _finite(fit: SurvivalFitProperties) -> list[Condition]:
    numbers = f"{fit.numbers} of {fit.P} are numbers" if fit.numbers else "factors only"
    mixed = "not of numbers" if fit.numbers else f"{100 * (1 - fit.mixed):.3g}% of the leaves"
    separated = FAILS if fit.numbers or fit.mixed else HOLDS
    return [
        Condition(FINITE, CENSORING, "", ASSUMED),
        Condition(FINITE, AT_RISK, "", ASSUMED),
        Condition(FINITE, "finitely many values of predictors", numbers, _holds(not fit.numbers)),
        Condition(FINITE, "leaves of one value each", mixed, separated),
        *_of_curves(FINITE, fit),
    ]


def _univariate(fit: SurvivalFitProperties) -> list[Condition]:
    name = SPARSE if fit.chosen else RANDOM
    tried = "several predictors, too" if fit.oblique else "one at a time"
    conditions = [
        Condition(name, CENSORING, "", ASSUMED),
        Condition(name, AT_RISK, "", ASSUMED),
        Condition(name, ALONE, tried, _holds(not fit.oblique)),
        Condition(name, GROWING, f"at least {fit.least_rows}", UNKNOWN),
        *_of_curves(name, fit),
    ]
    if fit.chosen:
        weakly = "predictors weakly correlated, and what else the paper asks of them"
        conditions.append(Condition(name, weakly, "", ASSUMED))
    return conditions


def _of_curves(name: str, fit: SurvivalFitProperties) -> list[Condition]:
    steps = [Condition(name, "curves in the leaves, and their mean", "steps of a score", FAILS)]
    return steps if fit.summed else []


def conclusion_on_curves(fit: SurvivalFitProperties) -> str:
    """Return the conclusion for the fit, in one sentence."""
    if fit.summed:
        return (
            "No result covers it: [I] and [C] are about trees whose leaves have curves, and these "
            "add up to a score, whose curves have all the same shape."
        )
    if not fit.numbers and not fit.mixed:
        return (
            "Consistent survival curves if censoring is independent of the event given the "
            "predictors, and if rows are at risk at the last time whatever the predictors, in the "
            f"case of {FINITE}: each leaf has rows of one value of the predictors, so that its "
            "curve is that of this value."
        )
    if fit.oblique:
        return (
            "No result covers it: [I] is about predictors with finitely many values, each in a "
            "leaf of its own, and [C] about splits on single predictors."
        )
    return (
        "Whether [C] applies cannot be judged: it needs leaves whose rows grow with n, and a fixed "
        "min_leaf does not show how they would"
        + (", and predictors that are weakly correlated." if fit.chosen else ".")
    )


def _holds(holds: bool) -> str:
    return HOLDS if holds else FAILS
