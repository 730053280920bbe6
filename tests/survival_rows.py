"""Small tables of survival times, drawn by hypothesis: ties, weights, truncation, censoring."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from odrf.engine.factors import Matrix
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.numeric import streams
from odrf.engine.resamples import Draws, Sampling
from odrf.engine.survival.event_ranks import EventRanks, event_ranks, null_residuals
from odrf.engine.trees.forest import Forest
from problems import plain
from reference.survival import Rows

__all__ = ["SurvivalRows", "grown_survival_trees", "survival_rows"]


class SurvivalRows(NamedTuple):
    """Times, events, weights and entries of rows; no entries: none is truncated."""

    time: NDArray[np.float64]
    event: NDArray[np.bool_]
    weights: NDArray[np.float64]
    start: NDArray[np.float64] | None

    @property
    def event_times(self) -> NDArray[np.float64]:
        return np.unique(self.time[self.event])

    @property
    def ranks(self) -> EventRanks:
        return event_ranks(self.time, self.event, self.start, self.event_times)

    def twin(self, rows: NDArray[np.int64]) -> Rows:
        """Some of the rows, as the twins take them."""
        start = np.full(len(self.time), -1.0) if self.start is None else self.start
        columns = self.time, self.event.astype(int), self.weights, start
        return Rows(*(column[rows].tolist() for column in columns))


@st.composite
def survival_rows(draw, most: int = 30) -> SurvivalRows:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, most))
    time = rng.integers(1, draw(st.sampled_from([4, 12, 1000])), n) / 2
    event = rng.random(n) < draw(st.sampled_from([0.2, 0.6, 1.0]))
    event[rng.integers(n)] = True
    weights = [np.ones(n), rng.integers(1, 4, n) * 1.0, rng.uniform(0.1, 2, n)][rng.integers(3)]
    start = None
    if draw(st.booleans()):
        start = np.maximum(0.0, time - rng.integers(1, 8, n) / 2)
    return SurvivalRows(time, event, weights, start)


def grown_survival_trees(
    table: SurvivalRows, seed: int, sampling: Sampling, B: int = 4
) -> tuple[Matrix, Forest, Draws]:
    """Trees of the rows with two predictors: the predictors, the trees, and how they drew rows."""
    rng, n = np.random.default_rng(seed), len(table.time)
    X = rng.integers(0, 8, (2, n)) / 7
    y = null_residuals(table.ranks, table.weights)
    problem = plain(X, y, table.weights, min_leaf=2)
    tree_streams = streams(seed, 0, B)
    forest = grow_forest(
        problem.X, y, table.weights, problem.feature_groups, sampling, problem.settings.settings,
        problem.settings.mixture, tree_streams, 1, lambda: None, ranks=table.ranks,
    )  # fmt: skip
    draws = Draws(table.weights, [sampling] * B, tree_streams, 1)
    return problem.X, forest, draws
