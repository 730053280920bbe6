"""Labels that fit: broken into lines, shortened, or left out where they would overlap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

from odrf.plots.elements.style import ink
from odrf.text.names import in_one_line, shortened, shortened_names

__all__ = [
    "label_x",
    "label_y",
    "named_columns",
    "named_rows",
    "room_of",
    "shown_ticks",
    "text_width",
    "title",
]

# points: the size of labels, what ticks and their numbers take up, and what keeps texts apart
SIZE = 10.0
AROUND = 46.0
GAP = 6.0
# of the font size: the width of a letter, and the least height of a row
LETTER, ROW = 0.6, 1.3
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
    """Return the width and height in points that axes can have, with their labels.

    Where the figure arranges its axes itself, this is their share of it; else the axes' own size.
    """
    points = 72 / ax.figure.dpi
    place = ax.get_subplotspec()
    if ax.figure.get_layout_engine() is None or place is None:
        box = ax.get_window_extent()
        return box.width * points + AROUND, box.height * points + AROUND
    rows, columns, *_ = place.get_geometry()
    page = ax.figure.bbox
    return page.width * points / columns, page.height * points / rows


def label_x(ax: Axes, words: str, beside: float = 0.0) -> None:
    """Label the horizontal axis, on several lines if need be.

    Parameters
    ----------
    ax : Axes
    words : str
    beside : float
        Points that the names of rows take up beside the axes.
    """
    room = room_of(ax)[0] - max(beside, AROUND) - 2 * GAP
    ax.set_xlabel(_broken(words, room), parse_math=False)


def label_y(ax: Axes, words: str) -> None:
    """Label the vertical axis, on several lines if need be."""
    ax.set_ylabel(_broken(words, room_of(ax)[1] - AROUND - 2 * GAP), parse_math=False)


def title(ax: Axes, words: str) -> None:
    """Set the title of axes, on several lines if need be."""
    lines = _broken(words, room_of(ax)[0] - AROUND)
    ax.set_title(lines, fontsize="medium", color=ink(ax), parse_math=False)


def named_rows(
    ax: Axes, names: Sequence[str], most: int = MOST_CHARACTERS, family: str = ""
) -> float:
    """Label the rows of a plot, the first on top; return the width of the names in points.

    Parameters
    ----------
    ax : Axes
    names : sequence of str
        Shortened in their middle to at most `most` characters, or fewer on narrow axes; set
        smaller where rows are low.
    most : int, default 28
    family : str, optional
        The family of the font.
    """
    width, height = room_of(ax)
    most = min(most, max(5, int(NAMES * width / (LETTER * SIZE))))
    size = min(SIZE, max(SMALLEST, (height - AROUND) / max(len(names), 1) / ROW))
    labels = shortened_names([in_one_line(name) for name in names], most)
    ax.set_yticks(range(len(names) - 1, -1, -1), labels=labels, fontsize=size)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
        if family:
            label.set_fontfamily(family)
    ax.set_ylim(-0.7, len(names) - 0.3)
    return max((text_width(label, size, family=family) for label in labels), default=0.0) + GAP


def named_columns(ax: Axes, at: NDArray, names: Sequence[str]) -> None:
    """Label places on the horizontal axis: aslant if names are long, upright if there are many."""
    step = (room_of(ax)[0] - 2 * AROUND) / max(len(names), 1)
    most = max(6, min(11, int(36 / len(names)))) if step >= SLANTED else MOST_UPRIGHT
    labels = shortened_names([in_one_line(name) for name in names], most)
    if step < SLANTED:
        size = min(SIZE, max(SMALLEST, step / ROW))
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

    Parameters
    ----------
    ax : Axes
    at : (k,) float64
        Positions on the horizontal axis, on a linear scale; the vertical axis has its label.
    labels : sequence of sequences of k str
        Labels of the ticks: those below the axes, and those above.
    wanted : sequence of int
        Numbers of the ticks, the most important first.
    """
    beside = ax.yaxis.label.get_text().count("\n") * ROW * SIZE
    width = room_of(ax)[0] - 2 * AROUND - beside
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
