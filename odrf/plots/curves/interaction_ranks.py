"""Strengths of interactions, ranked, beside what noise alone reaches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from odrf.plots.elements.lettering import label_x, named_rows
from odrf.plots.elements.style import ACCENT, MUTED, faint, named_panel, plain
from odrf.text.names import shortened_names

__all__ = ["plot_interactions"]

MOST = 30
LEGEND_ROWS = 2
# Characters of a row's name, divided among its variables.
NAME = 36


def plot_interactions(
    names: Sequence[Sequence[str]], table: pd.DataFrame, ax: Axes | None = None
) -> Axes:
    """Plot the strength of each interaction as a dot, and the noise as a line.

    Parameters
    ----------
    names : sequence of one or two names for each row
    table : DataFrame
        Columns ``strength``, falling, and ``noise``, if known; the first 30 rows are drawn.
    ax : Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Axes
    """
    shown = table.head(MOST)
    ax = named_panel(len(shown) + LEGEND_ROWS) if ax is None else ax
    at = np.arange(len(shown))[::-1]
    ax.hlines(at, 0, shown["strength"], color=faint(ax), linewidth=2, zorder=1)
    noise = float(table["noise"].iloc[0]) if "noise" in table else -1.0
    above = (shown["strength"] > noise).to_numpy()
    ax.plot(shown["strength"][above], at[above], "o", color=ACCENT, markersize=6)
    ax.plot(shown["strength"][~above], at[~above], "o", mfc="white", mec=ACCENT, markersize=6)
    if noise >= 0:
        ax.axvline(noise, color=MUTED, linestyle="--", linewidth=1.2, label="permuted responses")
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    several = max(map(len, names))
    distinct = list(dict.fromkeys(name for pair in names for name in pair))
    short = dict(zip(distinct, shortened_names(distinct, NAME // several - 2), strict=True))
    beside = named_rows(
        ax, [" × ".join(short[name] for name in pair) for pair in names[:MOST]], NAME
    )
    note = f" (first {MOST} of {len(table)})" if len(table) > MOST else ""
    ax.xaxis.set_major_locator(MaxNLocator(5))
    # room for dots at 0
    ax.set_xlim(left=-0.02 * max(float(shown["strength"].max()), noise, 0.0) or None)
    label_x(ax, f"strength of the interaction{note}", beside)
    plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
