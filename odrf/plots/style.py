"""The style of all plots: colours, axes, labels, panels.

Functions that draw take `ax`, the axes; None: those of a new figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LinearSegmentedColormap, to_rgb, to_rgba
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.ticker import Formatter, LogLocator, MaxNLocator, NullFormatter, ScalarFormatter
from numpy.typing import ArrayLike, NDArray

from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.text.names import in_one_line, shortened, shortened_names

# inches
WIDTH, HEIGHT, ROW, AROUND = 5.6, 4.2, 0.19, 0.9
# A scale that spans fewer than these, as a ratio, has ticks within decades.
DECADES = 100.0
# Numbers of ticks beyond these are written with a power of ten.
LARGE, SMALL, MOST_DECIMALS = 1e6, 1e-4, 8
# Significant digits of these; more if ticks would have equal labels.
DIGITS, MOST_DIGITS = 5, 15
# Ticks are computed by adding up steps.
ROUNDING = 1e-9
# A background below this brightness, 0 to 1, is dark.
DARK = 0.5
INK = "#222222"
MUTED = "#666666"
GRID = "#dddddd"
ACCENT = "#0072b2"
# Okabe and Ito's palette, told apart by colour-blind readers
CLASSES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
# light to mid blue: black text stays readable on all of it
VALUES = LinearSegmentedColormap.from_list("values", ["#f7fbff", "#c6dbef", "#6baed6"])
Dash = Literal["-", "--", ":", "-."]
DASHES: tuple[Dash, ...] = ("-", "--", ":", "-.")
MARKERS = "os^Dv"
# the look of lines that others are compared with
DASHED: dict[str, Any] = {"color": MUTED, "linewidth": 1, "linestyle": "--"}
# A column of a legend beside the axes has at most so many names.
MOST_NAMES = 20
# white to dark blue, for images without text
HEAT = LinearSegmentedColormap.from_list("heat", ["#ffffff", "#9ecae1", "#2171b5", "#08234f"])


def class_colour(code: int, certainty: float) -> tuple[float, float, float]:
    """Return the colour of class `code`, paler for lower `certainty` (0 to 1)."""
    strength = 0.12 + 0.53 * certainty
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(CLASSES[code % len(CLASSES)]))
    return red, green, blue


def line_of(number: int) -> tuple[str, Dash]:
    """Return colour and dashes of a curve: colours begin again with other dashes."""
    repeats, colour = divmod(number, len(CLASSES) - 2)
    return CLASSES[colour], DASHES[repeats % len(DASHES)]


def marker_of(number: int) -> str:
    """Return the marker of a curve: where colours begin again, another one."""
    return MARKERS[number // (len(CLASSES) - 2) % len(MARKERS)]


def _is_dark(ax: Axes) -> bool:
    """Whether axes have a dark background, as in matplotlib's style "dark_background"."""
    faces = (to_rgba(ax.get_facecolor()), to_rgba(ax.figure.get_facecolor()))
    red, green, blue, _ = next((face for face in faces if face[3] > 0), (1.0, 1.0, 1.0, 1.0))
    return 0.299 * red + 0.587 * green + 0.114 * blue < DARK


def ink(ax: Axes) -> str:
    """Return the colour of text and of marks on the background of axes."""
    return "#eeeeee" if _is_dark(ax) else INK


def faint(ax: Axes) -> str:
    """Return the colour of grid lines and plain bands on the background of axes."""
    return "#444444" if _is_dark(ax) else GRID


def value_colour(position: float) -> tuple[float, float, float]:
    """Return the colour of a value at `position` (0 to 1) between the smallest and largest."""
    red, green, blue, _ = VALUES(position)
    return red, green, blue


class PlainNumbers(Formatter):
    """Writes each number in full, as in ``2.5e8``: no power of ten stands apart."""

    def __init__(self) -> None:
        self._decimals: int | None = 0
        self._digits = DIGITS

    def set_locs(self, locs: Any) -> None:
        """Take the positions of all ticks."""
        at = np.asarray(locs, dtype=float)
        largest = float(np.abs(at).max(initial=0.0))
        self._decimals, self._digits = None, DIGITS
        if largest < LARGE and not 0 < largest < SMALL:
            off = (np.abs(at - at.round(d)).max(initial=0.0) for d in range(MOST_DECIMALS))
            enough = (d for d, most in enumerate(off) if most <= ROUNDING)
            self._decimals = next(enough, MOST_DECIMALS)
            if len({self(x) for x in at}) == len(set(at)):
                return
            self._decimals = None
        digits = range(DIGITS, MOST_DIGITS)
        told_apart = (d for d in digits if len({f"{x:.{d}g}" for x in at}) == len(set(at)))
        self._digits = next(told_apart, MOST_DIGITS)

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a tick, with as many decimals as all ticks need."""
        if self._decimals is None:
            text = f"{x:.{self._digits}g}".replace("e+0", "e").replace("e-0", "e-")
            return self.fix_minus(text.replace("e+", "e"))
        return self.fix_minus(f"{x:.{self._decimals}f}")


def new_panels(count: int, size: tuple[float, float] | None = None, **how: Any) -> NDArray:
    """Return the axes (count,) of a new figure with `count` panels side by side, in inches."""
    size = size or (WIDTH * count, HEIGHT)
    return np.atleast_1d(plt.subplots(1, count, figsize=size, layout="constrained", **how)[1])


def on_panels(
    ax: Axes | NDArray | None, count: int, why: str, new: Callable[[], NDArray]
) -> NDArray[np.object_]:
    """Return `count` axes: the given ones, or `new` ones; `why` so many, in words."""
    panels = np.ravel(np.asarray(new() if ax is None else ax, dtype=object))
    if len(panels) != count:
        raise InputError(f"ax holds {len(panels)} axes: {why}")
    return panels


def one_panel(ax: Axes | None, width: float = WIDTH) -> Axes:
    """Return the axes, or those of a new figure of this width in inches."""
    return new_panels(1, (width, HEIGHT))[0] if ax is None else ax


def named_panel(ax: Axes | None, rows: int, width: float = WIDTH) -> Axes:
    """Return the axes, or those of a new figure that is high enough for rows with names."""
    return new_panels(1, (width, max(HEIGHT, ROW * rows + AROUND)))[0] if ax is None else ax


def legend_columns(names: int) -> int:
    """Return in how many columns a legend of so many names stands beside the axes."""
    return -(-names // MOST_NAMES)


def legend_over(ax: Axes, heading: str | None = None) -> Legend:
    """Name what is drawn on a plate of the background's colour, which keeps lines off the names."""
    return legend_as_written(
        ax, title=heading, facecolor=ax.get_facecolor(), edgecolor="none", framealpha=0.85,
        fontsize="small" if heading else None, frameon=None,
    )  # fmt: skip


def in_legend(name: object) -> str:
    """Return a name as a legend shows it: a space before "_", with which names are left out."""
    words = in_one_line(str(name))
    return f" {words}" if words.startswith("_") else words


def legend_as_written(ax: Axes, **how: Any) -> Legend:
    """Draw a legend without a frame, whose texts are shown as they are, and not as formulas."""
    legend = ax.legend(**({"frameon": False} | how))
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)
    return legend


def log_scale(ax: Axes, which: Literal["x", "y"]) -> None:
    """Set a logarithmic scale with plain numbers, if it is short with ticks at 2 and 5, too."""
    ax.set(**{f"{which}scale": "log"})
    axis = ax.xaxis if which == "x" else ax.yaxis
    low, high = axis.get_data_interval()
    subs = (1.0, 2.0, 5.0) if high < DECADES * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=subs))
    if high < DECADES * low:
        axis.set_major_formatter(PlainNumbers())
    axis.set_minor_formatter(NullFormatter())


def plain(ax: Axes, grid: Literal["x", "y"]) -> None:
    """Remove the top and right spines, draw grid lines of the `grid` axis only, plain numbers."""
    for axis in (ax.xaxis, ax.yaxis):
        if type(axis.get_major_formatter()) is ScalarFormatter:
            axis.set_major_formatter(PlainNumbers())
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)
    ax.tick_params(colors=MUTED, labelcolor=ink(ax))
    ax.grid(axis=grid, color=faint(ax), linewidth=0.8)
    ax.set_axisbelow(True)


def finish(ax: Axes, x: str, y: str, heading: str = "") -> None:
    """Label both axes and the plot, on several lines if need be; make it `plain`."""
    label_x(ax, x)
    label_y(ax, y)
    if heading:
        title(ax, heading)
    plain(ax, "y")


def words_only(ax: Axes, words: str) -> Axes:
    """Write words in place of a plot."""
    ax.text(0.5, 0.5, words, ha="center", va="center", color=MUTED, transform=ax.transAxes)
    ax.set_axis_off()
    return ax


def unit_square(ax: Axes, diagonal: bool = True) -> None:
    """Let both axes go from 0 to 1, with a dashed line where they are equal."""
    if diagonal:
        ax.plot([0, 1], [0, 1], zorder=1, **DASHED)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))


def reference(
    ax: Axes, x: float | None = None, y: float | None = None, **how: Any
) -> Line2D:  # fmt: skip
    """Draw a dashed line across the axes, at `x` or at `y`."""
    look = DASHED | how
    return ax.axvline(x, **look) if x is not None else ax.axhline(0.0 if y is None else y, **look)


def colour_bar(
    ax: Axes | NDArray, drawn: Any, words: str, colour: str | None = None, **how: Any
) -> Colorbar:
    """Draw a bar beside axes that says what the colours of what was drawn mean.

    `ax`: one of these, or several that share the bar.  `colour`: of the words; None: black.
    """
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    bar = axes[0].figure.colorbar(drawn, ax=axes, **how)
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=MUTED, labelcolor=ink(axes[0]))
    label_y(bar.ax, words)
    if colour is not None:
        bar.ax.yaxis.label.set_color(colour)
    return bar


def whole_numbers(ax: Axes) -> None:
    """Mark whole numbers only on the horizontal axis, which counts something."""
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


# Labels that fit: broken into lines, shortened, or left out where they would overlap.

# points: the size of labels, what ticks and their numbers take up, and what keeps texts apart
SIZE = 10.0
AROUND_TEXT = 46.0
GAP = 6.0
# of the font size: the width of a letter, and the least height of a row
LETTER, ROW_OF_TEXT = 0.6, 1.3
# The names of rows take up at most this share of the width.
NAMES = 0.45
MOST_CHARACTERS = 28
SMALLEST = 4.0
# points: places that are nearer to each other have upright names
SLANTED = 28.0
MOST_UPRIGHT = 16
# the settings that a width depends on
FONTS = (
    "font.family", "font.serif", "font.sans-serif", "font.cursive", "font.fantasy",
    "font.monospace", "font.style", "font.variant", "font.stretch",
)  # fmt: skip


def text_width(line: str, size: float = SIZE, bold: bool = False, family: str = "") -> float:
    """Return the width of a line of text in points."""
    settings = tuple(str(rcParams[name]) for name in FONTS)  # type: ignore[index]
    return _width(in_one_line(line), size, bold, family, settings)


@lru_cache(maxsize=4096)
def _width(line: str, size: float, bold: bool, family: str, settings: tuple[str, ...]) -> float:
    """Return the width of a line; plots measure most of their lines several times."""
    font = FontProperties(family=family or None, size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0])


def room_of(ax: Axes) -> tuple[float, float]:
    """Return the width and height in points that axes can have, with their labels."""
    points = 72 / ax.figure.dpi
    place = ax.get_subplotspec()
    if ax.figure.get_layout_engine() is None or place is None:
        box = ax.get_window_extent()
        return box.width * points + AROUND_TEXT, box.height * points + AROUND_TEXT
    rows, columns, *_ = place.get_geometry()
    page = ax.figure.bbox
    return page.width * points / columns, page.height * points / rows


def label_x(ax: Axes, words: str, beside: float = 0.0) -> None:
    """Label the horizontal axis; `beside`: points that the names of rows take up beside it."""
    room = room_of(ax)[0] - max(beside, AROUND_TEXT) - 2 * GAP
    ax.set_xlabel(_broken(words, room), parse_math=False)


def label_y(ax: Axes, words: str) -> None:
    """Label the vertical axis, on several lines if need be."""
    ax.set_ylabel(_broken(words, room_of(ax)[1] - AROUND_TEXT - 2 * GAP), parse_math=False)


def title(ax: Axes, words: str) -> None:
    """Set the title of axes, on several lines if need be."""
    lines = _broken(words, room_of(ax)[0] - AROUND_TEXT)
    ax.set_title(lines, fontsize="medium", color=ink(ax), parse_math=False)


def named_rows(
    ax: Axes, names: Sequence[str], most: int = MOST_CHARACTERS, family: str = ""
) -> float:
    """Label the rows of a plot, the first on top; return the width of the names in points.

    Names have at most `most` characters, fewer on narrow axes; they are smaller where rows are low.
    """
    width, height = room_of(ax)
    most = min(most, max(5, int(NAMES * width / (LETTER * SIZE))))
    size = min(SIZE, max(SMALLEST, (height - AROUND_TEXT) / max(len(names), 1) / ROW_OF_TEXT))
    labels = shortened_names([in_one_line(name) for name in names], most)
    ax.set_yticks(range(len(names) - 1, -1, -1), labels=labels, fontsize=size)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
        if family:
            label.set_fontfamily(family)
    ax.set_ylim(-0.7, len(names) - 0.3)
    return max((text_width(label, size, family=family) for label in labels), default=0.0) + GAP


def finish_rows(
    ax: Axes, names: Iterable[object], words: str, note: str = "", total: int = 0,
    most: int = MOST_CHARACTERS, family: str = "", few_ticks: bool = True,
) -> None:  # fmt: skip
    """Name rows and horizontal axis, with a `note` if the table has more rows in `total`."""
    rows = [str(name) for name in names]
    beside = named_rows(ax, rows, most, family)
    if few_ticks:
        ax.xaxis.set_major_locator(MaxNLocator(5))
    label_x(ax, f"{words}{note if total > len(rows) else ''}", beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)


def stems(ax: Axes, values: pd.Series, filled: NDArray[np.bool_] | None = None) -> NDArray:
    """Draw a line from 0 to a dot, filled or none, for each value; return their heights."""
    at = np.arange(len(values))[::-1]
    ax.hlines(at, 0, values, color=faint(ax), linewidth=2, zorder=1)
    if filled is not None:
        ax.plot(values[filled], at[filled], "o", color=ACCENT, markersize=6)
    return at


def named_columns(ax: Axes, at: NDArray, names: Sequence[str]) -> None:
    """Label places on the horizontal axis: aslant if names are long, upright if there are many."""
    step = (room_of(ax)[0] - 2 * AROUND_TEXT) / max(len(names), 1)
    most = max(6, min(11, int(36 / len(names)))) if step >= SLANTED else MOST_UPRIGHT
    labels = shortened_names([in_one_line(name) for name in names], most)
    if step < SLANTED:
        size = min(SIZE, max(SMALLEST, step / ROW_OF_TEXT))
        ax.set_xticks(at, labels=labels, rotation=90, fontsize=size)
    elif max(map(len, names)) > most / 2:
        ax.set_xticks(at, labels=labels, rotation=15, ha="right", rotation_mode="anchor")
    else:
        ax.set_xticks(at, labels=labels)
    for label in ax.get_xticklabels():
        label.set_parse_math(False)


def shown_ticks(
    ax: Axes, at: NDArray, labels: Sequence[Sequence[str]], wanted: Sequence[int]
) -> list[int]:
    """Return those of the `wanted` ticks whose labels do not overlap, the ends first.

    `at` (k,): positions on a linear scale.  `labels`: those below the axes, and those above.
    """
    beside = ax.yaxis.label.get_text().count("\n") * ROW_OF_TEXT * SIZE
    width = room_of(ax)[0] - 2 * AROUND_TEXT - beside
    span = float(at.max() - at.min()) or 1.0
    shown: list[int] = []
    for tick in wanted:
        apart = (
            abs(float(at[tick] - at[other])) / span * width
            - (text_width(row[tick]) + text_width(row[other])) / 2
            for other in shown
            for row in labels
        )
        if min(apart, default=GAP) >= GAP:
            shown.append(tick)
    return sorted(shown)


def _broken(words: str, room: float) -> str:
    """Break words into lines of at most `room` points; a longer word is shortened."""
    lines: list[str] = []
    for word in re.split(r"[ \t\n]+", words.strip()):
        width = text_width(word)
        if width > room:
            word = shortened(word, max(5, int(len(word) * room / width)))
        if lines and text_width(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def draw_band(
    ax: Axes, at: NDArray, low: ArrayLike, high: ArrayLike, colour: str, alpha: float = 0.15
) -> None:
    """Fill what is between two curves (k,); at a single point draw a line."""
    if len(at) == 1:
        ax.vlines(at, low, high, color=colour, alpha=alpha, linewidth=8.0)
    else:
        ax.fill_between(at, low, high, color=colour, alpha=alpha, linewidth=0)


# Held-out errors of nested models with standard errors; the chosen model is marked.

# Up to this many points have error bars; more have a band.
MOST_BARS = 40


def draw_errors(
    ax: Axes, at: NDArray, error: pd.Series, std_error: pd.Series, best: int, chosen: int,
    words: str,
) -> None:  # fmt: skip
    """Plot errors (k,) at the positions `at`, ± 1 standard error.

    A line is one standard error above the row `best`; the row `chosen` is marked.
    """
    level, width = error.to_numpy(), std_error.to_numpy()
    if len(level) <= MOST_BARS:
        ax.errorbar(at, level, width, color=MUTED, fmt="none", capsize=2, linewidth=1)
    else:
        ax.fill_between(at, level - width, level + width, color=faint(ax), linewidth=0)
    ax.plot(at, level, "o-", color=ACCENT, markersize=3.5, linewidth=1.2)
    limit = float(level[best] + width[best])
    if np.isfinite(limit):
        label = "smallest + 1 standard error"
        reference(ax, y=limit, label=label)
    ax.plot(
        at[chosen], level[chosen], "o", mfc="none", mec=ink(ax), markersize=11, mew=1.6, label=words
    )
    ax.margins(x=0.03)
    ax.legend(frameon=False)
    plain(ax, "y")


def plot_means(table: pd.DataFrame, score: str, ax: Axes | None = None) -> Axes:
    """Plot the estimate of each model as a dot, ± 1 standard error, the first on top."""
    ax = named_panel(ax, len(table))
    at = np.arange(len(table))[::-1]
    estimate, std_error = table["estimate"].to_numpy(), table["std_error"].to_numpy()
    ax.errorbar(estimate, at, xerr=std_error, fmt="none", color=MUTED, capsize=3, linewidth=1.4)
    ax.plot(estimate, at, "o", color=ACCENT, markersize=7)
    finish_rows(ax, table.index, score)
    return ax


# One plot of a fit by its name, or all of them side by side.


def draw_panels(
    drawings: Mapping[str, Callable[[Axes], object]], kind: str | None, ax: Axes | NDArray | None
) -> Axes | NDArray:
    """Draw the plot named `kind`, or all plots for None, and return the axes.

    If a plot cannot be drawn, no new figure stays open.
    """
    kinds = list(drawings) if kind is None else [checked_choice("kind", kind, drawings)]
    why = "kind=None draws on two, a kind by its name on one"
    panels = on_panels(ax, len(kinds), why, lambda: new_panels(len(kinds)))
    try:
        for name, panel in zip(kinds, panels, strict=True):
            drawings[name](panel)
    except BaseException:
        if ax is None:
            plt.close(panels[0].figure)
        raise
    return panels if kind is None else panels[0]
