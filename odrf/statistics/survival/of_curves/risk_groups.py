"""Groups of rows of similar risk: their predicted curves beside those observed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.aalen_johansen import CumulativeIncidence, cumulative_incidence
from odrf.statistics.survival.calibration_at import groups_of_equal_weight
from odrf.statistics.survival.kaplan_meier import KaplanMeier, kaplan_meier
from odrf.statistics.survival.of_curves.judged_lifetimes import JudgedLifetimes
from odrf.statistics.survival.pointwise_limits import limits_of_probability
from odrf.statistics.survival.risk_sets import number_at_risk
from odrf.statistics.survival.weighted_states import weights_at

__all__ = ["RiskGroup", "groups_by_risk"]

Floats = NDArray[np.float64]


class RiskGroup(NamedTuple):
    """One group of rows.

    Attributes
    ----------
    rows : (n,) bool
        Which rows they are.
    observed : KaplanMeier or CumulativeIncidence
        Their Kaplan–Meier curve; if one cause is judged, its incidence.
    lives : JudgedLifetimes
        Their times.
    """

    rows: NDArray[np.bool_]
    observed: KaplanMeier | CumulativeIncidence
    lives: JudgedLifetimes

    def at_risk(self, times: Floats) -> Floats:
        """Return the weight of the rows at risk at times (m,)."""
        return number_at_risk(times, self.lives.time, self.lives.weights, self.lives.start)

    def steps(self, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
        """Return the observed curve (R,) at its times, and its lower and upper limits."""
        known = self.observed
        curve = known.survival if isinstance(known, KaplanMeier) else known.incidence
        return curve, *limits_of_probability(curve, known.variance, level)

    def predicted(self, curves: Floats) -> Floats:
        """Return the weighted mean (m,) of the curves (n, m) of all rows.

        If rows enter late, each stands for as many as by the last time at which curves are judged.
        """
        lives = self.lives
        weights = lives.weights
        if lives.start is not None and lives.happened.any():
            last = lives.last_time()
            weights = weights_at(lives.time, lives.event, weights, lives.start, last)
        return np.average(curves[self.rows], axis=0, weights=weights)


def groups_by_risk(rows: JudgedLifetimes, risk: Floats, groups: int = 4) -> list[RiskGroup]:
    """Return groups of about equal weight, from the lowest risk (n,) to the highest.

    Equal risks are in one group, so that there may be fewer groups.
    """
    of = groups_of_equal_weight(risk, groups, rows.weights)
    found = []
    for g in range(int(of.max()) + 1):
        lives = rows.keeping(of == g)
        found.append(RiskGroup(of == g, _observed(lives), lives))
    return found


def _observed(lives: JudgedLifetimes) -> KaplanMeier | CumulativeIncidence:
    if lives.cause is None:
        return kaplan_meier(lives.time, lives.event, lives.weights, lives.start)
    return cumulative_incidence(lives.time, lives.event, lives.cause, lives.weights, lives.start)
