"""Curves and surfaces over variables, and strengths of interactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter

from odrf.plots import style
from odrf.text.names import shortened, shortened_names
from odrf.text.summary import evenly_spread

if TYPE_CHECKING:
    from odrf.statistics.curves import VariablePoints


# Curves over one variable: lines for numbers, points for levels of a factor.

# Regions without rows that are wider than this share of the axis are hatched.
GAP = 0.08
MOST_TICKS = 500
# More bands than these hide each other: then there are lines alone.
MOST_BANDS = 4
# How far curves are apart at one of two values, as a share of the distance of the values.
SIDE_BY_SIDE = 0.3
# How far classes of one level are apart, in rows.
APART = 0.6
# A variable of so few points has them marked.
FEW = 10
# inches that labels of curves take up beside the axes
LEGEND = 2.4
NAME = 26
# More names than these are written in small letters.
MOST_LINES = 12


def plot_effect(
    axis: VariablePoints, curves: Mapping[str, Sequence[NDArray[np.float64]]], scale: str,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Plot curves over the points of a variable.

    `curves` (G,): estimate, ends of interval and band, NaN if unknown.  `scale`: what they show.
    """
    if not axis.numeric:
        return _points(axis, curves, scale, ax)
    beside = LEGEND if len(curves) > 1 else 0.0
    ax = style.one_panel(ax, style.WIDTH + beside)
    at = axis.at
    if _has_two_values(axis):
        return _two_points(axis, curves, scale, ax)
    for number, (estimate, *ends) in enumerate(curves.values()):
        colour, dash = style.line_of(number)
        if len(curves) <= MOST_BANDS and not np.isnan(ends[0]).all():
            style.draw_band(ax, at, ends[2], ends[3], colour)
            style.draw_band(ax, at, ends[0], ends[1], colour, alpha=0.25)
        mark = "o" if len(at) <= FEW else None
        ax.plot(at, estimate, color=colour, linestyle=dash, linewidth=1.8, marker=mark)
    if len(at) > 1:
        ax.set_xlim(at[0], at[-1])
    hatch_gaps(ax, axis)
    draw_rug(ax, axis.observed)
    style.finish(ax, axis.name, scale)
    if len(curves) > 1:
        _legend(ax, list(curves))
    return ax


def _has_two_values(axis: VariablePoints) -> bool:
    """Return whether a number has two values, as 0 and 1, and none between."""
    observed = axis.observed[~np.isnan(axis.observed)]
    return len(axis.at) == 2 and bool(np.isin(observed, axis.at).all())


def _two_points(
    axis: VariablePoints, curves: Mapping[str, Sequence[NDArray[np.float64]]], scale: str, ax: Axes
) -> Axes:
    """Draw a point with its interval at each of two values: between them nothing is predicted."""
    at = axis.at
    for number, (estimate, *ends) in enumerate(curves.values()):
        colour, marker = style.line_of(number)[0], style.marker_of(number)
        shift = SIDE_BY_SIDE * ((number + 0.5) / len(curves) - 0.5) * (at[1] - at[0])
        if not np.isnan(ends[0]).all():
            ax.vlines(at + shift, ends[2], ends[3], color=colour, linewidth=1.2, alpha=0.5)
            ax.vlines(at + shift, ends[0], ends[1], color=colour, linewidth=3.0, alpha=0.6)
        ax.plot(at + shift, estimate, marker, color=colour, markersize=6)
    beyond = 0.5 * (at[1] - at[0])
    ax.set_xlim(at[0] - beyond, at[1] + beyond)
    rows = [f"{name}\n{count} rows" for name, count in zip(axis.labels, axis.rows, strict=True)]
    ax.set_xticks(at, labels=rows)
    style.finish(ax, axis.name, scale)
    if len(curves) > 1:
        _legend(ax, list(curves), lines=False)
    return ax


def _points(
    axis: VariablePoints, curves: Mapping[str, Sequence[NDArray[np.float64]]], scale: str,
    ax: Axes | None,
) -> Axes:  # fmt: skip
    """Draw a row for each level."""
    levels, several = axis.labels, len(curves)
    height = len(levels) * max(1, several // 2) + 3
    ax = style.named_panel(ax, height, style.WIDTH + (LEGEND if several > 1 else 0.0))
    rows = np.arange(len(levels))[::-1].astype(np.float64)
    for number, (estimate, *ends) in enumerate(curves.values()):
        colour, marker = style.line_of(number)[0], style.marker_of(number)
        shift = APART * ((number + 0.5) / several - 0.5)
        at = rows - shift
        if not np.isnan(ends[0]).all():
            ax.hlines(at, ends[2], ends[3], color=colour, linewidth=1.2, alpha=0.5)
            ax.hlines(at, ends[0], ends[1], color=colour, linewidth=3.0, alpha=0.6)
        ax.plot(estimate, at, marker, color=colour, markersize=5)
    style.finish_rows(ax, levels, scale, few_ticks=False)
    style.label_y(ax, axis.name)
    if several > 1:
        _legend(ax, list(curves), lines=False)
    return ax


def hatch_gaps(ax: Axes, axis: VariablePoints) -> None:
    """Hatch the intervals of the horizontal axis in which no row is."""
    low, high = ax.get_xlim()
    observed = axis.observed[~np.isnan(axis.observed)]
    inside = np.unique(observed[(observed >= low) & (observed <= high)])
    ends = np.concatenate([[low], inside, [high]])
    for left, right in pairwise(ends):
        if right - left > GAP * (high - low) and not _neighbours(axis.at, left, right):
            ax.axvspan(
                left, right, facecolor="none", edgecolor=style.faint(ax), hatch="///", linewidth=0
            )


def _neighbours(at: NDArray[np.float64], left: float, right: float) -> bool:
    """Return whether both are points and none is between: values of a number that has only few."""
    places = np.searchsorted(at, [left, right])
    there = places < len(at)
    return bool(
        there.all() and (at[places] == (left, right)).all() and places[1] - places[0] == 1
        and len(at) <= 1 / GAP
    )  # fmt: skip


def draw_rug(ax: Axes, observed: NDArray[np.float64]) -> None:
    """Mark rows on the horizontal axis: some of them, spread over all quantiles, if many."""
    known = np.sort(observed[~np.isnan(observed)])
    known = known[evenly_spread(len(known), MOST_TICKS)]
    low, high = ax.get_xlim()
    known = known[(known >= low) & (known <= high)]
    ax.plot(
        known, np.zeros(len(known)), "|", transform=ax.get_xaxis_transform(), color=style.MUTED,
        markersize=8, alpha=0.4, clip_on=False,
    )  # fmt: skip


def _legend(ax: Axes, labels: list[str], lines: bool = True) -> None:
    """Name the curves beside the axes, by their lines or by their markers."""
    handles = []
    for number, label in enumerate(shortened_names(labels, NAME)):
        colour, dash = style.line_of(number)
        look = dash if lines else style.marker_of(number)
        handles += ax.plot([], [], look, color=colour, label=style.in_legend(label))
    style.legend_as_written(
        ax, handles=handles, loc="upper left", bbox_to_anchor=(1, 1),
        fontsize="medium" if len(labels) <= MOST_LINES else "small",
        ncols=style.legend_columns(len(labels)),
    )  # fmt: skip


BESIDE, COLOUR_NAME, MOST_LEVELS = 1.6, 20, 12
PLAIN = "#8fb8d8"


def plot_individual(
    axis: VariablePoints, curves: NDArray[np.float64], scale: str, by: pd.Series | None,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Plot a line for each row (m, G), grey where `by` is empty, and their mean in black."""
    ax = style.one_panel(ax, style.WIDTH + (0.0 if by is None else BESIDE))
    at = axis.at
    lines = LineCollection(
        [np.column_stack([at, curve]) for curve in curves], linewidths=0.9,
        alpha=float(np.clip(12 / np.sqrt(len(curves)) / 2, 0.15, 0.8)),
    )  # fmt: skip
    ax.add_collection(lines)
    _colour(ax, lines, by)
    mark = "o" if len(at) == 1 or not axis.numeric else None
    ax.plot(at, curves.mean(axis=0), color=style.ink(ax), linewidth=2.2, marker=mark)
    ax.autoscale_view()
    if axis.numeric:
        if len(at) > 1:
            ax.set_xlim(at[0], at[-1])
        hatch_gaps(ax, axis)
        draw_rug(ax, axis.observed)
    else:
        style.named_columns(ax, at, axis.labels)
    style.finish(ax, axis.name, scale)
    return ax


def _colour(ax: Axes, lines: LineCollection, by: pd.Series | None) -> None:
    """Colour the lines by a variable, with a bar or a legend that says how."""
    if by is None:
        lines.set_color(PLAIN)
        return
    numeric = pd.api.types.is_numeric_dtype(by) and not pd.api.types.is_bool_dtype(by)
    if numeric:
        lines.set_array(by.to_numpy(dtype=np.float64, na_value=np.nan))
        lines.set_cmap(colormaps["viridis"].with_extremes(bad=style.MUTED))
        style.colour_bar(ax, lines, str(by.name), format=style.PlainNumbers()).set_alpha(1.0)
        return
    code, levels = pd.factorize(by, sort=True)
    drawn = [style.line_of(number) for number in range(len(levels))]
    lines.set_color([drawn[k][0] if k >= 0 else style.MUTED for k in code])
    lines.set_linestyle([drawn[k][1] if k >= 0 else "-" for k in code])
    names = shortened_names([str(level) for level in levels], COLOUR_NAME)[:MOST_LEVELS]
    handles = [
        Line2D([], [], color=colour, linestyle=dash, label=style.in_legend(name))
        for (colour, dash), name in zip(drawn, names, strict=False)
    ]
    if len(levels) > MOST_LEVELS:
        rest = f"and {len(levels) - MOST_LEVELS} more"
        handles.append(Line2D([], [], linestyle="none", label=rest))
    if (code < 0).any():
        handles.append(Line2D([], [], color=style.MUTED, label="empty"))
    title = shortened(str(by.name), COLOUR_NAME)
    style.legend_as_written(
        ax, handles=handles, title=title, loc="upper left", bbox_to_anchor=(1, 1)
    )


# Strengths of interactions, ranked, beside what noise alone reaches.

MOST = 30
LEGEND_ROWS = 2
# Characters of a row's name, divided among its variables.
RANK_NAME = 36


def plot_interactions(
    names: Sequence[Sequence[str]], table: pd.DataFrame, ax: Axes | None = None
) -> Axes:
    """Plot the strength of the first 30 interactions as dots, and the noise as a line."""
    shown = table.head(MOST)
    ax = style.named_panel(ax, len(shown) + LEGEND_ROWS)
    noise = float(table["noise"].iloc[0]) if "noise" in table else -1.0
    strength = shown["strength"]
    above = (strength > noise).to_numpy()
    at = style.stems(ax, strength, above)
    ax.plot(strength[~above], at[~above], "o", mfc="white", mec=style.ACCENT, markersize=6)
    if noise >= 0:
        style.reference(ax, x=noise, linewidth=1.2, label="permuted responses")
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    several = max(map(len, names))
    distinct = list(dict.fromkeys(name for pair in names for name in pair))
    short = dict(zip(distinct, shortened_names(distinct, RANK_NAME // several - 2), strict=True))
    rows = [" × ".join(short[name] for name in pair) for pair in names[:MOST]]
    # room for dots at 0
    ax.set_xlim(left=-0.02 * max(float(strength.max()), noise, 0.0) or None)
    note = f" (first {MOST} of {len(table)})"
    style.finish_rows(ax, rows, "strength of the interaction", note, len(table), RANK_NAME)
    return ax


# A surface over two variables, in colours.

# A cell without rows is hatched if no row is nearer than this share of the axis.
NEAR = 0.1
AXIS_NAME = 18
BAR = 60.0
# points: levels that are nearer to each other have upright names
SLANTED = 20.0


def plot_effect_surface(
    first: VariablePoints, second: VariablePoints, surface: NDArray[np.float64],
    rows: NDArray[np.int64], scale: str, ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Plot a surface (G, H) in colours; cells with 0 `rows` (G, H), and none near, are hatched."""
    ax = style.one_panel(ax, style.WIDTH + 0.8)
    edges = [_edges(axis.at) for axis in (first, second)]
    drawn = ax.pcolormesh(*edges, surface.T, cmap="viridis", shading="flat")
    near = [1 + 2 * round(NEAR * len(a.values)) if a.numeric else 1 for a in (first, second)]
    empty = maximum_filter(rows, size=near) == 0
    cells = [_cell(edges[0], edges[1], i, j) for i, j in zip(*np.nonzero(empty), strict=True)]
    ax.add_collection(
        PatchCollection(cells, facecolor="none", edgecolor="white", hatch="////", linewidth=0)
    )
    style.colour_bar(ax, drawn, scale, format=style.PlainNumbers())
    if second.numeric:
        ax.yaxis.set_major_formatter(style.PlainNumbers())
    else:
        _name_levels(ax, first, second)
    style.label_x(ax, first.name, BAR)
    style.label_y(ax, second.name)
    if first.numeric:
        ax.xaxis.set_major_formatter(style.PlainNumbers())
    ax.spines[:].set_visible(False)
    ax.tick_params(colors=style.MUTED, labelcolor=style.ink(ax))
    return ax


def _name_levels(ax: Axes, first: VariablePoints, second: VariablePoints) -> None:
    """Name the levels of two factors, smaller where there are many."""
    wide, high = (room - style.AROUND_TEXT for room in style.room_of(ax))
    step = (wide - BAR - style.AROUND_TEXT) / len(first.at)
    place: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    if step < SLANTED:
        place = {"rotation": 90, "fontsize": min(style.SIZE, step / style.ROW_OF_TEXT)}
    ax.set_xticks(first.at, labels=shortened_names(first.labels, AXIS_NAME), **place)
    size = min(style.SIZE, (high - style.AROUND_TEXT) / len(second.at) / style.ROW_OF_TEXT)
    ax.set_yticks(second.at, labels=shortened_names(second.labels, AXIS_NAME), fontsize=size)
    for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        label.set_parse_math(False)


def _cell(x: NDArray[np.float64], y: NDArray[np.float64], i: np.intp, j: np.intp) -> Rectangle:
    return Rectangle((x[i], y[j]), x[i + 1] - x[i], y[j + 1] - y[j])


def _edges(at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the edges (G + 1,) of cells around points."""
    if len(at) == 1:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middle = (at[1:] + at[:-1]) / 2
    return np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
