"""The directions that a family draws at many nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.directions.candidates import proposals_for
from odrf.engine.directions.samplers import begin_samplers, draw_round
from odrf.engine.directions.workspace import workspace
from odrf.engine.randomness import streams
from odrf.engine.rows.factors import factors_of
from odrf.engine.rows.rows import gather_rows
from odrf.projections.family import Family
from problems import Problem

BEGIN = np.int32(0)


@kernel
def draw(samplers, state, rows, m, first, feature_groups, proposals, work):
    """Call what only kernels can call, with the types of a tree, for which it may be compiled."""
    return draw_round(samplers, state, rows, BEGIN, m, m, first, feature_groups, proposals, work)


@kernel
def begin(samplers, state, proposals):
    return begin_samplers(samplers, state, proposals)


def directions(family: Family, problem: Problem, number: int, n_nodes: int) -> list[list[Any]]:
    """Return for each node, on the rows of the problem, its directions: (columns, θ)."""
    feature_groups, settings, n = problem.feature_groups, problem.settings.settings, len(problem.y)
    widest = family.widest(feature_groups, settings, n)
    estimated = max(1, family.estimated(feature_groups, settings, n))
    samplers = (family.sampler(number, feature_groups, settings, n),)
    state = streams(3, 0, 1)[0]
    rows = gather_rows(
        state, problem.X, problem.y, problem.weights, np.ones(n, dtype=np.int64), True,
        factors_of(problem.X, feature_groups),
    )  # fmt: skip
    proposals = proposals_for(feature_groups, settings.n_classes, widest)
    work, nodes = workspace(estimated, max(n, 10 * estimated), F=len(rows.codes)), []
    for _ in range(n_nodes):
        found: list[tuple[NDArray, NDArray]] = []
        first, last = 0, begin(samplers, state, proposals)
        while first < last:
            drawn, first = draw(samplers, state, rows, n, first, feature_groups, proposals, work)
            for c in range(drawn):
                size = proposals.sizes[c]
                found.append((proposals.columns[c, :size].copy(), proposals.theta[c, :size].copy()))
        nodes.append(found)
    return nodes
