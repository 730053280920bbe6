"""Directions of projection pursuit: those along which a smooth function fits best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from odrf.checks import checked_whole
from odrf.engine.compiling import NO, ZERO, inlined
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.estimation import (
    Pursuit,
    covariances,
    least_squares,
    pursue,
    pursuit_for,
)
from odrf.engine.directions.samplers import draws
from odrf.engine.directions.subsets import (
    count_columns,
    draw_subset,
    draw_target,
    load_terms,
    sample_sizes,
    write_direction,
    write_single,
)
from odrf.engine.kernel_params import Settings
from odrf.projections.estimated.on_subsets import OnSubsets
from odrf.projections.parameters import share

__all__ = ["ProjectionPursuit", "ProjectionPursuitSampler"]

# With fewer rows a smooth function hardly differs from a line.
SMOOTH_ROWS = 50


class ProjectionPursuitSampler(NamedTuple):
    """Directions of projection pursuit.

    Attributes
    ----------
    number, subset_size, direction_rows : int
        As in `odrf.projections.estimated.linear.EstimatedSampler`.
    steps : int
        Most Gauss-Newton steps.
    span : float
        Share of the rows to which a running line is fitted.
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
    """One term of projection pursuit regression: the θ for which a smooth g(θᵀx) fits best.

    Starting from the least squares direction, Gauss-Newton steps lower the squared error of a
    smooth function g (Friedman and Stuetzle 1981).  The smoother is running lines.  So g need not
    be monotone, unlike the function of `odrf.projections.Logistic`.  For classes the response is
    the indicator of one of two classes, or of a random subset of more.  Nodes of fewer than 50 rows
    use the least squares direction.

    Parameters
    ----------
    steps : int, default 3
        Most Gauss-Newton steps; a step that does not lower the error is not taken and ends the
        search.
    span : float, default 0.5
        Share of the rows to which each running line is fitted.

    Raises
    ------
    InputError
        If `steps` is not a whole number of at least 1, or `span` is not above 0 and at most 1.

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
    order, few, most = proposals.order, proposals.indicator_levels, sampler.direction_rows
    last = min(first + ROUND, sampler.number)
    c, target_rows, total, share, varies = ZERO, ZERO, 0.0, 0.0, False
    for _ in range(first, last):
        q = draw_subset(state, n_rows, sampler.subset_size, order)
        if count_columns(feature_groups, order, q) == 1:
            write_single(feature_groups.first[order[0]], proposals, c)
            c += not proposals.singly[0]
            continue
        used, scored = sample_sizes(feature_groups, order, q, m, most, few)
        if scored != target_rows or len(proposals.chosen) > 2:
            target_rows = scored
            total, share, varies = draw_target(state, rows, lo, scored, proposals, work)
        if not varies:
            continue
        terms, of_used, _ = load_terms(
            rows, lo, used, scored, feature_groups, order, q, few, NO, total, share, work
        )
        if used < scored:  # the moments are now those of the rows used
            target_rows = ZERO
        if _estimate(sampler, used, of_used, terms, work):
            c += write_direction(work, proposals, c)
    return c, last


@inlined
def _estimate(sampler, m, total, terms, work):
    """Estimate a direction on the terms in work.Z for the target in `work`; False if none."""
    Z, a, estimated = work.Z, work.weights, work.theta
    estimated[0] = 1.0
    if terms == 1:  # the scores of a factor are its direction
        return True
    if not covariances(Z, terms, m, a, work.moment, total, work, estimated):
        return False
    least_squares(terms, work, estimated)
    if m >= SMOOTH_ROWS:
        half = max(1, math.ceil(sampler.span * m / 2.0))
        t, scratch = work.target, sampler.scratch
        pursue(Z, terms, m, t, a, total, sampler.steps, half, work, scratch, estimated)
    return True
