"""Small tables of survival times of two or three causes, drawn by hypothesis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from odrf.engine.survival.event_ranks import EventRanks, event_ranks
from reference.survival import Rows
from survival_rows import SurvivalRows, survival_rows

__all__ = ["CompetingRows", "competing_rows"]


class CompetingRows(NamedTuple):
    """Rows, and the cause of the event of each, 0 if it was censored.  Causes can be absent."""

    table: SurvivalRows
    cause: NDArray[np.int64]
    n_causes: int

    @property
    def ranks(self) -> EventRanks:
        times = self.table.event_times
        return event_ranks(self.table.time, self.cause, self.table.start, times, self.n_causes)

    def twin(self, rows: NDArray[np.int64]) -> Rows:
        return self.table.twin(rows)._replace(event=self.cause[rows].tolist())


@st.composite
def competing_rows(draw, most: int = 30) -> CompetingRows:
    table = draw(survival_rows(most))
    n_causes = draw(st.sampled_from([2, 3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cause = np.where(table.event, rng.integers(1, n_causes + 1, len(table.time)), 0)
    return CompetingRows(table, cause, n_causes)
