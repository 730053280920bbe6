"""Partial dependence on one or two variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_part, checked_whole, is_list, require_default
from odrf.design.encoding import LevelsSaidOnce, unseen_levels_expected
from odrf.errors import InputError
from odrf.fits.curves import mean_curve, points_of, spread_of, why_no_errors
from odrf.fits.fit import AnyFit, RawRows, raw_rows
from odrf.public.progress import progress_bar
from odrf.reports.curves.effect_curve import EffectCurve
from odrf.reports.curves.effect_surface import EffectSurface
from odrf.statistics.curves import CurveSpread, VariablePoints

__all__ = ["axes_of", "checked_variables", "effect_report", "partial_dependence"]

# Points of a variable, alone and in a pair.
POINTS, PAIR_POINTS = 50, 20
MOST_POINTS = 2000


def partial_dependence(
    fit: AnyFit,
    variables: Any,
    values: Any,
    points: int | None,
    newdata: pd.DataFrame | None,
    level: float,
    progress: bool,
) -> EffectCurve | EffectSurface:
    """Return the mean prediction over the rows with one or two variables set to each point.

    The arguments are those of `odrf.results.explaining.curved.CurveResults.partial`, as are the
    errors.
    """
    names = checked_variables(variables)
    checked_part("level", level)
    rows = raw_rows(fit, newdata)
    axes = axes_of(fit, rows, names, values, points)
    sizes = [len(axis.values) for axis in axes]
    places = np.indices(sizes).reshape(len(axes), -1)
    at_points = {axis.name: axis.values[place] for axis, place in zip(axes, places, strict=True)}
    # levels of the rows themselves: reading the rows has warned of these
    said = unseen_levels_expected() if values is None else LevelsSaidOnce()
    with said, progress_bar(total=len(rows.frame), unit="row", progress=progress) as bar:
        curve = mean_curve(fit, rows, at_points, bar.update)
    spreads = tuple(
        spread_of(fit, None if curve.of_trees is None else curve.of_trees[:, :, k])
        for k in range(curve.mean.shape[1])
    )
    probabilities = fit.design.response.in_probabilities
    return effect_report(fit, "partial dependence", axes, curve.mean, spreads, level, probabilities)


def effect_report(
    fit: AnyFit,
    title: str,
    axes: Sequence[VariablePoints],
    estimate: NDArray[np.float64],
    spreads: tuple[CurveSpread | None, ...],
    level: float,
    probabilities: bool = False,
) -> EffectCurve | EffectSurface:
    """Return the report of an estimate (G, K) on the points of one variable, or (G·H, K) of two."""
    response = fit.design.response
    known: dict[str, Any] = {
        "title": title,
        "call": fit.call,
        "response": response.name,
        "classes": response.classes,
        "spreads": spreads,
        "level": level,
        "note": _without_errors(fit),
        "probabilities": probabilities,
        "seed": fit.control.seed,
    }
    if len(axes) == 1:
        return EffectCurve(axis=axes[0], estimate=estimate, **known)
    shape = (*(len(axis.values) for axis in axes), -1)
    return EffectSurface(axes=(axes[0], axes[1]), estimate=estimate.reshape(shape), **known)


def _without_errors(fit: AnyFit) -> str:
    why = why_no_errors(fit)
    return f"No standard errors: {why}." if why else ""


def checked_variables(variables: Any) -> list[str]:
    """Return one or two names of variables.

    Raises
    ------
    InputError
        They are not one or two different names.
    """
    names = list(variables) if is_list(variables) else [variables]
    if not 1 <= len(names) <= 2 or not all(isinstance(name, str) for name in names):
        raise InputError(f"variables={variables!r}: give the name of a variable, or a list of two")
    if len(set(names)) < len(names):
        raise InputError(f"variables={variables!r}: give two different variables")
    return names


def axes_of(
    fit: AnyFit, rows: RawRows, names: Sequence[str], values: Any, points: int | None
) -> list[VariablePoints]:
    """Return the points of each of the variables; see `points_of`.

    `values` are the points of one variable, or a mapping of names to points.
    """
    if points is not None:
        checked_whole("points", points, 2, MOST_POINTS)
    size = points or (POINTS if len(names) == 1 else PAIR_POINTS)
    given = values if isinstance(values, Mapping) else {}
    if values is not None and not isinstance(values, Mapping):
        if len(names) > 1 or not (is_list(values) or isinstance(values, pd.Series | pd.Index)):
            raise InputError(
                "values= is a list of points for one variable, or a mapping of variables to such "
                "lists"
            )
        given = {names[0]: values}
    unknown = [name for name in given if name not in names]
    if unknown:
        raise InputError(f"values= names {unknown[0]!r}, which is not among the variables {names}")
    if all(name in given for name in names):
        require_default("points", points, None, "variables without values=")
    axes = [points_of(fit, rows, name, size, given.get(name)) for name in names]
    if int(np.prod([len(axis.values) for axis in axes])) > MOST_POINTS:
        raise InputError(f"these are more than {MOST_POINTS} pairs: use fewer points=")
    return axes
