"""Boosting: in each round a tree for each output, grown on the derivatives of the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from odrf.engine.boosting.course import Course
from odrf.engine.boosting.plan import Boosted, Plan
from odrf.engine.boosting.runs import Sample
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.growth.tree_growth import growth_kernel

__all__ = ["boost"]


def boost(
    rows: Sample,
    held: Sample | None,
    feature_groups: FeatureGroups,
    plan: Plan,
    seed: int,
    n_jobs: int,
    advance: Callable[[], Any],
    before: Boosted | None = None,
) -> Boosted:
    """Boost on the `rows`.

    With a patience, the rounds up to the smallest held-out or out-of-bag loss are kept, at least
    one.

    Parameters
    ----------
    rows : Sample
        Training rows.
    held : Sample or None
        Rows held out, whose loss decides how many rounds are kept.  None if there are none: then
        the out-of-bag rows of several runs decide.
    feature_groups : FeatureGroups
        Which columns make up each predictor.
    plan : Plan
        Options.
    seed : int
        Seed of the random streams; tree b uses stream b.
    n_jobs : int
        Threads; the result is the same for any number.
    advance : callable
        Called after each round.
    before : Boosted, optional
        A fit by the same arguments with fewer rounds, all of them kept: boosting continues from it.
    """
    course = Course(rows, held, feature_groups, plan, seed)
    if before is None:
        training, held_out = [course.training_loss()], course.held_out_losses()
    else:
        course.resume(before)
        training, held_out = before.training.tolist(), before.held_out.tolist()
    with compiled_at_ease(growth_kernel(plan.settings)):
        while course.n_rounds < plan.n_rounds and not _patience_is_over(held_out, plan.patience):
            course.advance(n_jobs)
            advance()
            training.append(course.training_loss())
            held_out += course.held_out_losses()
    kept = course.n_rounds if plan.patience is None else max(1, int(np.argmin(held_out)))
    return course.boosted(kept, np.array(training), np.array(held_out))


def _patience_is_over(held_out: list[float], patience: int | None) -> bool:
    """Whether `patience` rounds have passed since the one with the smallest loss."""
    return patience is not None and len(held_out) - 1 - int(np.argmin(held_out)) >= patience
