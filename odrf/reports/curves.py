"""Partial dependence and accumulated local effects of one or two variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_part, checked_share, checked_whole, is_list, require_default
from odrf.design.encoding import LevelsSaidOnce, unseen_levels_expected
from odrf.errors import InputError
from odrf.fits.curves import (
    edges_of,
    local_effects_of_levels,
    local_effects_of_number,
    local_effects_of_two,
    mean_curve,
    points_of,
    spread_of,
)
from odrf.fits.effects import why_no_errors
from odrf.fits.fit import AnyFit, RawRows, raw_rows
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.statistics.curves import Bands, CurveSpread, VariablePoints, bands
from odrf.text.layouts import percentage
from odrf.text.names import free_name
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# ------------------------------------------------------------------------------------------------
# A curve of predictions over the values of one variable, with intervals and bands.
# ------------------------------------------------------------------------------------------------

BANDS = ("conf_low", "conf_high", "band_low", "band_high")


@public
@dataclass(frozen=True, eq=False, repr=False)
class EffectCurve(Carded):
    """How predictions depend on one variable.

    Returned by `partial` and `ale` of all results.

    Attributes
    ----------
    title : str
        What kind of curve it is, such as "partial dependence".
    call : str
        The call that made the fit.
    response : str
        What is predicted.
    classes : Index or None
        The classes; None for a numeric response.
    axis : VariablePoints
        The variable and its G points.
    estimate : (G, K) float64
        The curve; K is 1, or the number of classes.
    spreads : tuple of CurveSpread, or None
        For each k how the estimates vary over training samples.
    covariances : tuple of (G, G) arrays, or None
        For each k the covariance of the estimates.
    level : float
        Coverage of intervals and bands.
    note : str
        How far the errors can be trusted, or why there are none.
    probabilities : bool
        Whether the estimates are probabilities, whose intervals are on the scale of the log odds,
        at most twice as far from the estimate as plain ones.
    seed : int
        Of the simulation that makes bands simultaneous.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> curve = odrf.odrf("progression ~ .", data, n_trees=50, seed=1).partial("bmi", points=5)
    >>> curve.table[["value", "estimate"]].round(0)["estimate"].is_monotonic_increasing
    True
    """

    title: str
    call: str
    response: str
    classes: pd.Index | None
    axis: VariablePoints
    estimate: NDArray[np.float64]
    spreads: tuple[CurveSpread | None, ...]
    level: float
    note: str
    probabilities: bool
    seed: int

    @property
    def covariances(self) -> tuple[NDArray[np.float64] | None, ...]:
        """For each k the covariance (G, G) of the estimates over training samples, or None."""
        return tuple(None if each is None else each.covariance for each in self.spreads)

    @cached_property
    def _bands(self) -> list[Bands]:
        """For each k the intervals of the curve."""
        return [
            bands(self.estimate[:, k], spread, self.level, self.probabilities, self.seed)
            for k, spread in enumerate(self.spreads)
        ]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each point; for classes, for each class and point.

        Columns: ``term``, the variable; ``value``; for classes ``class``; ``estimate``;
        ``std_error``; ``conf_low`` and ``conf_high``, an interval for this point alone, normal or,
        of a fit with `groups`, by Student's t; ``band_low`` and ``band_high``, which together cover
        the whole curve, by a multivariate t with the degrees of freedom of the estimated variances;
        ``rows``, how many rows are nearer to this point than to the others.  Without standard
        errors these are missing.  Where all trees agree, the standard error and the length of
        intervals are 0, which does not make the estimate certain.
        """
        rows, parts = self.axis.rows, []
        for k, around in enumerate(self._bands):
            part: dict[str, Any] = {"term": self.axis.name, "value": self.axis.values}
            if self.classes is not None:
                part["class"] = self.classes[k]
            part |= {"estimate": self.estimate[:, k], **around._asdict(), "rows": rows}
            parts.append(pd.DataFrame(part))
        return pd.concat(parts, ignore_index=True)

    def slopes(self, width: float = 0.1) -> EffectCurve:
        """Return the slopes of the curve, with their standard errors.

        The prediction of trees is a step function, whose derivative says nothing.  So a slope is
        the difference of the curve at two points on both sides, divided by their distance.

        Parameters
        ----------
        width : float, default 0.1
            The distance of the two points, as a share of the number of points; at least that of the
            neighbours on both sides.

        Returns
        -------
        EffectCurve

        Raises
        ------
        InputError
            If the variable is a factor or has one point only, or `width` is out of range.
        """
        checked_share("width", width)
        G = len(self.axis.values)
        if not self.axis.numeric or G < 2:
            what = "has one point" if self.axis.numeric else "is a factor"
            raise InputError(f"{self.axis.name!r} {what}, so that its curve has no slope")
        reach = max(1, round(width * G / 2))
        point = np.arange(G)
        low, high = np.maximum(point - reach, 0), np.minimum(point + reach, G - 1)
        D = np.zeros((G, G))
        distance = self.axis.at[high] - self.axis.at[low]
        D[point, high] += 1 / distance
        D[point, low] -= 1 / distance
        title = f"slope of {self.title}"
        with np.errstate(over="ignore", invalid="ignore"):
            estimate = D @ self.estimate
            of_slopes = [None if each is None else each.combined(D) for each in self.spreads]
        # of points that are very close
        beyond = [each is not None and not each.is_finite for each in of_slopes]
        known = tuple(None if no else each for no, each in zip(beyond, of_slopes, strict=True))
        note = self.note
        if any(beyond):
            note = f"{note}; variances of slopes are beyond the largest number".removeprefix("; ")
        return replace(
            self, title=title, estimate=estimate, spreads=known, note=note, probabilities=False
        )

    def summary(self) -> Summary:
        """Return range and place of the extremes of the curve, and its table, as a summary."""
        facts = {
            "Variable": self.axis.name,
            "Points": str(len(self.axis.values)),
            "Rows": str(len(self.axis.observed)),
        }
        shown = self.table.drop(columns="term").dropna(axis=1, how="all")
        if "std_error" in shown:
            facts["Level"] = percentage(self.level)
        tables = {"Extremes": self._extremes, "Curve": shown}
        notes = (self.note,) if self.note else ()
        return Summary(f"{self.title.capitalize()}", self.call, facts, tables, notes)

    @property
    def _extremes(self) -> pd.DataFrame:
        names = [self.response] if self.classes is None else [str(label) for label in self.classes]
        lines = {}
        for name, curve in zip(names, self.estimate.T, strict=True):
            low, high = int(np.argmin(curve)), int(np.argmax(curve))
            lines[name] = {
                "lowest": curve[low],
                "at": self.axis.values[low],
                "highest": curve[high],
                "at ": self.axis.values[high],
                "range": curve[high] - curve[low],
            }
        return pd.DataFrame.from_dict(lines, orient="index")

    def plot(
        self,
        *,
        classes: list[Any] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Plot the curve with its intervals (dark) and its simultaneous band (light).

        A factor has points instead of a line.  Marks on the axis are rows; a hatched region has
        none.

        Parameters
        ----------
        classes : list, optional
            The classes that are drawn.  By default all; of two classes the second.
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If a class is unknown.
        """
        which = chosen_classes(self.classes, classes)
        curves = {
            self._label(k): (self.estimate[:, k], *(getattr(self._bands[k], b) for b in BANDS))
            for k in which
        }
        return plots.plot_effect(self.axis, curves, self._scale(which), ax)

    def _label(self, k: int) -> str:
        return self.response if self.classes is None else str(self.classes[k])

    def _scale(self, which: list[int]) -> str:
        """Return what the vertical axis shows."""
        if self.classes is None:
            return f"{self.response} ({self.title})"
        of = f" of {self.classes[which[0]]}" if len(which) == 1 else ""
        return f"probability{of} ({self.title})"

    def _card(self) -> Card:
        facts = {"Rows": str(len(self.axis.observed))} | ({"Note": self.note} if self.note else {})
        columns = ["value", *(["class"] if self.classes is not None else []), "estimate"]
        columns += ["std_error", "conf_low", "conf_high"] if not self._unknown else []
        title = f"{self.title.capitalize()} of {self.response} on {self.axis.name}"
        return Card(title, facts, self.table[columns], kept=())

    @property
    def _unknown(self) -> bool:
        return all(spread is None for spread in self.spreads)


def chosen_classes(classes: pd.Index | None, wanted: list[Any] | None) -> list[int]:
    """Return the numbers of the classes to draw.

    Raises `InputError`: there are no classes, or one of `wanted` is none of them.
    """
    if classes is None:
        if wanted is not None:
            raise InputError("classes= is for classes, but the response is a number: leave it out")
        return [0]
    if wanted is None:
        return [1] if len(classes) == 2 else list(range(len(classes)))
    found = classes.get_indexer(pd.Index(list(wanted), dtype=object))
    if len(found) == 0 or (found < 0).any():
        known = ", ".join(map(repr, classes.tolist()))
        raise InputError(f"classes={wanted!r}: use some of {known}")
    return [int(k) for k in found]


# ------------------------------------------------------------------------------------------------
# Predictions over the values of two variables.
# ------------------------------------------------------------------------------------------------

# Rows of the table that a summary shows.
TOP = 10


@public
@dataclass(frozen=True, eq=False, repr=False)
class EffectSurface(Carded):
    """How predictions depend on two variables together.

    Returned by `partial` and `ale` of all results for two variables.

    Attributes
    ----------
    title, call, response, classes, level, note, probabilities, seed
        As in `EffectCurve`.
    axes : tuple of two VariablePoints
        The variables with their G and H points.
    estimate : (G, H, K) float64
        The surface; K is 1, or the number of classes.
    spreads : tuple of CurveSpread, or None
        For each k how the estimates vary over training samples, row by row.
    covariances : tuple of (G·H, G·H) arrays, or None
        For each k the covariance of the estimates.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> fit = odrf.odrf("progression ~ .", data, n_trees=50, seed=1)
    >>> fit.partial(["bmi", "age"], points=3).table.shape
    (9, 9)
    """

    title: str
    call: str
    response: str
    classes: pd.Index | None
    axes: tuple[VariablePoints, VariablePoints]
    estimate: NDArray[np.float64]
    spreads: tuple[CurveSpread | None, ...]
    level: float
    note: str
    probabilities: bool
    seed: int

    @property
    def covariances(self) -> tuple[NDArray[np.float64] | None, ...]:
        """For each k the covariance (G·H, G·H) of the estimates over training samples, or None."""
        return tuple(None if each is None else each.covariance for each in self.spreads)

    @cached_property
    def _bands(self) -> list[Bands]:
        return [
            bands(self.estimate[:, :, k].ravel(), spread, self.level, self.probabilities, self.seed)
            for k, spread in enumerate(self.spreads)
        ]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each pair of points; for classes, for each class and pair.

        Columns: one for each variable; for classes ``class``; ``estimate``, ``std_error``,
        ``conf_low``, ``conf_high``, ``band_low`` and ``band_high`` as in `EffectCurve.table`;
        ``rows``, how many rows are nearest to this pair.  A variable of one of these names gets an
        underscore.
        """
        first, second = self.axes
        own = {"estimate", *Bands._fields, "rows", *(() if self.classes is None else ("class",))}
        one = free_name(first.name, own | {second.name})
        other = free_name(second.name, own | {one})
        rows, parts = self.rows.ravel(), []
        for k, around in enumerate(self._bands):
            part: dict[str, Any] = {
                one: np.repeat(first.values, len(second.values)),
                other: np.tile(second.values, len(first.values)),
            }
            if self.classes is not None:
                part["class"] = self.classes[k]
            part |= {"estimate": self.estimate[:, :, k].ravel(), **around._asdict(), "rows": rows}
            parts.append(pd.DataFrame(part))
        return pd.concat(parts, ignore_index=True)

    @property
    def rows(self) -> NDArray[np.int64]:
        """(G, H) How many rows are nearest to each pair of points."""
        first, second = (axis.nearest for axis in self.axes)
        known = (first >= 0) & (second >= 0)
        out = np.zeros(self.estimate.shape[:2], dtype=np.int64)
        np.add.at(out, (first[known], second[known]), 1)
        return out

    def summary(self) -> Summary:
        """Return the pairs with the lowest and highest estimates as a summary."""
        facts = {
            "Variables": ", ".join(axis.name for axis in self.axes),
            "Points": " × ".join(str(len(axis.values)) for axis in self.axes),
            "Rows": str(len(self.axes[0].observed)),
        }
        ranked = self.table.sort_values("estimate", kind="stable").dropna(axis=1, how="all")
        if "std_error" in ranked:
            facts["Level"] = percentage(self.level)
        tables = {"Lowest": ranked.head(TOP), "Highest": ranked.tail(TOP)[::-1]}
        return Summary(
            self.title.capitalize(), self.call, facts, tables, (self.note,) if self.note else ()
        )

    def plot(self, *, of: Any = None, ax: Axes | None = None) -> Axes:
        """Plot the surface in colours; if one variable is a factor, a curve for each level.

        Regions without rows are hatched.

        Parameters
        ----------
        of : class, optional
            The class whose probability is drawn.  By default, of two classes the second; of more
            the one whose probability varies most.
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `of` is no class.
        """
        k = self._class_drawn(of)
        scale = self.response if self.classes is None else f"probability of {self.classes[k]}"
        scale, surface = f"{scale} ({self.title})", self.estimate[:, :, k]
        first, second = self.axes
        if first.numeric == second.numeric:
            return plots.plot_effect_surface(first, second, surface, self.rows, scale, ax)
        parts = [getattr(self._bands[k], end).reshape(surface.shape) for end in BANDS]
        together = [surface, *parts]
        if second.numeric:
            first, second, together = second, first, [part.T for part in together]
        curves = {
            f"{second.name} = {label}": [part[:, j] for part in together]
            for j, label in enumerate(second.labels)
        }
        return plots.plot_effect(first, curves, scale, ax)

    def _class_drawn(self, of: Any) -> int:
        if of is not None or self.classes is None or len(self.classes) == 2:
            return chosen_classes(self.classes, None if of is None else [of])[0]
        flat = self.estimate.reshape(-1, len(self.classes))
        return int(np.argmax(flat.max(axis=0) - flat.min(axis=0)))

    def _card(self) -> Card:
        names = " and ".join(axis.name for axis in self.axes)
        facts = {"Rows": str(len(self.axes[0].observed))}
        facts |= {"Note": self.note} if self.note else {}
        title = f"{self.title.capitalize()} of {self.response} on {names}"
        shown = self.table.drop(columns=["band_low", "band_high", "rows"]).dropna(axis=1)
        return Card(title, facts, shown, kept=())


# ------------------------------------------------------------------------------------------------
# Partial dependence on one or two variables.
# ------------------------------------------------------------------------------------------------

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

    The arguments are those of `odrf.results.curves.CurveResults.partial`, as are the
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

    Raises `InputError`: they are not one or two different names.
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


# ------------------------------------------------------------------------------------------------
# Accumulated local effects of one or two variables.
# ------------------------------------------------------------------------------------------------

# Ends of intervals of a variable, alone and in a pair.
ENDS, PAIR_ENDS, MOST_ENDS = 40, 15, 1000
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

    The arguments are those of `odrf.results.curves.CurveResults.ale`, as are the errors.
    """
    names = checked_variables(variables)
    checked_part("level", level)
    size = ENDS if len(names) == 1 else PAIR_ENDS
    if points is not None:
        size = checked_whole("points", points, 2, MOST_ENDS)
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
