"""Partial dependence and accumulated local effects of one or two variables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
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
from odrf.text.summary import Card, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Curves and surfaces of predictions over the values of variables, with intervals and bands.

BANDS = ("conf_low", "conf_high", "band_low", "band_high")
# Rows of the table that a summary of a surface shows.
TOP = 10

OF_FOREST = (
    "The curve and its intervals are of the forest, which differs from the truth by its bias: at "
    "single values this cannot be corrected, as it is in averages such as comparisons()."
)


@dataclass(frozen=True, eq=False, repr=False)
class PlainCurves(Report):
    """Base class of curves and surfaces of a number, or of the probabilities of classes."""

    call: str
    response: str
    classes: pd.Index | None

    def _names(self) -> list[str]:
        """Return the names of the K curves."""
        return [self.response] if self.classes is None else [str(label) for label in self.classes]

    def _of_classes(self, part: Callable[[int], dict[str, Any]]) -> pd.DataFrame:
        """Return the table of all K classes, below each other; `part` gives its columns."""
        return pd.concat(map(pd.DataFrame, map(part, range(len(self._names())))), ignore_index=True)

    def _label_of(self, k: int) -> dict[str, Any]:
        return {} if self.classes is None else {"class": self.classes[k]}

    def _class_drawn(self, of: Any, variation: Callable[[], NDArray[np.float64]]) -> int:
        """Return the number of a class; by default of the one that varies most, or the second."""
        if of is not None or self.classes is None or len(self.classes) == 2:
            return chosen_classes(self.classes, None if of is None else [of])[0]
        return int(np.argmax(variation()))

    def _scale_of(self, k: int) -> str:
        return self.response if self.classes is None else f"probability of {self.classes[k]}"


@dataclass(frozen=True, eq=False, repr=False)
class EffectReport(PlainCurves):
    """Base class of curves and surfaces with standard errors."""

    title: str
    axes: tuple[VariablePoints, ...]
    estimate: NDArray[np.float64]
    spreads: tuple[CurveSpread | None, ...]
    level: float
    note: str
    probabilities: bool
    seed: int

    @property
    def covariances(self) -> tuple[NDArray[np.float64] | None, ...]:
        """For each k the covariance of the estimates over training samples, or None."""
        return tuple(None if each is None else each.covariance for each in self.spreads)

    @cached_property
    def _bands(self) -> list[Bands]:
        """For each k the intervals of the estimates."""
        return [
            bands(self.estimate[..., k].ravel(), spread, self.level, self.probabilities, self.seed)
            for k, spread in enumerate(self.spreads)
        ]

    def _table(self, points: dict[str, Any], rows: NDArray[np.int64]) -> pd.DataFrame:
        """Return the estimates at points, for each class; `rows`: how many are near."""

        def part(k: int) -> dict[str, Any]:
            estimate = {"estimate": self.estimate[..., k].ravel()}
            return points | self._label_of(k) | estimate | self._bands[k]._asdict() | {"rows": rows}

        return self._of_classes(part)

    @property
    def _title(self) -> str:
        return self.title.capitalize()

    def _facts(self) -> dict[str, str]:
        several = "Variables" if len(self.axes) > 1 else "Variable"
        facts = {
            several: ", ".join(axis.name for axis in self.axes),
            "Points": " × ".join(str(len(axis.values)) for axis in self.axes),
            "Rows": str(len(self.axes[0].observed)),
        }
        return facts | ({"Level": percentage(self.level)} if self._has_errors else {})

    @property
    def _has_errors(self) -> bool:
        return any(not np.isnan(each.std_error).all() for each in self._bands)

    def _notes(self) -> tuple[str, ...]:
        return (*([self.note] if self.note else []), *([OF_FOREST] if self._has_errors else []))

    def _card(self) -> Card:
        names = " and ".join(axis.name for axis in self.axes)
        facts = {"Rows": str(len(self.axes[0].observed))} | (
            {"Note": self.note} if self.note else {}
        )
        title = f"{self._title} of {self.response} on {names}"
        return Card(title, facts, self._on_card(), kept=())

    @abstractmethod
    def _on_card(self) -> pd.DataFrame:
        """Return the columns of the table that a card shows."""


@public
@dataclass(frozen=True, eq=False, repr=False)
class EffectCurve(EffectReport):
    """How predictions depend on one variable.

    Returned by `partial` and `ale` of all results.

    Attributes
    ----------
    title : str
        What kind of curve it is, such as "partial dependence".
    call, response : str
    classes : Index or None
    axis : VariablePoints
        The variable and its G points.
    estimate : (G, K) float64
        The curve; K is 1, or the number of classes.
    spreads : tuple of CurveSpread, or None
        For each k how the estimates vary over training samples.
    covariances : tuple of (G, G) arrays, or None
        For each k the covariance of the estimates.
    level : float
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

    @property
    def axis(self) -> VariablePoints:
        """The variable and its points."""
        return self.axes[0]

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
        return self._table({"term": self.axis.name, "value": self.axis.values}, self.axis.rows)

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

    def _sections(self) -> dict[str, pd.DataFrame]:
        curve = self.table.drop(columns="term").dropna(axis=1, how="all")
        return {"Extremes": self._extremes, "Curve": curve}

    @property
    def _extremes(self) -> pd.DataFrame:
        lines = {}
        for name, curve in zip(self._names(), self.estimate.T, strict=True):
            low, high = int(np.argmin(curve)), int(np.argmax(curve))
            lines[name] = {
                "lowest": curve[low],
                "at": self.axis.values[low],
                "highest": curve[high],
                "at ": self.axis.values[high],
                "range": curve[high] - curve[low],
            }
        return pd.DataFrame.from_dict(lines, orient="index")

    def plot(self, *, classes: list[Any] | None = None, ax: Axes | None = None) -> Axes:
        """Plot the curve with its intervals (dark) and its simultaneous band (light).

        A factor has points instead of a line.  Marks on the axis are rows; a hatched region has
        none.

        Parameters
        ----------
        classes : list, optional
            The classes that are drawn.  By default all; of two classes the second.
        {about ax}

        Raises
        ------
        InputError
            If a class is unknown.
        """
        which = chosen_classes(self.classes, classes)
        curves = {
            self._names()[k]: (self.estimate[:, k], *(getattr(self._bands[k], b) for b in BANDS))
            for k in which
        }
        return plots.curves.plot_effect(self.axis, curves, self._scale(which), ax)

    def _scale(self, which: list[int]) -> str:
        """Return what the vertical axis shows."""
        if self.classes is None:
            return f"{self.response} ({self.title})"
        of = f" of {self.classes[which[0]]}" if len(which) == 1 else ""
        return f"probability{of} ({self.title})"

    def _on_card(self) -> pd.DataFrame:
        columns = ["value", *self._label_of(0), "estimate"]
        if any(spread is not None for spread in self.spreads):
            columns += ["std_error", "conf_low", "conf_high"]
        return self.table[columns]


def chosen_classes(classes: pd.Index | None, wanted: list[Any] | None) -> list[int]:
    """Return the numbers of the classes to draw; raise `InputError` if one is unknown."""
    if classes is None:
        if wanted is not None:
            raise InputError("classes= is for classes, but the response is a number: leave it out")
        return [0]
    if wanted is None:
        return [1] if len(classes) == 2 else list(range(len(classes)))
    codes = classes.get_indexer(pd.Index(list(wanted), dtype=object))
    if len(codes) == 0 or (codes < 0).any():
        known = ", ".join(map(repr, classes.tolist()))
        raise InputError(f"classes={wanted!r}: use some of {known}")
    return [int(k) for k in codes]


@public
@dataclass(frozen=True, eq=False, repr=False)
class EffectSurface(EffectReport):
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
        points = {
            one: np.repeat(first.values, len(second.values)),
            other: np.tile(second.values, len(first.values)),
        }
        return self._table(points, self.rows.ravel())

    @property
    def rows(self) -> NDArray[np.int64]:
        """(G, H) How many rows are nearest to each pair of points."""
        first, second = (axis.nearest for axis in self.axes)
        known = (first >= 0) & (second >= 0)
        out = np.zeros(self.estimate.shape[:2], dtype=np.int64)
        np.add.at(out, (first[known], second[known]), 1)
        return out

    def _sections(self) -> dict[str, pd.DataFrame]:
        ranked = self.table.sort_values("estimate", kind="stable").dropna(axis=1, how="all")
        return {"Lowest": ranked.head(TOP), "Highest": ranked.tail(TOP)[::-1]}

    def plot(self, *, of: Any = None, ax: Axes | None = None) -> Axes:
        """Plot the surface in colours; if one variable is a factor, a curve for each level.

        Regions without rows are hatched.

        Parameters
        ----------
        of : class, optional
            The class whose probability is drawn.  By default, of two classes the second; of more
            the one whose probability varies most.
        {about ax}

        Raises
        ------
        InputError
            If `of` is no class.
        """
        k = self._class_drawn(of, lambda: np.ptp(self.estimate, axis=(0, 1)))
        scale, surface = f"{self._scale_of(k)} ({self.title})", self.estimate[:, :, k]
        first, second = self.axes
        if first.numeric == second.numeric:
            return plots.curves.plot_effect_surface(first, second, surface, self.rows, scale, ax)
        parts = [getattr(self._bands[k], end).reshape(surface.shape) for end in BANDS]
        together = [surface, *parts]
        if second.numeric:
            first, second, together = second, first, [part.T for part in together]
        curves = {
            f"{second.name} = {label}": [part[:, j] for part in together]
            for j, label in enumerate(second.labels)
        }
        return plots.curves.plot_effect(first, curves, scale, ax)

    def _on_card(self) -> pd.DataFrame:
        return self.table.drop(columns=["band_low", "band_high", "rows"]).dropna(axis=1)


# Points of a variable, alone and in a pair.
POINTS, PAIR_POINTS = 50, 20
MOST_POINTS = 2000


def partial_dependence(
    fit: AnyFit, variables: Any, values: Any, points: int | None, newdata: pd.DataFrame | None,
    level: float, progress: bool,
) -> EffectCurve | EffectSurface:  # fmt: skip
    """Return the mean prediction with one or two variables set to each point."""
    names = checked_variables(variables)
    checked_part("level", level)
    rows = raw_rows(fit, newdata)
    axes = axes_of(fit, rows, names, values, points)
    sizes = [len(axis.values) for axis in axes]
    places = np.indices(sizes).reshape(len(axes), -1)
    at_points = {axis.name: axis.values[place] for axis, place in zip(axes, places, strict=True)}
    # levels of the rows themselves: reading the rows has warned of these
    levels = unseen_levels_expected() if values is None else LevelsSaidOnce()
    with levels, progress_bar(total=len(rows.frame), unit="row", progress=progress) as bar:
        curve = mean_curve(fit, rows, at_points, bar.update)
    spreads = tuple(
        spread_of(fit, None if curve.of_trees is None else curve.of_trees[:, :, k])
        for k in range(curve.mean.shape[1])
    )
    probabilities = fit.design.response.in_probabilities
    return effect_report(fit, "partial dependence", axes, curve.mean, spreads, level, probabilities)


def effect_report(
    fit: AnyFit, title: str, axes: Sequence[VariablePoints], estimate: NDArray[np.float64],
    spreads: tuple[CurveSpread | None, ...], level: float, probabilities: bool = False,
) -> EffectCurve | EffectSurface:  # fmt: skip
    """Return the report of an estimate (G, K) on the points of one variable, or (G·H, K) of two."""
    response, why = fit.design.response, why_no_errors(fit)
    known: dict[str, Any] = {
        "title": title, "axes": tuple(axes), "call": fit.call, "response": response.name,
        "classes": response.classes, "spreads": spreads, "level": level,
        "note": f"No standard errors: {why}." if why else "", "probabilities": probabilities,
        "seed": fit.control.seed,
    }  # fmt: skip
    if len(axes) == 1:
        return EffectCurve(estimate=estimate, **known)
    shape = (*(len(axis.values) for axis in axes), -1)
    return EffectSurface(estimate=estimate.reshape(shape), **known)


def checked_variables(variables: Any) -> list[str]:
    """Return one or two different names of variables, or raise `InputError`."""
    names = list(variables) if is_list(variables) else [variables]
    if not 1 <= len(names) <= 2 or not all(isinstance(name, str) for name in names):
        raise InputError(f"variables={variables!r}: give the name of a variable, or a list of two")
    if len(set(names)) < len(names):
        raise InputError(f"variables={variables!r}: give two different variables")
    return names


def axes_of(
    fit: AnyFit, rows: RawRows, names: Sequence[str], values: Any, points: int | None
) -> list[VariablePoints]:
    """Return the points of each variable; `values`: points, or a mapping of names to points."""
    if points is not None:
        checked_whole("points", points, 2, MOST_POINTS)
    size = points or (POINTS if len(names) == 1 else PAIR_POINTS)
    of_variables = values if isinstance(values, Mapping) else {}
    if values is not None and not isinstance(values, Mapping):
        if len(names) > 1 or not (is_list(values) or isinstance(values, pd.Series | pd.Index)):
            raise InputError(
                "values= is a list of points for one variable, or a mapping of variables to such "
                "lists"
            )
        of_variables = {names[0]: values}
    unknown = [name for name in of_variables if name not in names]
    if unknown:
        raise InputError(f"values= names {unknown[0]!r}, which is not among the variables {names}")
    if all(name in of_variables for name in names):
        require_default("points", points, None, "variables without values=")
    axes = [points_of(fit, rows, name, size, of_variables.get(name)) for name in names]
    if int(np.prod([len(axis.values) for axis in axes])) > MOST_POINTS:
        raise InputError(f"these are more than {MOST_POINTS} pairs: use fewer points=")
    return axes


# Ends of intervals of a variable, alone and in a pair.
ENDS, PAIR_ENDS, MOST_ENDS = 40, 15, 1000
TITLES = {1: "accumulated local effects", 2: "second-order accumulated local effects"}


def accumulated_effects(
    fit: AnyFit, variables: Any, points: int | None, newdata: pd.DataFrame | None, level: float,
    progress: bool,
) -> EffectCurve | EffectSurface:  # fmt: skip
    """Return the accumulated local effects of one variable, or second-order ones of two."""
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
    with unseen_levels_expected(), progress_bar(total=passes, unit="row", progress=progress) as bar:
        if len(names) == 2:
            effects = local_effects_of_two(fit, rows, axes, bar.update)
        elif factors:
            effects = local_effects_of_levels(fit, rows, axes[0], bar.update)
        else:
            effects = local_effects_of_number(fit, rows, axes[0], bar.update)
    spreads = tuple(
        spread_of(fit, None if effects.of_trees is None else effects.of_trees[:, :, k])
        for k in range(effects.mean.shape[1])
    )
    return effect_report(fit, TITLES[len(names)], axes, effects.mean, spreads, level)
