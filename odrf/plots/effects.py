"""Estimates as points, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odrf.plots import style
from odrf.text.splits import number

MOST = 40
MARK: dict[str, Any] = {"color": style.ACCENT, "markersize": 5, "zorder": 3}
# Columns whose values need no name.
UNNAMED = ("term", "contrast", "class", "predictor")


def plot_effects(
    labels: pd.DataFrame, numbers: pd.DataFrame, words: str, null: float | None = None,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Plot each estimate as a point with its interval, the first on top.

    An infinite estimate is an arrow at the edge.  `labels`: what names each estimate; columns in
    which all rows are the same are in the title.  `null`: the value without an effect, a line.
    """
    shown = numbers.head(MOST)
    ax = style.named_panel(ax, len(shown))
    at = np.arange(len(shown))[::-1]
    if null is not None:
        style.reference(ax, x=null, zorder=1)
    values = shown[["conf_low", "conf_high", "estimate"]].to_numpy(dtype=np.float64)
    ax.plot(np.where(np.isfinite(values[:, 2]), values[:, 2], np.nan), at, "o", **MARK)
    ax.hlines(at, *_finite(values[:, :2]).T, color=style.ACCENT, linewidth=1.6, zorder=2)
    if np.isinf(values).any():
        _draw_infinite(ax, at, values)
    names, common = _names(labels.head(MOST))
    note = f" (first {MOST} of {len(numbers)})"
    style.finish_rows(ax, names, "estimate", note, len(numbers), most=40)
    style.title(ax, "; ".join(filter(None, (words, common))))
    ax.grid(axis="y", color=style.faint(ax), linewidth=0.4)
    return ax


def _finite(ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ends (M, 2) of intervals, NaN where one of them is not finite."""
    return np.where(np.isfinite(ends).all(axis=1, keepdims=True), ends, np.nan)


def _draw_infinite(ax: Axes, at: NDArray, values: NDArray[np.float64]) -> None:
    """Draw infinite ends of intervals, and infinite estimates, at the edges of the axes."""
    known = values[np.isfinite(values)]
    ax.update_datalim([(known.min(initial=np.inf), 0), (known.max(initial=-np.inf), 0)])
    ax.autoscale_view(scaley=False)
    edges = ax.get_xlim()
    low, high, estimate = np.clip(values, *edges).T
    rows = np.isinf(values[:, :2]).any(axis=1)
    ax.hlines(at[rows], low[rows], high[rows], color=style.ACCENT, linewidth=1.6, zorder=2)
    for marker, without_end in ((">", np.inf), ("<", -np.inf)):
        which = values[:, 2] == without_end
        ax.plot(estimate[which], at[which], marker, clip_on=False, **MARK)
    ax.set_xlim(edges)


def _names(labels: pd.DataFrame) -> tuple[list[str], str]:
    """Return in words what tells each row from the others, and what all rows have in common."""
    varying = [name for name in labels if labels[name].astype(str).nunique(dropna=False) > 1]
    varying = varying or list(labels)[:1]
    rest = [name for name in labels if name not in varying]
    rows = [_joined(varying, row) for row in labels[varying].to_numpy(dtype=object)]
    return rows, _joined(rest, labels[rest].iloc[0].to_numpy(dtype=object))


def _joined(names: Sequence[object], values: NDArray) -> str:
    """Return the values, those of columns of the data with their names."""
    words = (
        _as_text(value) if name in UNNAMED else f"{name} = {_as_text(value)}"
        for name, value in zip(names, values, strict=True)
    )
    return ", ".join(words)


def _as_text(value: Any) -> str:
    """Return a value as text, of a number ten digits."""
    if pd.isna(value):
        return "missing"
    return number(value, 10) if isinstance(value, float) else str(value)
