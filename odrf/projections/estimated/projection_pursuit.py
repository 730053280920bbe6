"""Directions of projection pursuit: those along which a smooth function fits best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from odrf.checks import checked_whole
from odrf.engine.compiling import ZERO, inlined
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.estimation import covariances, least_squares
from odrf.engine.directions.pursuit import Pursuit, pursue, pursuit_for
from odrf.engine.directions.samplers import draws
from odrf.engine.directions.subsets import (
    FEW_LEVELS,
    aim,
    draw_subset,
    load_terms,
    write_columns,
    write_direction,
)
from odrf.engine.settings import Settings
from odrf.projections.estimated.on_subsets import OnSubsets
from odrf.projections.parameters import share

__all__ = ["ProjectionPursuit", "ProjectionPursuitSampler"]

# Fewer rows do not tell a smooth function from a line.
SMOOTH_ROWS = 50


class ProjectionPursuitSampler(NamedTuple):
    """Directions of projection pursuit.

    Attributes
    ----------
    number, subset_size, direction_rows : int
        As in `odrf.projections.estimated.linear.EstimatedSampler`.
    steps : int
    span : float
    scratch : Pursuit
    """

    number: int
    subset_size: int
    direction_rows: int
    steps: int
    span: float
    scratch: Pursuit


@dataclass(frozen=True)
class ProjectionPursuit(OnSubsets):
    """One term of projection pursuit on a random subset: the θ for which some g(θᵀx) fits best.

    From the least squares direction, steps of Gauss and Newton lower the squared error about a
    smooth g (Friedman and Stuetzle 1981): running lines, so that g need not be monotone, as that
    of `odrf.projections.Logistic` is.  For classes it is the target of these: a random side.
    Nodes of fewer than 50 rows keep least squares.

    Parameters
    ----------
    steps : int, default 3
        Most steps; the first that does not lower the error is the last.
    span : float, default 0.5
        Rows that a line is fitted to, as a share of those that the direction is estimated on.

    Raises
    ------
    InputError
        If `steps` is no whole number of at least 1, or `span` is not above 0, or above 1.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> smooth = odrf.projections.ProjectionPursuit(span=0.7)
    >>> forest = odrf.odrf("progression ~ .", data, projection=smooth, n_trees=50, seed=1)
    >>> forest.oob_error < 3600
    True
    """

    steps: int = 3
    span: float = 0.5

    name: ClassVar[str] = "ppr"
    sampling_in_words: ClassVar[str] = "projection pursuit with running lines on a random subset"
    source: ClassVar[str] = "Friedman and Stuetzle (1981)"
    blended: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_whole("steps", self.steps, 1)
        share("span", self.span)

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> ProjectionPursuitSampler:
        """Return the sampler of a tree."""
        widest = self.estimated(feature_groups, settings, n)
        most_rows = min(n, max(settings.direction_rows, 10 * widest))
        return ProjectionPursuitSampler(
            number,
            settings.subset_size,
            settings.direction_rows,
            self.steps,
            float(self.span),
            pursuit_for(widest, most_rows),
        )


@draws(ProjectionPursuitSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    columns, theta, order = proposals.columns, proposals.theta, proposals.order
    last = min(first + ROUND, sampler.number)
    c, aimed, total, known = ZERO, ZERO, 0.0, False
    for _ in range(first, last):
        q = draw_subset(state, n_rows, sampler.subset_size, order)
        width = write_columns(feature_groups, order, q, columns, c)
        proposals.sizes[c], theta[c, 0] = width, 1.0
        if width == 1:
            c += not proposals.singly[0]
            continue
        used = min(m, max(sampler.direction_rows, 10 * width))
        if used != aimed or len(proposals.chosen) > 2:
            aimed = used
            total, _, known = aim(state, rows, lo, used, proposals, work)
        if not known:
            continue
        terms = load_terms(rows, lo, used, feature_groups, order, q, FEW_LEVELS, work)
        if _estimate(sampler, used, total, terms, work):
            c += write_direction(width, work, theta, c)
    return c, last


@inlined
def _estimate(sampler, m, total, terms, work):
    """Estimate a direction on the terms in work.Z, for the target there; False without one."""
    Z, a, estimated = work.Z, work.weights, work.theta
    estimated[0] = 1.0
    if terms == 1:  # a factor's scores are its direction
        return True
    if not covariances(Z, terms, m, a, work.moment, total, work, estimated):
        return False
    least_squares(terms, work, estimated)
    if m >= SMOOTH_ROWS:
        half = max(1, math.ceil(sampler.span * m / 2.0))
        t, scratch = work.target, sampler.scratch
        pursue(Z, terms, m, t, a, total, sampler.steps, half, work, scratch, estimated)
    return True
