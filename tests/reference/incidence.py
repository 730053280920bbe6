"""Incidences of causes by the formulas: one time after the other."""

from __future__ import annotations

from itertools import pairwise

from reference.survival import Rows


def survival_before(rows: Rows, t: float) -> float:
    product = 1.0
    for u in rows.event_times():
        if u < t:
            product *= 1 - rows.events(u, tuple(range(1, 99))) / rows.at_risk(u)
    return product


def incidence(rows: Rows, cause: int, t: float) -> float:
    """Aalen and Johansen: survival just before each event time, times the hazard of the cause."""
    return sum(
        survival_before(rows, u) * rows.events(u, (cause,)) / rows.at_risk(u)
        for u in rows.event_times()
        if u <= t
    )


def time_lost(rows: Rows, cause: int, horizon: float) -> float:
    """The area under the incidence of a cause, from step to step."""
    steps = [0.0, *(u for u in rows.event_times() if u < horizon), horizon]
    return sum(incidence(rows, cause, a) * (b - a) for a, b in pairwise(steps))
