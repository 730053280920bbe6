"""How well pilot trees of each kind predict survival out of bag: what a blend is chosen by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from odrf.design.survival_times import SurvivalTimes
from odrf.engine.resamples import Draws
from odrf.engine.survival.curve_numbers import incidence_at, survival_at
from odrf.engine.survival.curves import LeafCurves, leaf_curves
from odrf.engine.trees.forest import joined
from odrf.fits.blending import Pilots, evidence_of_errors
from odrf.fits.stacking import Evidence
from odrf.fits.survival.hazards import cause_numbers
from odrf.statistics.survival.observation import observation_curve, weighted_states

# Quantiles of the event times at which survival is evaluated.
QUANTILES = np.linspace(0.1, 0.9, 9)


@dataclass(frozen=True)
class EvidenceOfCurves:
    """Evaluates pilot trees by the Brier scores of their survival at some times (Graf et al. 1999).

    Events of several causes have the scores of the incidences of all causes added up, or those of
    the one `cause` that the splits are about (None: all). `case_weights` (n,) are those of the
    training rows; trees of rates are grown with other weights.
    """

    times: SurvivalTimes
    case_weights: NDArray[np.float64]
    cause: str | None = None

    def __call__(self, pilots: Pilots, y: NDArray[np.float64]) -> Evidence:
        """Return the evidence; see `odrf.fits.blending.pilot_evidence`."""
        # the weights of trees may be exposures
        weights, (trees, X, _, samplings, tree_streams, n_jobs, codes) = self.case_weights, pilots
        time, event, start = self.times.time, self.times.event > 0, self.times.start
        at = np.unique(np.quantile(time[event], QUANTILES, method="lower"))
        grid = np.searchsorted(self.times.event_times, at, side="right")
        causes, ranks = cause_numbers(self.cause, self.times.causes), self.times.ranks
        valued = []
        for of_kind, sampling in zip(trees, samplings, strict=True):
            draws = Draws(weights, [sampling] * len(of_kind), tree_streams, n_jobs, codes)
            forest = joined(of_kind, len(of_kind))
            curves = leaf_curves(forest, X, ranks, draws)
            forest = replace(forest, value=self._numbers(curves, causes, grid.tolist()))
            valued.append([forest.tree(b) for b in range(len(of_kind))])
        alive = time[:, None] > at
        observed = observation_curve(time, event, weights, start)
        states = weighted_states(time, event, None, observed, start)
        seen = np.column_stack([states.at(t).weight for t in at])
        target = alive
        if len(self.times.causes) > 1:
            target = np.hstack([~alive & (self.times.event == 1 + k)[:, None] for k in causes])
        root = np.tile(np.sqrt(seen), target.shape[1] // len(at))
        pilots = pilots._replace(trees=valued, weights=weights)
        return evidence_of_errors(pilots, target.astype(np.float64), root)

    def _numbers(
        self, curves: LeafCurves, causes: NDArray[np.int64], grid: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return the evaluated numbers of each node: survival, or incidences of some causes."""
        if len(self.times.causes) == 1:
            return np.column_stack([survival_at(curves, rank) for rank in grid])
        return np.column_stack(
            [incidence_at(curves, int(k), rank) for k in causes for rank in grid]
        )
