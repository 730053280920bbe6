"""Boosting: round after round, a tree for each output, grown on what is left to explain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from odrf.engine.boosting.course import Course
from odrf.engine.boosting.plan import Boosted, Plan
from odrf.engine.boosting.runs import Sample
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.growth.tree_kernel import grow_tree

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
    """Boost on the `rows`; with a patience, keep the rounds up to that of the smallest loss.

    Parameters
    ----------
    rows : Sample
    held : Sample or None
        Rows that judge the rounds; without them those out of the runs' bags do, if there are any.
    feature_groups : FeatureGroups
        Which columns make up each predictor.
    plan : Plan
    seed : int
        Tree b has the b-th of its random streams.
    n_jobs : int
        Threads; the result is the same for any number.
    advance : callable
        Called after each round.
    before : Boosted, optional
        What the same arguments gave with fewer rounds, all of them kept: it goes on from there.
    """
    course = Course(rows, held, feature_groups, plan, seed)
    if before is None:
        training, held_out = [course.training_loss()], course.held_out_losses()
    else:
        course.resume(before)
        training, held_out = before.training.tolist(), before.held_out.tolist()
    with compiled_at_ease(grow_tree):
        while course.n_rounds < plan.n_rounds and not _given_up(held_out, plan.patience):
            course.advance(n_jobs)
            advance()
            training.append(course.training_loss())
            held_out += course.held_out_losses()
    kept = course.n_rounds if plan.patience is None else max(1, int(np.argmin(held_out)))
    return course.boosted(kept, np.array(training), np.array(held_out))


def _given_up(held_out: list[float], patience: int | None) -> bool:
    """Whether so many rounds have passed since that of the smallest loss."""
    return patience is not None and len(held_out) - 1 - int(np.argmin(held_out)) >= patience
