"""Plots of fits: errors by trees, rounds and planes, models of a stack, consistency, strength."""

from __future__ import annotations

import math
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.special import ndtri

from odrf.options.boosting import mean_loss_in_words
from odrf.plots import style
from odrf.text.layouts import quantity
from odrf.text.splits import number

# Four panels on consistency: rates in n, residual tails, leaf sizes, predictors per split.

CONSISTENCY_PANELS = 4
COLOURS = (style.ACCENT, "#d55e00")
MOST_PREDICTORS = 12


def plot_consistency(
    n: int, ratios: Mapping[str, tuple[float, ...]], tails: NDArray[np.float64] | None,
    leaf_sizes: NDArray[np.int64], per_split: NDArray[np.int64], axes: NDArray | None = None,
) -> NDArray:  # fmt: skip
    """Plot the four panels.

    `ratios`: quantities that must go to 0, by name, at n, 10·n, … rows.  `tails` (n,): sorted
    standardised residuals.  `per_split` (q,): number of splits that combine 1, 2, 3 … predictors.
    """
    panels = style.on_panels(
        axes, CONSISTENCY_PANELS, f"the report draws on {CONSISTENCY_PANELS}",
        lambda: plt.subplots(2, 2, figsize=(9.5, 7.5), layout="constrained")[1],
    )  # fmt: skip
    _draw_ratios(panels[0], n, ratios)
    _draw_tails(panels[1], tails)
    _draw_sizes(panels[2], leaf_sizes)
    _draw_predictors(panels[3], per_split)
    return panels


def _draw_ratios(ax: Axes, n: int, ratios: Mapping[str, tuple[float, ...]]) -> None:
    style.title(ax, "Must go to 0 as n grows")
    if not ratios:
        style.words_only(ax, "no option is a rule in n")
        return
    for (name, values), colour in zip(ratios.items(), COLOURS, strict=False):
        rows = n * 10.0 ** np.arange(len(values))
        ax.plot(rows, values, "o-", color=colour, markersize=3.5, linewidth=1.2, label=name)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("n")
    ax.legend(frameon=False)
    style.plain(ax, "y")


def _draw_tails(ax: Axes, tails: NDArray[np.float64] | None) -> None:
    style.title(ax, "Tails of the residuals")
    if tails is None:
        style.words_only(ax, "no residuals of a numeric response")
        return
    expected = ndtri((np.arange(len(tails)) + 0.5) / len(tails))
    ax.plot(expected, expected, color=style.MUTED, linewidth=1)
    ax.plot(expected, tails, "o", color=style.ACCENT, markersize=2.5)
    style.finish(
        ax, "quantiles of a normal distribution", "residuals, standardised by median and MAD"
    )


def _draw_sizes(ax: Axes, leaf_sizes: NDArray[np.int64]) -> None:
    style.title(ax, "Sizes of leaves")
    smallest, largest = max(1, leaf_sizes.min()), leaf_sizes.max()
    edges = np.unique(np.geomspace(smallest, largest + 1, 25).astype(int))
    edges = np.append(edges, largest + 1) if len(edges) < 2 else edges
    ax.hist(leaf_sizes, bins=list(edges - 0.5), color=style.ACCENT)
    style.log_scale(ax, "x")
    style.label_x(ax, "training rows in a leaf")
    ax.set_ylabel("leaves")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    style.plain(ax, "y")


def _draw_predictors(ax: Axes, per_split: NDArray[np.int64]) -> None:
    style.title(ax, "Predictors that a split combines")
    if not per_split.sum():
        style.words_only(ax, "no splits")
        return
    shown, note = per_split[:MOST_PREDICTORS].astype(float), ""
    if len(per_split) > MOST_PREDICTORS:
        shown[-1] += per_split[MOST_PREDICTORS:].sum()
        note = f" (last bar: {MOST_PREDICTORS} or more)"
    ax.bar(np.arange(1, len(shown) + 1), shown / per_split.sum(), color=style.ACCENT)
    style.label_x(ax, f"predictors{note}")
    ax.set_ylabel("share of splits")
    style.whole_numbers(ax)
    style.plain(ax, "y")


def plot_error(path: pd.Series, ax: Axes | None = None) -> Axes:
    """Plot the out-of-bag error of the first trees; the name of the `path` labels the axis."""
    ax = style.one_panel(ax)
    ax.plot(path.index, path.to_numpy(), color=style.ACCENT, linewidth=1.6)
    last = float(path.iloc[-1])
    words = "unknown" if math.isnan(last) else number(last, 3)
    ax.plot(
        path.index[-1:], [last], "o", color=style.ACCENT, markersize=5, clip_on=False,
        label=f"{words} with {quantity(int(path.index[-1]), 'tree')}",
    )  # fmt: skip
    ax.legend(frameon=False)
    return _counted(ax, path, "trees", str(path.name))


def _counted(ax: Axes, path: pd.Series | pd.DataFrame, what: str, y: str) -> Axes:
    """Let the horizontal axis count from 0 to the last label of the path."""
    ax.set_xlim(0, max(1, int(path.index[-1])))
    style.whole_numbers(ax)
    style.finish(ax, what, y)
    return ax


def plot_loss(path: pd.DataFrame, kept: int, loss: str, ax: Axes | None = None) -> Axes:
    """Plot mean losses against the number of rounds, with a vertical line at the rounds kept."""
    ax = style.one_panel(ax)
    for name, colour in zip(path, (style.ACCENT, style.CLASSES[1]), strict=False):
        ax.plot(path.index, path[name], color=colour, linewidth=1.6, label=f"{name} rows")
    if kept < path.index[-1] or "validation" in path:
        ax.axvline(
            kept, color=style.MUTED, linewidth=1, linestyle=":",
            label=f"{quantity(kept, 'round')} kept",
        )  # fmt: skip
    if not (path.to_numpy() < 0).any():  # likelihoods of times may be above 1
        ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return _counted(ax, path, "rounds", f"mean loss ({mean_loss_in_words(loss)})")


def plot_guided_growth(path: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the remaining impurity against the number of planes: ``mean``, ``low``, ``high``."""
    ax = style.one_panel(ax)
    style.draw_band(ax, path.index.to_numpy(), path["low"], path["high"], style.ACCENT, alpha=0.2)
    mark = "o" if len(path) == 1 else None
    ax.plot(
        path.index, path["mean"], color=style.ACCENT, linewidth=1.6, marker=mark, clip_on=not mark
    )
    ax.set_ylim(bottom=0)
    planes = "planes of a tree (mean, 80 % of the trees)"
    return _counted(ax, path, planes, "impurity left, as a share")


def plot_parts(parts: pd.DataFrame, together: float, words: str, ax: Axes | None = None) -> Axes:
    """Plot the out-of-bag error of each model as a dot, the larger the more weight it has.

    `together`: the error of the weighted mean, at which a vertical line is drawn.
    """
    ax = style.named_panel(ax, len(parts))
    errors, weights = parts["oob_error"], parts["weight"].to_numpy()
    at = style.stems(ax, errors)
    ax.scatter(errors, at, s=20 + 180 * weights, color=style.ACCENT, zorder=2)
    ax.axvline(together, color=style.MUTED, linewidth=1, linestyle=":", zorder=1)
    named = zip(parts.index, weights, strict=True)
    names = [f"{name} ({weight:.2f})" for name, weight in named]
    ax.set_xlim(left=0)
    style.finish_rows(
        ax, names, f"{words}; dotted: together; in brackets: weights", few_ticks=False
    )
    return ax


# Strength, correlation and error of forests, one panel each.

STRENGTH_PANELS = 3
LABELS = {
    "strength": "strength (mean margin)",
    "tree_error": "mean squared error of a tree",
    "correlation": "correlation of trees",
    "error": "out-of-bag error",
    "trees": "trees",
    "subset_size": "predictors in a subset",
}


def _numbers(sizes: pd.Series) -> NDArray[np.float64]:
    return pd.to_numeric(sizes, errors="coerce").fillna(-1.0).to_numpy(dtype=np.float64)


def plot_strength(table: pd.DataFrame, axes: NDArray | None = None) -> NDArray[np.object_]:
    """Plot strength (or tree error), correlation and error against trees or subset size."""
    why = f"strength is drawn on {STRENGTH_PANELS}"
    panels = style.on_panels(axes, STRENGTH_PANELS, why, lambda: style.new_panels(STRENGTH_PANELS))
    by, first = table.columns[0], table.columns[1]
    # sizes drawn at random are no number, and come first
    table = table.iloc[np.argsort(_numbers(table[by]), kind="stable")]
    at = np.arange(len(table)) if by == "subset_size" else table[by].to_numpy()
    for ax, name in zip(panels, (first, "correlation", "error"), strict=True):
        ax.plot(at, table[name], "o-", color=style.ACCENT, markersize=4, linewidth=1.2)
        style.label_y(ax, LABELS[name])
        style.label_x(ax, LABELS[by])
        if by == "trees":
            style.log_scale(ax, "x")
        else:
            ax.set_xticks(at, labels=[str(size) for size in table[by]])
        style.plain(ax, "y")
    bound = float(table["bound"].iloc[-1])
    if by == "trees" and bound < 2 * float(table["error"].max()):
        style.reference(panels[2], y=bound, label="bound for many trees")
        panels[2].legend(frameon=False)
    return panels
