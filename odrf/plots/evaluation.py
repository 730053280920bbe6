"""Plots of studies: learning curves, bias and variance, ranks, tuning."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter
from numpy.typing import NDArray

from odrf.plots import style
from odrf.text.names import shortened
from odrf.text.splits import number

MOST = 20
MOST_CHARACTERS, MOST_OF_A_VALUE = 60, 18
# inches
WIDTH = 8.0
# Values are drawn on a logarithmic scale if the largest is more than this times the smallest.
WIDE = 20.0
# So few values are marked, each.
MOST_TICKS = 8


def plot_option(
    option: str, values: pd.Series, table: pd.DataFrame, error: str, ax: Axes | None = None
) -> Axes:
    """Plot the error against the `values` of one option; the best candidate is first."""
    ax = style.one_panel(ax)
    order = np.argsort(values.to_numpy(dtype=float))
    at, level = values.to_numpy(dtype=float)[order], table["error"].to_numpy()[order]
    width = table["std_error"].to_numpy()[order]
    ax.errorbar(at, level, width, color=style.MUTED, fmt="none", capsize=2, linewidth=1)
    ax.plot(at, level, "o-", color=style.ACCENT, markersize=4, linewidth=1.2)
    best = float(values.iloc[0]), float(table["error"].iloc[0])
    ax.plot(*best, "o", mfc="none", mec=style.ink(ax), markersize=11, mew=1.6)
    if at[0] > 0 and at[-1] > WIDE * at[0]:
        style.log_scale(ax, "x")
    style.label_x(ax, option)
    style.label_y(ax, error)
    if len(at) <= MOST_TICKS:
        _mark_values(ax, at)
    style.plain(ax, "y")
    return ax


def _mark_values(ax: Axes, at: NDArray[np.float64]) -> None:
    """Mark the values (k,), ascending, with their numbers, as far as these do not overlap."""
    labels = [number(float(value), 6) for value in at]
    places = np.log(at) if ax.get_xscale() == "log" else at
    shown = style.shown_ticks(ax, places, [labels], [0, len(at) - 1, *range(len(at))])
    ax.set_xticks(at)
    ax.set_xticklabels([labels[k] if k in shown else "" for k in range(len(at))])
    ax.minorticks_off()


def plot_candidates(
    options: pd.DataFrame, table: pd.DataFrame, error: str, ax: Axes | None = None
) -> Axes:
    """Plot the error of the best 20 candidates as dots, beside their `options` (k, q)."""
    shown = table.head(MOST)
    ax = style.named_panel(ax, len(shown) + 1, WIDTH)
    at = np.arange(len(shown))[::-1]
    width = shown["std_error"]
    ax.errorbar(
        shown["error"], at, xerr=width, color=style.MUTED, fmt="none", capsize=2, linewidth=1
    )
    ax.plot(shown["error"], at, "o", color=style.ACCENT, markersize=5)
    # the first line, above the dots, names the options
    lines, rest = _lines(options.head(MOST)), f" (best {MOST} of {len(table)})"
    words = f"{error}{rest if len(table) > MOST else ''}"
    style.finish_rows(ax, lines, words, most=MOST_CHARACTERS, family="DejaVu Sans Mono")
    ax.get_yticklabels()[0].set_fontweight("bold")
    return ax


def _lines(options: pd.DataFrame) -> list[str]:
    """Return the names of the options, and each candidate's values, in columns of letters."""
    columns = []
    for name, values in options.items():
        words = [shortened(str(word), MOST_OF_A_VALUE) for word in (name, *values)]
        width = max(map(len, words))
        columns.append([f"{word:<{width}}" for word in words])
    return ["  ".join(line) for line in zip(*columns, strict=True)]


# Critical-difference diagram: mean ranks on a line, bars join methods that do not differ.
#
# As in J. Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal of
# Machine Learning Research 7.

DIAGRAM_WIDTH = 8
# inches from a label to the next
LABEL_ROW = 0.3
# size of a label in points, and its most letters
LABEL, MOST_OF_A_LABEL = 9.5, 32
# largest width of the labels on one side, and distance from the scale to a label, as shares
LARGEST = 0.4
GAP = 0.015
# rows from the scale to the first bar, from bar to bar, and from the last bar to the labels
FIRST_BAR, BAR, LABELS = 0.55, 0.35, 0.9
ABOVE = 2.6


def groups_alike(ranks: pd.Series, difference: float) -> list[tuple[float, float]]:
    """Return the ends of the maximal runs of two or more ranks at most `difference` wide."""
    ordered = np.sort(ranks.to_numpy())
    last = np.searchsorted(ordered, ordered + difference, side="right") - 1
    return [
        (float(ordered[first]), float(ordered[end]))
        for first, end in enumerate(last)
        if end > first and (first == 0 or end > last[first - 1])
    ]


def plot_ranks(
    ranks: pd.Series, difference: float, base: str | None = None, ax: Axes | None = None
) -> Axes:
    """Plot the diagram, the best method on the left; `base`: the method to be highlighted."""
    ordered = ranks.sort_values(kind="stable")
    bars = groups_alike(ordered, difference)
    low, high = 1, len(ranks)
    half = (high + 1) // 2
    top = -LABELS - BAR * len(bars)  # first row of labels, below the bars
    bottom = top - half + 0.4
    size = (DIAGRAM_WIDTH, LABEL_ROW * (ABOVE - bottom))
    ax = style.new_panels(1, size)[0] if ax is None else ax
    ax.set_axis_off()
    # a critical difference that is wider than the scale is drawn in full
    last = max(float(high), low + difference)
    labels = [shortened(str(name), MOST_OF_A_LABEL) for name in ordered.index]
    widest = max(style.text_width(f"  {label}  1.00 ", LABEL, bold=True) for label in labels)
    share = min(LARGEST, widest / style.room_of(ax)[0] + GAP)
    room = (high - low) * share / (1 - 2 * share)
    ax.set(xlim=(low - room, max(high + room, last)), ylim=(bottom, ABOVE))
    _scale(ax, low, high)
    _ruler(ax, low, difference)
    for place, (name, rank) in enumerate(ordered.items()):
        left = place < half
        row = top - (place if left else high - 1 - place)
        edge = low - GAP * (high - low) if left else high + GAP * (high - low)
        _label(ax, labels[place], float(rank), row, edge, left, name == base)
    for place, bar in enumerate(bars):
        y = -FIRST_BAR - BAR * place
        ax.plot(bar, [y, y], color=style.ink(ax), lw=4.5, solid_capstyle="round")
    return ax


def _scale(ax: Axes, low: int, high: int) -> None:
    ax.plot([low, high], [0, 0], color=style.ink(ax), lw=1)
    for rank in range(low, high + 1):
        ax.plot([rank, rank], [0, 0.22], color=style.ink(ax), lw=1)
        ax.text(rank, 0.35, str(rank), ha="center", va="bottom", fontsize=9, color=style.ink(ax))


def _ruler(ax: Axes, low: int, difference: float) -> None:
    ax.plot([low, low + difference], [1.5, 1.5], color=style.ink(ax), lw=1, marker="|", ms=7)
    words = f"critical difference {difference:.2f}"
    ax.text(low, 1.85, words, ha="left", va="bottom", fontsize=9, color=style.ink(ax))


def _label(
    ax: Axes, name: str, rank: float, row: float, edge: float, left: bool, highlighted: bool
) -> None:
    """Draw a line from a rank on the scale to the name of the method."""
    colour = style.ACCENT if highlighted else style.ink(ax)
    ax.plot([rank, rank, edge], [0, row, row], color=colour, lw=1.6 if highlighted else 0.9)
    ax.text(
        edge, row, f"{name}  {rank:.2f} " if left else f" {rank:.2f}  {name}",
        ha="right" if left else "left", va="center", fontsize=LABEL, color=colour,
        fontweight="bold" if highlighted else "normal", parse_math=False,
    )  # fmt: skip


OF_CLASSES = {
    "bias": "bias",
    "variance": "variance",
    "variance_effect": "variance effect",
    "error": "error rate",
}
OF_NUMBERS = {"bias2": "bias²", "variance": "variance", "error": "mean squared error"}
LEAST = {"bayes_error": "Bayes error", "noise": "noise"}
PANEL_WIDTH, HEIGHT, ROW = 4.2, 3.9, 0.32
# Ticks are at the sizes themselves, unless there are more or closer ones.
MOST_SIZES, CLOSEST = 8, 1.25
MOST_MARKS = 5
MARGIN = 1.05


def plot_bias_variance(
    table: pd.DataFrame, std_error: pd.DataFrame, axes: NDArray | None = None
) -> NDArray[np.object_]:
    """Plot a panel for each term: lines against n, or dots if there is only one n."""
    labels = OF_CLASSES if "variance_effect" in table else OF_NUMBERS
    models, sizes = table.index.unique("model"), table.index.unique("n")
    curves = len(sizes) > 1
    size = PANEL_WIDTH * len(labels), HEIGHT if curves else 1.6 + ROW * len(models)
    why = f"bias and variance are drawn on {len(labels)}"
    panels = style.on_panels(axes, len(labels), why, lambda: style.new_panels(len(labels), size))
    shown, width = table[list(labels)], std_error[list(labels)].fillna(0.0)
    low, high = (shown - width).to_numpy().min(), (shown + width).to_numpy().max()
    # one scale for all panels, so that the terms can be compared
    ends = min(0.0, MARGIN * low), MARGIN * max(high, 0.0) or 1.0
    for ax, (name, label) in zip(panels, labels.items(), strict=True):
        if curves:
            _draw_curves(ax, table[name], std_error[name], label)
            ax.set_ylim(ends)
        else:
            term = pd.DataFrame({"estimate": table[name], "std_error": std_error[name]})
            style.plot_means(term.droplevel("n"), label, ax)
            ax.set_xlim(ends)
            ax.xaxis.set_major_locator(MaxNLocator(MOST_MARKS))
    for name in LEAST.keys() & table.columns:
        level = float(table[name].iloc[0])
        if level == 0.0:  # the axis is there already
            continue
        at = {"y": level} if curves else {"x": level}
        least = style.reference(panels[-1], **at, label=LEAST[name], zorder=1)
        panels[-1].legend(handles=[least], frameon=False)
    if curves:
        style.legend_as_written(panels[0])
    else:
        for ax in panels[1:]:
            ax.tick_params(axis="y", labelleft=False)
    return panels


def _draw_curves(ax: Axes, term: pd.Series, std_error: pd.Series, label: str) -> None:
    for place, model in enumerate(term.index.unique("model")):
        curve, (colour, dash) = term.loc[model], style.line_of(place)
        ax.errorbar(
            curve.index, curve, std_error.loc[model], fmt=f"{style.marker_of(place)}{dash}",
            color=colour, markersize=4, capsize=2, linewidth=1.2, label=style.in_legend(model),
        )  # fmt: skip
    sizes = term.index.unique("n").to_numpy(dtype=float)
    ax.set_xscale("log")
    if len(sizes) <= MOST_SIZES and np.min(sizes[1:] / sizes[:-1]) >= CLOSEST:
        ax.set_xticks(sizes, labels=[f"{size:.0f}" for size in sizes])
        ax.xaxis.set_minor_locator(NullLocator())
    style.finish(ax, "training rows", label)


# Errors of models against the share of the training rows kept.

APPROXIMATION_WIDTH, APPROXIMATION_HEIGHT = 4.4, 3.9
COLOURS = (style.MUTED, style.CLASSES[0], style.CLASSES[1])


def plot_approximation(
    table: pd.DataFrame, methods: Mapping[str, str], error: str, ax: Axes | NDArray | None = None
) -> NDArray[np.object_]:
    """Plot a panel for each model, a line for each method of choosing the rows."""
    models = table.index.unique("model")
    count, size = len(models), (APPROXIMATION_WIDTH * len(models), APPROXIMATION_HEIGHT)
    why = f"{count} are drawn on, one for each model"
    panels = style.on_panels(ax, count, why, lambda: style.new_panels(count, size, sharey=True))
    for panel, model in zip(panels, models, strict=True):
        for (method, label), colour in zip(methods.items(), COLOURS, strict=True):
            rows = table.loc[model].loc[method]
            panel.errorbar(
                rows.index, rows["error"], rows["std_error"].fillna(0.0), fmt="o-", color=colour,
                markersize=4, capsize=2, linewidth=1.2, label=label,
            )  # fmt: skip
        style.title(panel, str(model))
        panel.set_xlim(0, 1.04)
        panel.xaxis.set_major_formatter(PercentFormatter(1.0))
        panel.set_xlabel("rows kept")
        style.plain(panel, "y")
    style.label_y(panels[0], error)
    panels[-1].legend(frameon=False)
    return panels


def plot_learning(
    table: pd.DataFrame, curves: Mapping[str, pd.DataFrame], error: str, ax: Axes | None = None
) -> Axes:
    """Plot mean errors as dots with bars, and the fitted power laws as lines with bands.

    Axes are logarithmic; that of the errors is not if one of them is 0 or below.
    """
    ax = style.one_panel(ax)
    for at, (model, curve) in enumerate(curves.items()):
        colour, dash = style.line_of(at)
        rows = table.loc[model]
        ax.fill_between(
            curve["n"], curve["conf_low"], curve["conf_high"], color=colour, alpha=0.15, linewidth=0
        )
        ax.plot(curve["n"], curve["error"], color=colour, linestyle=dash, linewidth=1.2)
        ax.errorbar(
            rows.index, rows["error"], rows["std_error"], fmt=style.marker_of(at), color=colour,
            markersize=4, capsize=2, linewidth=1, label=style.in_legend(model),
        )  # fmt: skip
    largest = table.index.get_level_values("n").max()
    ax.axvline(
        largest, color=style.MUTED, linewidth=1, linestyle=":", zorder=0, label="largest sample"
    )
    style.log_scale(ax, "x")
    if (table["error"].dropna() > 0).all():
        style.log_scale(ax, "y")
    style.finish(ax, "training rows", error)
    style.legend_as_written(ax)
    return ax
