"""What the training rows of each node of a tree say of its hazard."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.design.subjects import rows_a_subject, subjects_of
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.resamples import Draws
from odrf.engine.survival.log_rank import split_log_ranks
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.survival.by_deviance.judged_events import JudgedEvents
from odrf.fits.survival.grown_response import ranks_of_splits
from odrf.options.tree import Control
from odrf.pruning.event_deviance import (
    node_events,
    sums_in_nodes,
    with_event_deviance,
    with_shrunken_rates,
)

__all__ = ["NodeHazards", "node_hazards", "split_statistics", "subjects_in_nodes"]

# The coefficient of variation of the hazards of leaves that rpart takes by default.
VARIATION = 1.0


@dataclass(frozen=True, eq=False)
class NodeHazards:
    """Events and hazards of the m nodes of a tree.

    Attributes
    ----------
    events : (m,) float64
        The number of events, each as often as the case weight of its row says.  Those of one cause
        if the tree is about one.
    expected : (m,) float64
        The number of events that there would have been by the hazard of all rows.
    person_time : (m,) float64
        How long the rows of the node were observed, all together.
    relative : (m,) float64
        The hazard, divided by that of all rows: events divided by expected events, both with a
        prior of one event; see `odrf.pruning.event_deviance.with_shrunken_rates`.
    of_cause : (m, C) float64
        The hazard of each cause, divided by that of all rows and causes.  Empty, (0, 0), if there
        is one cause, or the tree is about one.
    log_rank : (m,) float64
        The log-rank statistic of each split, case weights being numbers of rows; 0 at leaves.  Of
        a tree that is only judged by the deviance it is empty.
    events_of_cause : (m, C) float64
        The number of events of each cause, also of a tree about one; they are counted like
        `events`.  Empty, (0, 0), if there is one cause.
    subjects : (m,) int64
        The number of subjects, where these have several rows each; else empty.
    """

    events: NDArray[np.float64]
    expected: NDArray[np.float64]
    person_time: NDArray[np.float64]
    relative: NDArray[np.float64]
    of_cause: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    log_rank: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    events_of_cause: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    subjects: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def by_cause(self) -> NDArray[np.float64]:
        """The relative hazards (m, C) of each cause that counts, be there one or several."""
        return self.of_cause if self.of_cause.shape[1] else self.relative[:, np.newaxis]

    def relative_of(self, code: int) -> NDArray[np.float64]:
        """Return the hazard (m,) of a cause that counts, divided by its hazard of all rows."""
        hazard = self.by_cause[:, code]
        return np.divide(hazard, hazard[0], out=np.ones_like(hazard), where=hazard[0] > 0)


def node_hazards(
    tree: Forest, data: TrainingData, draws: Draws, judged: JudgedEvents
) -> tuple[NodeHazards, Forest]:
    """Return the hazards of the nodes, and the tree described by the deviance of these hazards.

    Parameters
    ----------
    tree : Forest
        A forest of one tree.
    data : TrainingData
    draws : Draws
        Of this tree, with the case weights of the rows; rows of weight 0 count nowhere.
    judged : JudgedEvents
        What counts, see `odrf.fits.survival.by_deviance.judged_events`.

    Returns
    -------
    hazards : NodeHazards
    described : Forest
        The same tree.  The values of a node are its relative hazards by cause, its weight the
        weight of its rows, its impurity the exponential deviance per unit of weight (LeBlanc and
        Crowley 1992), added up over the causes, and the gain of a split what it decreases the
        deviance of hazards without a prior.
    """
    every, weights = data.require_times(), draws.weights
    times = judged.counted(every)
    leaf = leaf_nodes(tree, data.X, draws.n_jobs)
    counts = draws.filling(0)[:, np.newaxis]
    exposure = judged.exposure(every)
    of_tree = tree, leaf, times.event, exposure, weights, counts
    events = node_events(*of_tree, n_causes=len(times.causes))
    terms = np.column_stack([weights, weights * times.exposure])
    of_rows, person_time = sums_in_nodes(tree, leaf, terms, counts).T
    happened = _weights_by_cause(every, weights)
    events_of_cause = sums_in_nodes(tree, leaf, happened, counts) if happened.size else happened
    rated = with_event_deviance(tree, events)
    shrunken = with_shrunken_rates(rated, VARIATION)
    per_weight = np.divide(
        2.0 * rated.weight, of_rows, out=np.zeros_like(of_rows), where=of_rows > 0
    )
    described = replace(
        shrunken, weight=of_rows, impurity=shrunken.impurity * per_weight,
        gain=rated.gain * per_weight,
    )  # fmt: skip
    relative, of_cause = shrunken.value[:, 0], np.empty((0, 0))
    if len(times.causes) > 1:
        of_cause = shrunken.value
        together = with_event_deviance(tree, node_events(*of_tree))
        relative = with_shrunken_rates(together, VARIATION).value[:, 0]
    number = events.events.sum(axis=1)
    hazards = NodeHazards(
        number, events.exposure, person_time, relative, of_cause, events_of_cause=events_of_cause
    )
    return hazards, described


def _weights_by_cause(times: SurvivalTimes, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight (n, C) that a row adds to the events of each cause; (0, 0) of one cause."""
    causes = np.arange(1, 1 + len(times.causes))
    if len(causes) == 1:
        return np.empty((0, 0))
    return np.where(times.event[:, np.newaxis] == causes, weights[:, np.newaxis], 0.0)


def subjects_in_nodes(tree: Forest, data: TrainingData, draws: Draws) -> NDArray[np.int64]:
    """Return the number of subjects (m,) in each node; empty if each row is one.

    The arguments are as in `node_hazards`.
    """
    subjects = subjects_of(data)
    if subjects is None or rows_a_subject(data) == 1:
        return np.empty(0, dtype=np.int64)
    counted = np.flatnonzero(draws.filling(0) * draws.weights > 0)
    at, parents = leaf_nodes(tree, data.X, draws.n_jobs)[counted, 0], tree.parents()
    who, pairs = subjects[counted], []
    while len(at):
        pairs.append(np.unique(np.column_stack([at, who]), axis=0))
        at = parents[at]
        who, at = who[at >= 0], at[at >= 0]
    every = np.unique(np.concatenate(pairs), axis=0)
    return np.bincount(every[:, 0], minlength=tree.n_nodes)


def split_statistics(
    tree: Forest, data: TrainingData, draws: Draws, control: Control
) -> NDArray[np.float64]:
    """Return the log-rank statistic (m,) of each split, of what splits are about by `control`.

    The other arguments are as in `node_hazards`.
    """
    leaf = leaf_nodes(tree, data.X, draws.n_jobs)[:, 0]
    numbers = draws.filling(0) * draws.weights * data.weight_unit
    return split_log_ranks(tree, leaf, ranks_of_splits(data, control), numbers)
