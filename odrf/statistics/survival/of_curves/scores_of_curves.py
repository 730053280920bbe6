"""The scores of predicted risks and survival curves: concordance, and Brier scores over time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from odrf.statistics.survival.brier import BrierScores, brier_scores, explained_share
from odrf.statistics.survival.concordance import concordance_of_cause, harrells_c, unos_c
from odrf.statistics.survival.of_curves.judged_lifetimes import JudgedLifetimes
from odrf.statistics.survival.rowwise_errors import RowwiseEstimate
from odrf.statistics.survival.step_curves import StepCurve

__all__ = [
    "EXPLAINED",
    "HARRELL",
    "INTEGRATED",
    "UNO",
    "brier_of_curves",
    "concordances",
    "scores_of_curves",
]

Floats = NDArray[np.float64]
Curves = Callable[[Floats], Floats]
HARRELL, UNO, INTEGRATED, EXPLAINED = "harrell_c", "uno_c", "integrated_brier", "explained"


def scores_of_curves(
    rows: JudgedLifetimes, risk: Floats, survival: Curves, reference: StepCurve, until: float
) -> dict[str, RowwiseEstimate]:
    """Return the scores by name.

    Parameters
    ----------
    rows : JudgedLifetimes
    risk : (n,) float64
        The higher, the earlier the event is expected.
    survival : callable
        Returns the predicted probability of no event (n, m) by ascending times (m,).
    reference : StepCurve
        What is predicted without predictors: the Kaplan–Meier curve of the training rows, or 1
        minus the incidence of the cause in them.
    until : float
        Only events before this time count for Uno's C, and Brier scores are integrated up to it.

    Returns
    -------
    dict of str to RowwiseEstimate
        ``harrell_c``, ``uno_c``, ``integrated_brier`` (the mean over time from ``rows.since`` on),
        ``explained`` (1 minus this score divided by that of the reference).  Of one cause there is
        no ``harrell_c``.
    """
    found = concordances(rows, risk, until)
    at = rows.grid(until)
    model = brier_of_curves(rows, survival(at), at)
    known = brier_of_curves(rows, reference(at)[np.newaxis], at)
    return found | {INTEGRATED: model.integrated, EXPLAINED: explained_share(model, known)}


def concordances(rows: JudgedLifetimes, risk: Floats, until: float) -> dict[str, RowwiseEstimate]:
    """Return Harrell's C, unless of one cause, and Uno's; arguments as for all scores."""
    # an event at the last time counts, too
    lives, tau = (rows.time, rows.event, risk), float(np.nextafter(until, np.inf))
    if rows.cause is not None:
        found = concordance_of_cause(*lives, rows.cause, tau, rows.weights, start=rows.start)
        return {UNO: found}
    return {
        HARRELL: harrells_c(*lives, rows.weights, rows.start),
        UNO: unos_c(*lives, tau, rows.weights, start=rows.start),
    }


def brier_of_curves(rows: JudgedLifetimes, survival: Floats, at: Floats) -> BrierScores:
    """Return the Brier scores of survival (n, m), or (1, m) the same for all rows, at m times."""
    return brier_scores(
        rows.time, rows.event, 1 - survival, at, rows.cause, rows.weights, start=rows.start
    )
