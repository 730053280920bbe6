"""The nodes of a tree for times to an event, as a table and as indented text."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.survival.curve_numbers import incidence_at, quantile_at, time_of_incidence
from odrf.errors import InputError
from odrf.fits.survival.fit import SurvivalFit
from odrf.fits.survival.hazards import NodeHazards, cause_numbers
from odrf.reports.node_tables import node_columns
from odrf.reports.rules import rules_telling
from odrf.text.splits import number

__all__ = ["counted_by_cause", "hazard_nodes", "hazard_rules", "hazards_of", "median_times"]

MEDIAN = "median time"
LEGEND = "node) split  n, {events}, {curve}, hazard relative to that of all rows;  * marks a leaf"


def hazards_of(fit: SurvivalFit) -> NodeHazards:
    """Return the hazards of the nodes of a tree.

    Raises
    ------
    InputError
        The fit is a forest.
    """
    if fit.hazards is None:
        raise InputError("a forest has no hazards of nodes: use a tree of odt()")
    return fit.hazards


def counted_by_cause(fit: SurvivalFit) -> dict[str, NDArray[np.float64]]:
    """Return the number of events (m,) of each cause in the nodes of a tree; none of one cause.

    Files of earlier versions do not have them.
    """
    counted = hazards_of(fit).events_of_cause * fit.data.weight_unit
    return dict(zip(fit.design.response.causes, counted.T, strict=False))


def median_times(fit: SurvivalFit) -> NDArray[np.float64]:
    """Return the median time (m,) to the event in each node of a tree; inf if it is not reached.

    Of a tree about one cause, to an event of this cause, by its incidence.
    """
    if fit.control.cause is None:
        return quantile_at(fit.curves, fit.event_times, 0.5)
    return time_of_incidence(fit.curves, _cause_of(fit), fit.event_times, 0.5)


def hazard_nodes(fit: SurvivalFit) -> pd.DataFrame:
    """Return one row for each node that rows can reach."""
    tree, hazards, unit = fit.forest, hazards_of(fit), fit.data.weight_unit
    node = np.flatnonzero(tree.depth() >= 0)
    events, person_time = hazards.events[node], hazards.person_time[node]
    rate = np.divide(events, person_time, out=np.full(len(node), np.nan), where=person_time > 0)
    table = node_columns(tree, node, unit) | {
        "events": events * unit,
        "person_time": person_time * unit,
        "rate": rate,
        "median": median_times(fit)[node],
        "relative_hazard": hazards.relative[node],
        "log_rank": np.where(tree.is_split(), hazards.log_rank, np.nan)[node],
    }
    if len(hazards.subjects):
        table["subjects"] = hazards.subjects[node]
    for code, (cause, counted) in enumerate(counted_by_cause(fit).items()):
        incidence = incidence_at(fit.curves, code, len(fit.event_times))
        table |= {f"events({cause})": counted[node], f"incidence({cause})": incidence[node]}
    return pd.DataFrame(table, index=pd.Index(node, name="node"))


def hazard_rules(fit: SurvivalFit, digits: int, max_terms: int | None) -> str:
    """Return a line for each node, children under their parent."""
    hazards, unit, cause = hazards_of(fit), fit.data.weight_unit, fit.control.cause
    by_cause = counted_by_cause(fit) if cause is None else {}
    if cause is None:
        name, curve = "median", median_times(fit)
        legend = LEGEND.format(events="events (by cause)" if by_cause else "events", curve=MEDIAN)
    else:
        name, curve = "incidence", incidence_at(fit.curves, _cause_of(fit), len(fit.event_times))
        last = number(float(fit.event_times[-1]), digits)
        legend = LEGEND.format(events=f"events of {cause!r}", curve=f"their incidence by {last}")

    def told(node: int) -> str:
        counted = ", ".join(f"{c}: {number(float(k[node]), digits)}" for c, k in by_cause.items())
        events = number(float(hazards.events[node] * unit), digits)
        subjects = [f"subjects = {hazards.subjects[node]}"] if len(hazards.subjects) else []
        return "  ".join(
            [
                *subjects,
                f"events = {events}{f' ({counted})' if counted else ''}",
                f"{name} = {number(float(curve[node]), digits)}",
                f"hazard = {number(float(hazards.relative[node]), digits)}",
            ]
        )

    if len(hazards.subjects):
        legend = legend.replace("n,", "n, subjects,", 1)
    return rules_telling(fit.forest, fit.design, digits, max_terms, legend, told)


def _cause_of(fit: SurvivalFit) -> int:
    """Return the number, from 0, of the cause that a tree is about."""
    return int(cause_numbers(fit.control.cause, fit.design.response.causes)[0])
