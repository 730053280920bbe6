"""Plots of simulated problems: regions of classes, surfaces, and examples of images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.plots import style
from odrf.plots.style import title as set_title

PIXELS = 240
LEVELS = 16
TICKS = 5
# Gap between images, in their pixels; distances of rings and of curves, in units of their data.
IMAGE_GAP, RING_PITCH, CURVE_PITCH = 3, 2.6, 7.0
IMAGES = 4
CURVES = 3

OnPlane = Callable[[NDArray, NDArray], NDArray[np.float64]]
Box = Sequence[tuple[float, float]]


def plot_regions(
    on_plane: OnPlane, classes: Sequence[str], box: Box, names: Sequence[str], title: str,
    dots: pd.DataFrame | None, ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Plot the most probable class at each point of a plane, paler where it is less certain.

    `on_plane`: from the two predictors, (n,) each, to the probabilities (n, K); NaN stays white.
    `box`: the limits of the axes.  `dots`: rows: columns of the predictors and ``y``.
    """
    ax = style.one_panel(ax)
    first, second = (_middles(*ends) for ends in box)
    K = len(classes)
    code = np.full((PIXELS, PIXELS), -1)
    certainty = np.zeros((PIXELS, PIXELS))
    # line by line: the probabilities of hundreds of classes would need too much memory at once
    for line, height in enumerate(second):
        probabilities = on_plane(first, np.full(PIXELS, height))
        known = ~np.isnan(probabilities[:, 0])
        code[line, known] = probabilities[known].argmax(axis=1)
        certainty[line, known] = (probabilities[known].max(axis=1) - 1 / K) / (1 - 1 / K)
    pale, full = (np.array([style.class_colour(k, c) for k in range(K)]) for c in (0.0, 1.0))
    colours = pale[code] + certainty[..., np.newaxis] * (full - pale)[code]
    colours[code < 0] = 1.0
    ax.imshow(
        colours, origin="lower", extent=(*box[0], *box[1]), aspect="auto", interpolation="nearest"
    )
    if dots is not None:
        of_row = np.array([style.CLASSES[k % len(style.CLASSES)] for k in dots["y"].cat.codes])
        ax.scatter(
            dots[names[0]], dots[names[1]], s=9, c=of_row, edgecolors="white", linewidths=0.4
        )
    seen = np.unique(code[code >= 0])
    if len(seen) <= len(style.CLASSES):
        patches = [Patch(color=full[k], label=classes[k]) for k in seen]
        ax.legend(
            handles=patches, title="class", frameon=False, loc="upper left", bbox_to_anchor=(1, 1)
        )
    _dress(ax, box, names, title)
    return ax


def plot_surface(
    on_plane: OnPlane, box: Box, names: Sequence[str], title: str, dots: pd.DataFrame | None,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Plot a regression function as filled contours; arguments as in `plot_regions`."""
    ax = style.one_panel(ax)
    first, second = (np.linspace(*ends, PIXELS) for ends in box)
    across, up = np.meshgrid(first, second)
    height = on_plane(across.ravel(), up.ravel()).reshape(across.shape)
    scale = Normalize(float(height.min()), float(height.max()))
    filled = ax.contourf(across, up, height, levels=LEVELS, cmap=style.VALUES, norm=scale)
    if dots is not None:
        ax.scatter(
            dots[names[0]], dots[names[1]], s=12, c=dots["y"], cmap=style.VALUES,
            edgecolors=style.MUTED,
            linewidths=0.5, norm=scale,
        )  # fmt: skip
    style.colour_bar(ax, filled, "m(x)", style.ink(ax))
    _dress(ax, box, names, title)
    return ax


def plot_images(
    of_class: Mapping[str, NDArray], shape: tuple[int, int], title: str, ax: Axes | None = None
) -> Axes:
    """Plot the first images of each class, (m, height · width), in a row."""
    ax = style.one_panel(ax)
    height, width = shape
    for line, pixels in enumerate(of_class.values()):
        colour = (*style.class_colour(line, 0.0), *style.class_colour(line, 1.0))
        for at, image in enumerate(pixels[:IMAGES].reshape(-1, height, width)):
            strength = image[..., np.newaxis]
            left, top = at * (width + IMAGE_GAP), line * (height + IMAGE_GAP)
            ax.imshow(
                (1 - strength) * colour[:3] + strength * colour[3:],
                extent=(left, left + width, top + height, top),
                interpolation="nearest",
            )
    ax.set_xlim(-0.5, IMAGES * (width + IMAGE_GAP) - IMAGE_GAP + 0.5)
    ax.set_ylim(len(of_class) * (height + IMAGE_GAP) - IMAGE_GAP + 0.5, -0.5)
    _name_lines(ax, [line * (height + IMAGE_GAP) + height / 2 for line in range(len(of_class))],
                of_class, title)  # fmt: skip
    ax.set_aspect("equal")
    return ax


def plot_rings(of_class: Mapping[str, NDArray], title: str, ax: Axes | None = None) -> Axes:
    """Plot the first series of zeros and ones of each class, (m, p), as rings."""
    ax = style.one_panel(ax)
    for line, pixels in enumerate(of_class.values()):
        for at, ring in enumerate(pixels[:IMAGES]):
            angle = np.pi / 2 - 2 * np.pi * np.arange(len(ring)) / len(ring)
            across = at * RING_PITCH + np.cos(angle)
            up = -line * RING_PITCH + np.sin(angle)
            lit = ring > 0
            ax.plot(across[~lit], up[~lit], ".", color=style.faint(ax), markersize=2.5)
            ax.plot(across[lit], up[lit], "o", color=style.CLASSES[line], markersize=3)
    _name_lines(ax, [-line * RING_PITCH for line in range(len(of_class))], of_class, title)
    ax.set_aspect("equal")
    return ax


def plot_curves(of_class: Mapping[str, NDArray], title: str, ax: Axes | None = None) -> Axes:
    """Plot the first series of each class, (m, p), and the mean of all its series in black."""
    ax = style.one_panel(ax)
    places = []
    for line, series in enumerate(of_class.values()):
        at = np.arange(1, series.shape[1] + 1)
        for drawn, curve in enumerate(series[:CURVES]):
            base = -CURVE_PITCH * (line * (CURVES + 1) + drawn)
            ax.plot(at, base + curve, color=style.CLASSES[line], linewidth=0.8)
        base = -CURVE_PITCH * (line * (CURVES + 1) + CURVES) + CURVE_PITCH / 4
        # means are flatter than single series, and so are drawn enlarged
        ax.plot(at, base + CURVES * series.mean(axis=0), color=style.ink(ax), linewidth=1.2)
        places.append(base + CURVE_PITCH * CURVES / 2)
    _name_lines(ax, places, of_class, f"{title}: examples, and mean × {CURVES} (thick)")
    ax.set_xticks([1, *range(20, at[-1] + 1, 20)])
    ax.set_xlabel("predictor")
    return ax


def _middles(low: float, high: float) -> NDArray[np.float64]:
    """Return the centres of the pixels (PIXELS,) between `low` and `high`."""
    return low + (high - low) * (np.arange(PIXELS) + 0.5) / PIXELS


def _dress(ax: Axes, box: Box, names: Sequence[str], title: str) -> None:
    ax.set_xlim(*box[0])
    ax.set_ylim(*box[1])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(TICKS, steps=[1, 2, 5, 10]))
    if np.ptp(box[0]) == np.ptp(box[1]):
        ax.set_aspect("equal")
    style.label_x(ax, names[0])
    style.label_y(ax, names[1])
    set_title(ax, title)
    style.plain(ax, "y")
    ax.grid(False)


def _name_lines(
    ax: Axes, places: Sequence[float], of_class: Mapping[str, NDArray], title: str
) -> None:
    """Label the rows of examples by their classes; hide ticks and spines."""
    ax.set_yticks(places, labels=[f"class {name}" for name in of_class])
    ax.set_xticks([])
    ax.tick_params(length=0, labelcolor=style.ink(ax))
    ax.spines[:].set_visible(False)
    set_title(ax, title)
