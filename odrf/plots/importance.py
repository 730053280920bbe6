"""Importances of predictors, directions and pixels, and selections by them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.plots import style
from odrf.text.layouts import quantity

# Selection of predictors: errors of backward elimination, and importances beside shadows.

MOST = 30
LEGEND_ROWS = 3
FILLED = {
    "confirmed": style.ACCENT, "tentative": "white", "rejected": style.GRID,
    "selected": style.ACCENT, "not selected": "white",
}  # fmt: skip


def plot_elimination(
    table: pd.DataFrame, best: int, chosen: int, choice: str, error: str, ax: Axes | None = None
) -> Axes:
    """Plot the error of each step against the number of predictors, on a logarithmic scale."""
    ax = style.one_panel(ax)
    numbers = table["predictors"].to_numpy()
    at = np.log2(numbers.astype(float))
    words = f"{choice}: {quantity(numbers[chosen], 'predictor')}"
    style.draw_errors(ax, at, table["error"], table["std_error"], best, chosen, words)
    labels = [str(number) for number in numbers]
    shown = style.shown_ticks(ax, at, [labels], [0, len(at) - 1, chosen, *range(len(at))])
    ax.set_xticks(at[shown], labels=[labels[tick] for tick in shown])
    ax.set_xlabel("predictors")
    style.label_y(ax, error)
    return ax


def plot_selection(
    table: pd.DataFrame, decisions: pd.Series, words: str, threshold: float = np.inf,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Plot the importance of the first 30 predictors, in the colours of the decisions.

    The best shadow, if the table has it, is a bar; a finite `threshold` a line.
    """
    shown, decisions = table.head(MOST), decisions.head(MOST)
    ax = style.named_panel(ax, len(shown) + LEGEND_ROWS)
    at = style.stems(ax, shown["importance"])
    if "shadow" in shown:
        ax.plot(
            shown["shadow"], at, "|", color=style.MUTED, markersize=11, mew=1.6, label="best shadow"
        )
    for decision, colour in FILLED.items():
        rows = (decisions == decision).to_numpy()
        if rows.any():
            ax.plot(
                shown["importance"][rows], at[rows], "o", mfc=colour, mec=style.ACCENT,
                markersize=6, label=decision,
            )  # fmt: skip
    if np.isfinite(threshold):
        style.reference(ax, x=threshold, label="threshold")
    ax.axvline(0, color=style.MUTED, linewidth=0.8)
    style.finish_rows(ax, shown.index, words, f" (first {MOST} of {len(table)})", len(table))
    # above the axes, where there are no dots
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


MOST_PREDICTORS = 15


def plot_importance(
    importance: pd.Series, words: str, ax: Axes | None = None, of: str = "predictors"
) -> Axes:
    """Plot the first 15 importances as dots, the largest on top.

    `words` say what they are, and `of` what they are of.
    """
    shown = importance.head(MOST_PREDICTORS)
    ax = style.named_panel(ax, len(shown))
    style.stems(ax, shown, np.ones(len(shown), dtype=bool))
    note = f" (first {MOST_PREDICTORS} of {len(importance)} {of})"
    style.finish_rows(ax, shown.index, words, note, len(importance))
    ax.set_xlim(left=min(0.0, 1.1 * shown.min()))
    return ax


SIDE = 3.4
LABEL = "share of splits"


def plot_pixels(shares: NDArray[np.float64], ax: Axes | NDArray | None = None) -> Axes | NDArray:
    """Plot one image for each channel of `shares` (C, H, W), all on one scale; a series as a curve.

    The channels of a series, which has H = 1, are drawn as the rows of one image.
    """
    C, H, _ = shares.shape
    count = 1 if H == 1 else C
    size = None if H == 1 else (SIDE * count + 1.0, SIDE + 0.3)
    panels = style.on_panels(
        ax, count, f"{count} are drawn on", lambda: style.new_panels(count, size)
    )
    if H == 1 and C == 1:
        _curve(shares[0, 0], panels[0])
    elif H == 1:
        image = _image(shares[:, 0], shares.max(), panels[0])
        panels[0].set_aspect("auto")
        panels[0].set_xlabel("point of the series")
        panels[0].set_ylabel("channel")
        style.colour_bar(panels, image, LABEL, style.ink(panels[0]))
    else:
        for channel, panel in enumerate(panels):
            image = _image(shares[channel], shares.max(), panel)
            panel.set_xlabel("column")
            if C > 1:
                panel.set_title(f"channel {channel}", fontsize="medium", color=style.ink(panel))
        panels[0].set_ylabel("row")
        style.colour_bar(panels, image, LABEL, style.ink(panels[0]))
    return panels[0] if count == 1 else panels


def _curve(share: NDArray[np.float64], ax: Axes) -> None:
    ax.fill_between(
        np.arange(len(share)), share, step="mid", color=style.ACCENT, alpha=0.15, linewidth=0
    )
    ax.step(np.arange(len(share)), share, where="mid", color=style.ACCENT, linewidth=1.2)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("point of the series")
    ax.set_ylabel(LABEL)
    style.plain(ax, "y")


def _image(shares: NDArray[np.float64], largest: float, ax: Axes) -> AxesImage:
    image = ax.imshow(
        shares, cmap=style.HEAT, vmin=0, vmax=largest or 1.0, aspect="equal",
        interpolation="nearest",
    )  # fmt: skip
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
    ax.spines[:].set_color(style.MUTED)
    ax.tick_params(colors=style.MUTED, labelcolor=style.ink(ax))
    return image


SIGNED = LinearSegmentedColormap.from_list(
    "signed", [style.CLASSES[5], "#ffffff", style.CLASSES[0]]
)
MOST_DIRECTIONS = 40
# inches: the names of rows with the bar of colours, and a direction
NAMES, CELL = 4.4, 0.4
# points
BAR, SIZE = 100.0, 10.0


def plot_projections(coefficients: pd.DataFrame, share: pd.Series, ax: Axes | None = None) -> Axes:
    """Plot directions as columns of a heat map; its rows are the columns of the design.

    The first 40 directions, and the 40 columns with the largest coefficients in them.
    """
    note = f" (first {MOST_DIRECTIONS} of {len(share)})" if len(share) > MOST_DIRECTIONS else ""
    coefficients, share = coefficients.iloc[:, :MOST_DIRECTIONS], share.head(MOST_DIRECTIONS)
    size = coefficients.abs().max(axis=1)
    kept = size[size > 0].sort_values(ascending=False, kind="stable").head(MOST_DIRECTIONS).index
    coefficients = coefficients.loc[coefficients.index.isin(kept)]
    p, k = coefficients.shape
    ax = style.named_panel(ax, p, NAMES + CELL * k)
    if not p:
        return style.words_only(ax, "no splits")
    image = ax.imshow(
        coefficients.to_numpy()[::-1],
        cmap=SIGNED, vmin=-1, vmax=1, aspect="auto", origin="lower",
        extent=(0.5, k + 0.5, -0.5, p - 0.5),
    )  # fmt: skip
    beside = style.named_rows(ax, [str(name) for name in coefficients.index])
    ax.set_ylim(-0.5, p - 0.5)
    ranks = np.arange(1, k + 1)
    labels = [f"{rank}\n{100 * part:.2g}" for rank, part in zip(ranks, share, strict=True)]
    cell = (style.room_of(ax)[0] - beside - BAR) / k
    widest = max(style.text_width(line) for label in labels for line in label.split("\n"))
    ax.set_xticks(ranks, labels=labels, fontsize=SIZE * min(1.0, 0.9 * cell / widest))
    words = f"direction by importance{note}, and its share of the impurity removed, in %"
    style.label_x(ax, words, beside + BAR)
    ax.tick_params(length=0)
    ax.set_xticks(ranks[:-1] + 0.5, minor=True)
    ax.set_yticks(np.arange(p - 1) + 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5)
    ax.tick_params(which="minor", length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    style.label_y(bar.ax, "coefficient (columns scaled to [0,\u00a01])")
    return ax
