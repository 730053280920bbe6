"""Shares of pixels in the splits, as images or curves."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.plots.elements.style import ACCENT, HEAT, MUTED, ink, new_panels, plain

__all__ = ["plot_pixels"]

SIDE = 3.4
LABEL = "share of splits"


def plot_pixels(shares: NDArray[np.float64], ax: Axes | NDArray | None = None) -> Axes | NDArray:
    """Plot one image for each channel, all on one scale; a series as a curve.

    Parameters
    ----------
    shares : (C, H, W) float64
        Series have H = 1; the channels of a series are drawn as the rows of one image.
    ax : Axes or array of Axes, optional
        One, or C for images of several channels.  By default those of a new figure.

    Returns
    -------
    Axes or array of Axes
        One, or C for images of several channels.
    """
    C, H, _ = shares.shape
    count = 1 if H == 1 else C
    panels = _panels(count, H) if ax is None else np.ravel(np.asarray(ax, dtype=object))
    if len(panels) != count:
        raise InputError(f"ax holds {len(panels)} axes: {count} are drawn on")
    if H == 1 and C == 1:
        _curve(shares[0, 0], panels[0])
    elif H == 1:
        image = _image(shares[:, 0], shares.max(), panels[0])
        panels[0].set_aspect("auto")
        panels[0].set_xlabel("point of the series")
        panels[0].set_ylabel("channel")
        _bar(image, panels)
    else:
        for channel, panel in enumerate(panels):
            image = _image(shares[channel], shares.max(), panel)
            panel.set_xlabel("column")
            if C > 1:
                panel.set_title(f"channel {channel}", fontsize="medium", color=ink(panel))
        panels[0].set_ylabel("row")
        _bar(image, panels)
    return panels[0] if count == 1 else panels


def _panels(count: int, height: int) -> NDArray:
    if height == 1:
        return new_panels(1)
    size = (SIDE * count + 1.0, SIDE + 0.3)
    _, panels = plt.subplots(1, count, figsize=size, layout="constrained")
    return np.atleast_1d(panels)


def _curve(share: NDArray[np.float64], ax: Axes) -> None:
    ax.fill_between(np.arange(len(share)), share, step="mid", color=ACCENT, alpha=0.15, linewidth=0)
    ax.step(np.arange(len(share)), share, where="mid", color=ACCENT, linewidth=1.2)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("point of the series")
    ax.set_ylabel(LABEL)
    plain(ax, "y")


def _image(shares: NDArray[np.float64], largest: float, ax: Axes) -> AxesImage:
    image = ax.imshow(
        shares, cmap=HEAT, vmin=0, vmax=largest or 1.0, aspect="equal", interpolation="nearest"
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
    ax.spines[:].set_color(MUTED)
    ax.tick_params(colors=MUTED, labelcolor=ink(ax))
    return image


def _bar(image: AxesImage, panels: NDArray) -> None:
    bar = panels[0].figure.colorbar(image, ax=list(panels))
    bar.set_label(LABEL, color=ink(bar.ax))
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=MUTED, labelcolor=ink(bar.ax))
