"""The directions that a family draws at many nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import proposals_for
from odrf.engine.directions.samplers import begin_samplers, draw_round, placed, workspace
from odrf.engine.factors import factors_of
from odrf.engine.numeric import streams
from odrf.engine.rows import gather_rows
from odrf.projections.base import Family
from problems import Problem

BEGIN = np.int32(0)


@kernel
def draw(calls, m, first):
    """Call what only kernels can call."""
    return draw_round(calls, BEGIN, m, m, first)


@kernel
def begin(calls):
    return begin_samplers(calls)


def directions(family: Family, problem: Problem, number: int, n_nodes: int) -> list[list[Any]]:
    """Return for each node, on the rows of the problem, its directions: (columns, θ)."""
    feature_groups, settings, n = problem.feature_groups, problem.settings.settings, len(problem.y)
    widest = family.widest(feature_groups, settings, n)
    estimated = max(1, widest if family.is_estimated else 0)
    samplers = (family.sampler(number, feature_groups, settings, n),)
    state = streams(3, 0, 1)[0]
    rows = gather_rows(
        state, problem.X, problem.y, problem.weights, np.ones(n, dtype=np.int64), True,
        factors_of(problem.X, feature_groups),
    )  # fmt: skip
    proposals = proposals_for(feature_groups, settings.n_classes, widest)
    work, nodes = workspace(estimated, max(n, 10 * estimated), F=len(rows.codes)), []
    in_place = placed(samplers, state, rows, feature_groups, proposals, work)
    calls = in_place.calls
    for _ in range(n_nodes):
        found: list[tuple[NDArray, NDArray]] = []
        first, last = 0, begin(calls)
        while first < last:
            drawn, first = draw(calls, n, first)
            for c in range(drawn):
                size = proposals.sizes[c]
                found.append((proposals.columns[c, :size].copy(), proposals.theta[c, :size].copy()))
        nodes.append(found)
    return nodes
