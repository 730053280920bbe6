"""Loss against the number of boosting rounds."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from odrf.options.boosting import mean_loss_in_words
from odrf.plots.elements.lettering import label_y
from odrf.plots.elements.style import ACCENT, CLASSES, MUTED, new_panels, plain, whole_numbers
from odrf.text.layouts import quantity

__all__ = ["plot_loss"]


def plot_loss(path: pd.DataFrame, kept: int, loss: str, ax: Axes | None = None) -> Axes:
    """Plot mean losses against the number of rounds, with a vertical line at the rounds kept.

    Parameters
    ----------
    path : DataFrame
        Mean losses by number of rounds: ``training``, and ``validation`` or ``out-of-bag``.
    kept : int
        Number of rounds kept.
    loss : str
        Name of the loss.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    ax = new_panels(1)[0] if ax is None else ax
    for name, colour in zip(path, (ACCENT, CLASSES[1]), strict=False):
        ax.plot(path.index, path[name], color=colour, linewidth=1.6, label=f"{name} rows")
    if kept < path.index[-1] or "validation" in path:
        ax.axvline(
            kept, color=MUTED, linewidth=1, linestyle=":", label=f"{quantity(kept, 'round')} kept"
        )
    ax.set_xlim(0, max(1, path.index[-1]))
    if not (path.to_numpy() < 0).any():  # likelihoods of times may be above 1
        ax.set_ylim(bottom=0)
    ax.set_xlabel("rounds")
    whole_numbers(ax)
    label_y(ax, f"mean loss ({mean_loss_in_words(loss)})")
    ax.legend(frameon=False)
    plain(ax, "y")
    return ax
