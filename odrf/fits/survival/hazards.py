"""The responses that trees of times are grown on, and the hazards of their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.design.design import rows_a_subject, subjects_of
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.growth.tree_builder import Targets
from odrf.engine.resamples import Draws
from odrf.engine.survival.event_ranks import EventRanks, subdistribution_ranks
from odrf.engine.survival.log_rank import split_log_ranks
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import InputError
from odrf.options.criteria import EXPONENTIAL, GRAY, checked_cause
from odrf.options.tree import ResolvedOptions
from odrf.pruning import event_deviance
from odrf.statistics.survival import observation

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def hazard_scale(times: SurvivalTimes, weights: Floats) -> EvaluatedEvents:
    """Return the events of all causes; a time of 0 counts as half of the shortest other one."""
    least = 0.0 if times.start is not None else _least(times)
    observed = _observed(times, least)
    scale = observation.exponential_scale(observed, times.event, weights, times.start)
    return EvaluatedEvents(None, scale, least)


def _least(times: SurvivalTimes) -> float:
    return float(times.time[times.time > 0].min()) / 2


def _observed(times: SurvivalTimes, least: float) -> Floats:
    return times.time if times.start is not None else np.maximum(times.time, least)


# The numbers of the causes of events that an argument `cause` names.
def cause_numbers(cause: Any, causes: Sequence[str]) -> Integers:
    """Return the number, from 0, of a cause as an array of one; those of all for None."""
    if cause is None:
        return np.arange(len(causes))
    return np.array([causes.index(checked_cause(cause, causes))])


@dataclass(frozen=True, eq=False)
class EvaluatedEvents:
    """The events that the deviance of a tree counts, of one `cause` or all, and the scale.

    Rows leave an `ExponentialScale` with any event; on the other they stay at risk of the `number`,
    from 1, of the cause after events of others.  Times below `least` count as this one.
    """

    cause: str | None
    scale: observation.ExponentialScale | observation.SubdistributionScale
    least: float
    number: int = 0

    def counted(self, times: SurvivalTimes) -> SurvivalTimes:
        """Return the times with the events that count, rows with others being censored."""
        return times if self.cause is None else times.about(self.cause)

    def exposure(self, times: SurvivalTimes) -> Floats:
        """Return how many events (n,) each row would have had by the hazard of all rows."""
        observed = _observed(times, self.least)
        if isinstance(self.scale, observation.ExponentialScale):
            return self.scale.exposure(observed, times.start)
        return self.scale.exposure(observed, (times.event > 0) & (times.event != self.number))


def evaluated_events(
    times: SurvivalTimes, weights: Floats, control: ResolvedOptions
) -> EvaluatedEvents:
    """Return the events that the deviance of a tree of these options counts.

    For splits on the hazard of one cause, those of ``Surv(time, event == cause)``. For splits on
    its incidence, by Gray's scores, rows with another event stay at risk: with these censored, a
    split that changes the incidence by other causes alone would lower no deviance, and be pruned.
    """
    cause = control.cause
    if cause is None:
        return hazard_scale(times, weights)
    if control.criterion != GRAY:
        return replace(hazard_scale(times.about(cause), weights), cause=cause)
    number, least = 1 + int(cause_numbers(cause, times.causes)[0]), _least(times)
    scale = observation.subdistribution_scale(_observed(times, least), times.event, number, weights)
    return EvaluatedEvents(cause, scale, least, number)


# What trees are grown on: the response itself, or for exponential survival the rates of rows.
def targets_of_times(data: TrainingData, control: ResolvedOptions) -> Targets:
    """Return what the trees of these options are grown on.

    Exponential trees are grown on rates, events over exposure, weighted by it; with splits about
    one cause, only its events count.
    """
    if control.criterion != EXPONENTIAL:
        return Targets(data.y, data.weights, ranks=ranks_of_splits(data, control))
    times = _times_of_splits(data, control)
    exposure = hazard_scale(times, data.weights).exposure(times)
    rates = (times.event > 0) / exposure
    return Targets(rates, data.weights * exposure, case_weights=data.weights)


def ranks_of_splits(data: TrainingData, control: ResolvedOptions) -> EventRanks:
    """Return the times of the rows as ranks, with the events that splits are about."""
    every, times = data.require_times(), _times_of_splits(data, control)
    if control.criterion != GRAY:
        return times.ranks
    G = observation.censoring_curve(every.time, every.event, data.weights)
    number, at = 1 + int(cause_numbers(control.cause, every.causes)[0]), times.event_times
    before = G.just_before(every.time), G.just_before(at)
    return subdistribution_ranks(every.time, every.event, number, at, *before)


def _times_of_splits(data: TrainingData, control: ResolvedOptions) -> SurvivalTimes:
    times = data.require_times()
    if control.cause is None:
        return times
    times = times.about(control.cause)
    if not (times.event[data.weights > 0] > 0).any():
        raise InputError(
            f"cause={control.cause!r}: no row of positive weight has an event of this cause, so "
            "there is nothing that splits could be about: name another cause"
        )
    return times


# The coefficient of variation of the hazards of leaves that rpart takes by default.
VARIATION = 1.0


@dataclass(frozen=True, eq=False)
class NodeHazards:
    """Events and hazards of the m nodes of a tree; by C causes (m, C), (0, 0) if there is one.

    `relative` is with a prior of one event (`odrf.pruning.event_deviance.with_shrunken_rates`),
    `log_rank` the statistics of splits; it and `subjects` are empty where not needed.
    """

    events: Floats
    expected: Floats
    person_time: Floats
    relative: Floats
    of_cause: Floats = field(default_factory=lambda: np.empty((0, 0)))
    log_rank: Floats = field(default_factory=lambda: np.empty(0))
    events_of_cause: Floats = field(default_factory=lambda: np.empty((0, 0)))
    subjects: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def by_cause(self) -> Floats:
        """The relative hazards (m, C) of each cause that counts, be there one or several."""
        return self.of_cause if self.of_cause.shape[1] else self.relative[:, np.newaxis]

    def relative_of(self, code: int) -> Floats:
        """Return the hazard (m,) of a cause that counts, divided by its hazard of all rows."""
        hazard = self.by_cause[:, code]
        return np.divide(hazard, hazard[0], out=np.ones_like(hazard), where=hazard[0] > 0)


def node_hazards(
    tree: Forest, data: TrainingData, draws: Draws, evaluated: EvaluatedEvents
) -> tuple[NodeHazards, Forest]:
    """Return the hazards of the nodes, and the tree with the deviance of these hazards.

    Its values are relative hazards by cause, weights those of the rows, impurities the exponential
    deviance per unit of weight (LeBlanc and Crowley 1992), added up over causes, and gains its
    decrease without a prior. `draws` are those of this tree.
    """
    every, weights = data.require_times(), draws.weights
    times = evaluated.counted(every)
    leaf = leaf_nodes(tree, data.X, draws.n_jobs)
    counts = draws.filling(0)[:, np.newaxis]
    exposure = evaluated.exposure(every)
    of_tree = tree, leaf, times.event, exposure, weights, counts
    events = event_deviance.node_events(*of_tree, n_causes=len(times.causes))
    terms = np.column_stack([weights, weights * times.exposure])
    of_rows, person_time = event_deviance.sums_in_nodes(tree, leaf, terms, counts).T
    causes, events_of_cause = np.arange(1, 1 + len(every.causes)), np.empty((0, 0))
    if len(causes) > 1:
        happened = np.where(every.event[:, np.newaxis] == causes, weights[:, np.newaxis], 0.0)
        events_of_cause = event_deviance.sums_in_nodes(tree, leaf, happened, counts)
    rated = event_deviance.with_event_deviance(tree, events)
    shrunken = event_deviance.with_shrunken_rates(rated, VARIATION)
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
        together = event_deviance.with_event_deviance(tree, event_deviance.node_events(*of_tree))
        relative = event_deviance.with_shrunken_rates(together, VARIATION).value[:, 0]
    numbers = events.events.sum(axis=1), events.exposure, person_time, relative, of_cause
    return NodeHazards(*numbers, events_of_cause=events_of_cause), described


def subjects_in_nodes(tree: Forest, data: TrainingData, draws: Draws) -> Integers:
    """Return the number of subjects (m,) in each node; empty if each row is one."""
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
    tree: Forest, data: TrainingData, draws: Draws, control: ResolvedOptions
) -> Floats:
    """Return the log-rank statistic (m,) of each split, of what splits are about by `control`."""
    leaf = leaf_nodes(tree, data.X, draws.n_jobs)[:, 0]
    numbers = draws.filling(0) * draws.weights * data.weight_unit
    left = np.where(tree.is_split(), tree.left, -1)
    return split_log_ranks(left, leaf, ranks_of_splits(data, control), numbers)
