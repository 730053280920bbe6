"""The style of all plots: colours, axes, figures."""

from __future__ import annotations

from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb, to_rgba
from matplotlib.legend import Legend
from matplotlib.ticker import (
    Formatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    ScalarFormatter,
)
from numpy.typing import NDArray

from odrf.text.names import in_one_line

__all__ = [
    "ACCENT",
    "CLASSES",
    "GRID",
    "HEAT",
    "HEIGHT",
    "INK",
    "MUTED",
    "VALUES",
    "WIDTH",
    "PlainNumbers",
    "class_colour",
    "faint",
    "in_legend",
    "ink",
    "legend_as_written",
    "legend_columns",
    "legend_over",
    "line_of",
    "log_scale",
    "marker_of",
    "named_panel",
    "new_panels",
    "plain",
    "value_colour",
    "whole_numbers",
]

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
    """Writes each number in full, as in ``2.5e8``.

    No power of ten, or number to be added, stands apart, where other texts may overlap it.
    """

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


def new_panels(count: int) -> NDArray:
    """Return the axes (count,) of a new figure with `count` panels side by side."""
    _, panels = plt.subplots(1, count, figsize=(WIDTH * count, HEIGHT), layout="constrained")
    return np.atleast_1d(panels)


def named_panel(rows: int, width: float = WIDTH) -> Axes:
    """Return the axes of a new figure, `width` inches wide and high enough for rows with names."""
    size = (width, max(HEIGHT, ROW * rows + AROUND))
    return plt.subplots(figsize=size, layout="constrained")[1]


def legend_columns(names: int) -> int:
    """Return in how many columns a legend of so many names stands beside the axes."""
    return -(-names // MOST_NAMES)


def legend_over(ax: Axes, heading: str | None = None) -> Legend:
    """Name what is drawn on a plate of the background's colour, which keeps lines off the names."""
    legend = ax.legend(
        title=heading, facecolor=ax.get_facecolor(), edgecolor="none", framealpha=0.85,
        fontsize="small" if heading else None,
    )  # fmt: skip
    return legend_as_written(legend)


def in_legend(name: object) -> str:
    """Return a name as a legend shows it: in one line.

    Matplotlib leaves out names that begin with "_"; these have a space in front.
    """
    words = in_one_line(str(name))
    return f" {words}" if words.startswith("_") else words


def legend_as_written(legend: Legend) -> Legend:
    """Show the texts of a legend as they are, and not as formulas."""
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


def whole_numbers(ax: Axes) -> None:
    """Mark whole numbers only on the horizontal axis, which counts something."""
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
