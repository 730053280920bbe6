"""The responses that trees of times are grown on, and the hazards of their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

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
from odrf.pruning.event_deviance import (
    node_events,
    sums_in_nodes,
    with_event_deviance,
    with_shrunken_rates,
)
from odrf.statistics.survival.observation import censoring_curve
from odrf.statistics.survival.time_scales import (
    ExponentialScale,
    SubdistributionScale,
    exponential_scale,
    subdistribution_scale,
)

# ------------------------------------------------------------------------------------------------
# Times of observation on the scale on which the hazard of all training rows is constant.
# ------------------------------------------------------------------------------------------------


class ScaleOfRows(Protocol):
    """The scale of the training rows, for them and for others."""

    def exposure(self, times: SurvivalTimes) -> NDArray[np.float64]:
        """Return how many events (n,) each row would have had by the hazard of all rows."""


@dataclass(frozen=True, eq=False)
class HazardScale:
    """A scale on which rows leave with their event, whatever its cause.

    Times shorter than `least` count as this one: a row must be observed for some time.
    """

    scale: ExponentialScale
    least: float

    def exposure(self, times: SurvivalTimes) -> NDArray[np.float64]:
        """Return how many events (n,) each row would have had by the hazard of all rows."""
        return self.scale.exposure(_observed(times, self.least), times.start)


@dataclass(frozen=True, eq=False)
class IncidenceScale:
    """A scale on which rows stay at risk of one `cause` (from 1) after events of the others.

    `least` is that of `HazardScale`.
    """

    scale: SubdistributionScale
    least: float
    cause: int

    def exposure(self, times: SurvivalTimes) -> NDArray[np.float64]:
        """Return how many events (n,) each row would have had by the hazard of all rows."""
        stays = (times.event > 0) & (times.event != self.cause)
        return self.scale.exposure(_observed(times, self.least), stays)


def hazard_scale(times: SurvivalTimes, weights: NDArray[np.float64]) -> HazardScale:
    """Return the scale of training rows with case weights (n,).

    A time of 0 counts as half of the shortest other one.
    """
    least = 0.0 if times.start is not None else _least(times)
    observed = _observed(times, least)
    return HazardScale(exponential_scale(observed, times.event, weights, times.start), least)


def incidence_scale(
    times: SurvivalTimes, cause: int, weights: NDArray[np.float64]
) -> IncidenceScale:
    """Return the scale of the subdistribution hazard of one cause, from 1, of training rows.

    All rows are observed from the beginning.  A time of 0 counts as for `hazard_scale`.
    """
    least = _least(times)
    scale = subdistribution_scale(_observed(times, least), times.event, cause, weights)
    return IncidenceScale(scale, least, cause)


def _least(times: SurvivalTimes) -> float:
    return float(times.time[times.time > 0].min()) / 2


def _observed(times: SurvivalTimes, least: float) -> NDArray[np.float64]:
    return times.time if times.start is not None else np.maximum(times.time, least)


# ------------------------------------------------------------------------------------------------
# The numbers of the causes of events that an argument `cause` names.
# ------------------------------------------------------------------------------------------------


def cause_numbers(cause: Any, causes: Sequence[str]) -> NDArray[np.int64]:
    """Return the number, from 0, of a cause as an array of one; those of all `causes` for None.

    Raises `InputError` if there is no such cause.
    """
    if cause is None:
        return np.arange(len(causes))
    return np.array([causes.index(checked_cause(cause, causes))])


# ------------------------------------------------------------------------------------------------
# Which events the deviance of a tree is about, and how long its rows are at risk of them.
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EvaluatedEvents:
    """The events that the deviance of a tree counts, and the scale of the training rows.

    `cause` is the one that the tree is about; None: of each cause.
    """

    cause: str | None
    scale: ScaleOfRows

    def counted(self, times: SurvivalTimes) -> SurvivalTimes:
        """Return the times with the events that count, rows with others being censored."""
        return times if self.cause is None else times.about(self.cause)

    def exposure(self, times: SurvivalTimes) -> NDArray[np.float64]:
        """Return how many events (n,) each row would have had by the hazard of all rows."""
        return self.scale.exposure(times)


def evaluated_events(
    times: SurvivalTimes, weights: NDArray[np.float64], control: ResolvedOptions
) -> EvaluatedEvents:
    """Return the events that the deviance of a tree of these options counts.

    `times` and case weights (n,) are those of the training rows.  The deviance of a tree whose
    splits are about one cause follows its splits.  If they separate the hazard of that cause,
    events of the others are censored: the deviance is that of a tree of ``Surv(time, event ==
    cause)``.  If they separate its incidence, by Gray's scores, rows with an event of another cause
    stay at risk: the deviance is that of subdistribution hazards.  With these rows censored, a
    split that changes the incidence by the other causes alone would lower no deviance, and be
    pruned; and one that only changes the hazard would be kept.
    """
    cause = control.cause
    if cause is None:
        return EvaluatedEvents(None, hazard_scale(times, weights))
    if control.criterion == GRAY:
        number = 1 + int(cause_numbers(cause, times.causes)[0])
        return EvaluatedEvents(cause, incidence_scale(times, number, weights))
    return EvaluatedEvents(cause, hazard_scale(times.about(cause), weights))


# ------------------------------------------------------------------------------------------------
# What trees are grown on: the response itself, or for exponential survival the rates of rows.
# ------------------------------------------------------------------------------------------------


def targets_of_times(data: TrainingData, control: ResolvedOptions) -> Targets:
    """Return what the trees of these options are grown on.

    Exponential survival trees are grown on rates: events divided by exposure, weighted by it.  With
    splits about one of several causes, only its events count.  Raises `InputError` if no row of
    positive weight has an event of that cause.
    """
    if control.criterion != EXPONENTIAL:
        return Targets(data.y, data.weights, ranks=ranks_of_splits(data, control))
    times = _times_of_splits(data, control)
    exposure = hazard_scale(times, data.weights).exposure(times)
    rates = (times.event > 0) / exposure
    return Targets(rates, data.weights * exposure, case_weights=data.weights)


def ranks_of_splits(data: TrainingData, control: ResolvedOptions) -> EventRanks:
    """Return the times of the rows as ranks, with the events that splits are about.

    Raises `InputError` if no row of positive weight has such an event.
    """
    times = _times_of_splits(data, control)
    if control.criterion == GRAY:
        return _with_subdistribution(
            data.require_times(), times.event_times, control.cause, data.weights
        )
    return times.ranks


def _times_of_splits(data: TrainingData, control: ResolvedOptions) -> SurvivalTimes:
    times = data.require_times()
    if control.cause is None:
        return times
    times = times.about(control.cause)
    _require_events_of(control.cause, times, data.weights)
    return times


def _with_subdistribution(
    times: SurvivalTimes,
    event_times: NDArray[np.float64],
    cause: str | None,
    weights: NDArray[np.float64],
) -> EventRanks:
    """Return ranks in which rows stay at risk after events of other causes."""
    G = censoring_curve(times.time, times.event, weights)
    number = 1 + int(cause_numbers(cause, times.causes)[0])
    return subdistribution_ranks(
        times.time, times.event, number, event_times, G.just_before(times.time),
        G.just_before(event_times),
    )  # fmt: skip


def _require_events_of(cause: str, times: SurvivalTimes, weights: NDArray[np.float64]) -> None:
    if not (times.event[weights > 0] > 0).any():
        raise InputError(
            f"cause={cause!r}: no row of positive weight has an event of this cause, so there is "
            "nothing that splits could be about: name another cause"
        )


# ------------------------------------------------------------------------------------------------
# The hazard of each node of a tree, estimated from its training rows.
# ------------------------------------------------------------------------------------------------

# The coefficient of variation of the hazards of leaves that rpart takes by default.
VARIATION = 1.0


@dataclass(frozen=True, eq=False)
class NodeHazards:
    """Events and hazards of the m nodes of a tree.

    `expected` (m,), `person_time` (m,), `subjects` (m,).  `events` (m,): cause if the tree is about
    one.  `relative` (m,): both with a prior of one event; see
    `odrf.pruning.event_deviance.with_shrunken_rates`.  `of_cause` (m, C): 0), if there is one
    cause, or the tree is about one.  `log_rank` (m,): leaves; empty for a tree that is only
    evaluated by the deviance.  `events_of_cause` (m, C): like `events`; empty, (0, 0), if there is
    one cause.
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
    tree: Forest, data: TrainingData, draws: Draws, evaluated: EvaluatedEvents
) -> tuple[NodeHazards, Forest]:
    """Return the hazards of the nodes, and the tree with the deviance of these hazards.

    The latter is the same `tree` (a forest of one).  The values of a node are its relative hazards
    by cause, its weight the weight of its rows, its impurity the exponential deviance per unit of
    weight (LeBlanc and Crowley 1992), added up over the causes, and the gain of a split its
    decrease of the deviance of hazards without a prior. `draws` are those of this tree, with the
    case weights of the rows; rows of weight 0 count nowhere.
    """
    every, weights = data.require_times(), draws.weights
    times = evaluated.counted(every)
    leaf = leaf_nodes(tree, data.X, draws.n_jobs)
    counts = draws.filling(0)[:, np.newaxis]
    exposure = evaluated.exposure(every)
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
    tree: Forest, data: TrainingData, draws: Draws, control: ResolvedOptions
) -> NDArray[np.float64]:
    """Return the log-rank statistic (m,) of each split, of what splits are about by `control`.

    The other arguments are as in `node_hazards`.
    """
    leaf = leaf_nodes(tree, data.X, draws.n_jobs)[:, 0]
    numbers = draws.filling(0) * draws.weights * data.weight_unit
    return split_log_ranks(tree, leaf, ranks_of_splits(data, control), numbers)
