"""A curve of predictions over the values of one variable, with intervals and bands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_share
from odrf.errors import InputError
from odrf.public import public
from odrf.statistics.curves import Bands, CurveSpread, VariablePoints, bands
from odrf.text.layouts import percentage
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["EffectCurve", "chosen_classes"]

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

    Raises
    ------
    InputError
        There are no classes, or one of `wanted` is none of them.
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
