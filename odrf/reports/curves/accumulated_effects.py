"""Accumulated local effects of one or two variables."""

from __future__ import annotations

from typing import Any

import pandas as pd

from odrf.checks import checked_part, checked_whole
from odrf.design.encoding import unseen_levels_expected
from odrf.errors import InputError
from odrf.fits.curves import (
    edges_of,
    local_effects_of_levels,
    local_effects_of_number,
    local_effects_of_two,
    spread_of,
)
from odrf.fits.fit import AnyFit, raw_rows
from odrf.public.progress import progress_bar
from odrf.reports.curves.effect_curve import EffectCurve
from odrf.reports.curves.effect_surface import EffectSurface
from odrf.reports.curves.partial_dependence import checked_variables, effect_report

__all__ = ["accumulated_effects"]

# Ends of intervals of a variable, alone and in a pair.
POINTS, PAIR_POINTS, MOST_POINTS = 40, 15, 1000
TITLES = {1: "accumulated local effects", 2: "second-order accumulated local effects"}


def accumulated_effects(
    fit: AnyFit,
    variables: Any,
    points: int | None,
    newdata: pd.DataFrame | None,
    level: float,
    progress: bool,
) -> EffectCurve | EffectSurface:
    """Return the accumulated local effects of one variable, or second-order ones of two.

    The arguments are those of `odrf.results.explaining.curved.CurveResults.ale`, as are the errors.
    """
    names = checked_variables(variables)
    checked_part("level", level)
    size = POINTS if len(names) == 1 else PAIR_POINTS
    if points is not None:
        size = checked_whole("points", points, 2, MOST_POINTS)
    rows = raw_rows(fit, newdata)
    axes = [edges_of(fit, rows, name, size) for name in names]
    factors = [axis.name for axis in axes if not axis.numeric]
    if factors and len(names) == 2:
        raise InputError(
            f"{factors[0]!r} is a factor, and second-order effects are for two numbers: use "
            "partial() for both variables"
        )
    passes = len(rows.frame) * (2 if len(names) == 1 else 4)
    # levels of the rows themselves, of which reading the rows has warned
    with (
        unseen_levels_expected(),
        progress_bar(total=passes, unit="row", progress=progress) as bar,
    ):
        if len(names) == 2:
            found = local_effects_of_two(fit, rows, axes, bar.update)
        elif factors:
            found = local_effects_of_levels(fit, rows, axes[0], bar.update)
        else:
            found = local_effects_of_number(fit, rows, axes[0], bar.update)
    spreads = tuple(
        spread_of(fit, None if found.of_trees is None else found.of_trees[:, :, k])
        for k in range(found.mean.shape[1])
    )
    return effect_report(fit, TITLES[len(names)], axes, found.mean, spreads, level)
