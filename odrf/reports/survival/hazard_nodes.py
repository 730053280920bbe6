"""The nodes of a tree for times to an event, as a table and as indented text."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.survival.curve_numbers import quantile_at
from odrf.errors import InputError
from odrf.fits.survival.by_deviance.node_hazards import NodeHazards
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.reports.node_tables import node_columns
from odrf.reports.rules import rules_telling
from odrf.text.wording import number

__all__ = ["hazard_nodes", "hazard_rules", "hazards_of", "median_times"]

LEGEND = "node) split  n, events, median time, hazard relative to that of all rows;  * marks a leaf"


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


def median_times(fit: SurvivalFit) -> NDArray[np.float64]:
    """Return the median time (m,) to the event in each node of a tree; inf if it is not reached."""
    return quantile_at(fit.curves, fit.event_times, 0.5)


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
    return pd.DataFrame(table, index=pd.Index(node, name="node"))


def hazard_rules(fit: SurvivalFit, digits: int, max_terms: int | None) -> str:
    """Return a line for each node, children under their parent."""
    hazards, medians, unit = hazards_of(fit), median_times(fit), fit.data.weight_unit

    def told(node: int) -> str:
        facts = {
            "events": hazards.events[node] * unit,
            "median": medians[node],
            "hazard": hazards.relative[node],
        }
        return "  ".join(f"{name} = {number(float(f), digits)}" for name, f in facts.items())

    return rules_telling(fit.forest, fit.design, digits, max_terms, LEGEND, told)
