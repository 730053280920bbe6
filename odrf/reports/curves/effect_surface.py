"""Predictions over the values of two variables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.public import public
from odrf.reports.curves.effect_curve import chosen_classes
from odrf.statistics.curves import Bands, CurveSpread, VariablePoints, bands
from odrf.text.layouts import percentage
from odrf.text.names import free_name
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["EffectSurface"]

# Rows of the table that a summary shows.
TOP = 10
BANDS = ("conf_low", "conf_high", "band_low", "band_high")


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
