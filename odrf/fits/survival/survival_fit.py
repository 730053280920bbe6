"""A fit to times to an event."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.design.survival_times import SurvivalTimes
from odrf.engine.survival.curve_numbers import mortality, with_means_above
from odrf.engine.survival.curves import LeafCurves, leaf_curves
from odrf.fits.fit import Fit
from odrf.fits.survival.by_deviance.node_hazards import NodeHazards

__all__ = ["SurvivalFit", "as_survival_fit", "with_curves"]


NO_CURVES = LeafCurves(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0))


@dataclass(frozen=True)
class SurvivalFit(Fit):
    """A tree or forest for times to an event.

    The values of its nodes are mortalities: cumulative hazards added up over all event times.

    Attributes
    ----------
    curves : LeafCurves
        The Nelson–Aalen curve of each leaf; in a single tree of each node, so that it can be
        pruned.
    event_times : (R,) float64
        The different event times of the training rows, ascending.
    hazards : NodeHazards or None
        In a single tree, events and hazards of its nodes.
    """

    curves: LeafCurves = field(default_factory=lambda: NO_CURVES)
    event_times: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    hazards: NodeHazards | None = None

    @property
    def times(self) -> SurvivalTimes:
        """Times and events of the training rows.

        Raises
        ------
        InputError
            The fit was kept without its training rows.
        """
        return self.data.require_times()


def with_curves(fit: Fit) -> SurvivalFit:
    """Return the fit with the curves of its leaves, from the rows that each tree drew."""
    ranks = fit.data.require_times().ranks
    curves = leaf_curves(fit.forest, fit.data.X, ranks, fit.draws)
    value = with_means_above(fit.forest, mortality(curves, ranks.n_times))
    forest = replace(fit.forest, value=value[:, np.newaxis])
    return as_survival_fit(fit, forest=forest, curves=curves)


def as_survival_fit(fit: Fit, **changes: Any) -> SurvivalFit:
    """Return the fit as one of times to an event, with other values of the fields `changes`."""
    known = {each.name: getattr(fit, each.name) for each in fields(Fit)}
    event_times = fit.data.require_times().event_times
    return SurvivalFit(**(known | {"event_times": event_times} | changes))
