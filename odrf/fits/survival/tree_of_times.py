"""A single tree for times to an event: its curves and hazards, and how it is judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from odrf.engine.survival.curve_numbers import mortality
from odrf.engine.survival.curves import node_curves
from odrf.fits.fit import Fit
from odrf.fits.survival.by_deviance.judged_events import judged_events
from odrf.fits.survival.by_deviance.node_hazards import (
    node_hazards,
    split_statistics,
    subjects_in_nodes,
)
from odrf.fits.survival.survival_fit import SurvivalFit, as_survival_fit

__all__ = ["survival_tree_of"]


def survival_tree_of(fit: Fit) -> SurvivalFit:
    """Return the fit of one tree with curves and hazards of all its nodes.

    Whatever the tree was grown by, weight, impurity and gain of its nodes are those of the
    exponential deviance of what its splits are about, by which it is pruned.
    """
    times = fit.data.require_times()
    ranks = times.ranks
    curves = node_curves(fit.forest, fit.data.X, ranks, fit.draws)
    of_tree = fit.forest, fit.data, fit.draws
    hazards, described = node_hazards(*of_tree, judged_events(times, fit.data.weights, fit.control))
    hazards = replace(
        hazards,
        log_rank=split_statistics(*of_tree, fit.control),
        subjects=subjects_in_nodes(*of_tree),
    )
    value = mortality(curves, ranks.n_times)[:, np.newaxis]
    forest = replace(described, value=value)
    return as_survival_fit(fit, forest=forest, curves=curves, hazards=hazards)
