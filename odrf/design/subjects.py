"""Subjects whose observation is written in several rows, one after the other in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.design.design import TrainingData


def subjects_of(data: TrainingData) -> NDArray[np.int64] | None:
    """Return the subject (n,) of each row of times to an event; None if groups are no subjects.

    Groups are subjects if no two rows of one, of positive weight, are at risk at the same time, as
    those of a hospital are.
    """
    if not data.has_rows or data.times is None:
        return None
    if data.structure is None or data.structure.groups is None:
        return None
    times, groups = data.times, data.structure.groups
    start = np.zeros(len(times)) if times.start is None else times.start
    order = np.lexsort((start, groups))
    order = order[data.weights[order] > 0]
    same = groups[order][1:] == groups[order][:-1]
    overlap = start[order][1:] < times.time[order][:-1]
    return None if (same & overlap).any() else groups


def rows_a_subject(data: TrainingData) -> float:
    """Return how many rows of positive weight a subject has in the mean; 1 without subjects."""
    subjects = subjects_of(data)
    if subjects is None:
        return 1.0
    present = subjects[data.weights > 0]
    return len(present) / len(np.unique(present))


def last_rows(data: TrainingData) -> NDArray[np.bool_]:
    """Return which rows (n,) of times to an event are the last of their subjects, if any, else all.

    Only at the end of its last row is a subject lost to follow-up.
    """
    times, subjects = data.require_times(), subjects_of(data)
    last = np.ones(len(times), dtype=np.bool_)
    if subjects is not None:
        order = np.lexsort((times.time, subjects))
        order = order[data.weights[order] > 0]
        last[order[:-1]] = subjects[order][1:] != subjects[order][:-1]
    return last
