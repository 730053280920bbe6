"""Whether the text of a figure can be read: no two texts overlap, and all are on the figure."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

__all__ = ["faint_texts", "faults_of"]

# Text of less contrast with what is behind it is hard to read (WCAG 2.1, for large letters).
CONTRAST = 3.0
# pixels by which the boxes of two texts may meet, as boxes are a little larger than letters
TOUCH = 1.0


def faults_of(figure: Figure) -> list[str]:
    """Return what is wrong with the texts of a figure, in words."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    texts = [text for text in _shown_texts(figure) if text.get_text().strip()]
    boxes = [text.get_window_extent(renderer) for text in texts]
    page = figure.bbox
    faults = [
        f"off the figure: {text.get_text()!r}"
        for text, box in zip(texts, boxes, strict=True)
        if min(box.x0, box.y0) < -TOUCH or box.x1 > page.x1 + TOUCH or box.y1 > page.y1 + TOUCH
    ]
    for (one, a), (other, b) in combinations(zip(texts, boxes, strict=True), 2):
        wide, high = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        if min(wide, high) > TOUCH and not _lines_of_a_box(one, other, high):
            faults.append(f"overlap: {one.get_text()!r} and {other.get_text()!r}")
    return faults


def faint_texts(figure: Figure) -> list[str]:
    """Return the texts that hardly differ in brightness from what is behind most of their box."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3] / 255.0
    faint = []
    for text in _shown_texts(figure):
        if not text.get_text().strip():
            continue
        box = text.get_window_extent(renderer)
        rows = slice(max(0, int(box.y0)), int(box.y1) + 1)
        behind = pixels[rows, max(0, int(box.x0)) : int(box.x1) + 1].reshape(-1, 3)
        if (
            len(behind)
            and _contrast(np.median(behind, axis=0), to_rgb(text.get_color())) < CONTRAST
        ):
            faint.append(text.get_text())
    return faint


def _contrast(one, other) -> float:
    low, high = sorted(_luminance(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def _lines_of_a_box(one: Text, other: Text, high: float) -> bool:
    """Whether two texts are lines of a drawn box: what hangs below one may touch the next."""
    size = min(one.get_fontsize(), other.get_fontsize()) * one.figure.dpi / 72
    return one.get_va() == other.get_va() == "center_baseline" and high < 0.4 * size


def _shown_texts(figure: Figure) -> list[Text]:
    """Return the visible texts, without labels of ticks outside their axes."""
    hidden = set()
    for axis in figure.findobj(Axis):
        low, high = sorted(axis.get_view_interval())
        margin = 1e-9 * (high - low)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            inside = low - margin <= tick.get_loc() <= high + margin
            if not (inside and axis.get_visible() and axis.axes.axison):
                hidden |= {tick.label1, tick.label2}
    return [text for text in figure.findobj(Text) if text not in hidden and _is_visible(text)]


def _is_visible(text: Text) -> bool:
    of_axis = text.axes is not None and text in (text.axes.xaxis.label, text.axes.yaxis.label)
    return text.get_visible() and not (of_axis and not text.axes.axison)
