"""Random rows with times, causes, weights and entries, for the kernels and for their twins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from odrf.statistics.survival.curves import (
    CumulativeIncidence,
    cumulative_incidence,
)
from reference.survival import Rows

__all__ = ["Lifetimes", "incidence_by_cause", "lifetimes"]


class Lifetimes(NamedTuple):
    """Arrays as our functions take them."""

    time: np.ndarray
    event: np.ndarray
    weights: np.ndarray
    start: np.ndarray
    score: np.ndarray

    @property
    def rows(self) -> Rows:
        """The same for the twins."""
        return Rows(*(part.tolist() for part in self[:4]))

    @property
    def present_from_the_beginning(self) -> Lifetimes:
        return self._replace(start=np.zeros(len(self.time)))

    def part(self, rows) -> Lifetimes:
        return Lifetimes(*(part[rows] for part in self))


@st.composite
def lifetimes(draw, most=12, causes=2, entry=True, weights=(1.0, 0.5, 2.0, 0.3, 0.0)):
    """Few rows with many ties, also of events, censoring and entry; some row has a weight."""
    n = draw(st.integers(1, most))

    def column(values):
        return np.array(draw(st.lists(values, min_size=n, max_size=n)))

    time = column(st.integers(1, 6)).astype(float)
    weight = column(st.sampled_from(weights))
    weight[0] = weight[0] or 1.0
    late = column(st.integers(0, 6 if entry else 0))
    return Lifetimes(
        time,
        column(st.integers(0, causes)),
        weight,
        np.minimum(late, time - 1).astype(float),
        column(st.integers(0, 4)).astype(float) / 4,
    )


def incidence_by_cause(time, event, weights=None, start=None) -> dict[int, CumulativeIncidence]:
    """The cumulative incidence of each cause that occurs."""
    causes = np.unique(event[event > 0]).tolist()
    return {c: cumulative_incidence(time, event, c, weights, start) for c in causes}
