"""Training rows in the plane, coloured by the response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from odrf.plots import style
from odrf.text.names import shortened_names

SEEN = LinearSegmentedColormap.from_list("seen", style.HEAT([0.2, 0.5, 1.0]))
MARKERS = "os^Dvp*X"
MOST_CHARACTERS = 24
# inches: a further column of names
COLUMN = 1.8
SMALLEST, LARGEST, ROWS_OF_LARGE_DOTS = 5.0, 24.0, 400


def plot_row_map(
    table: pd.DataFrame, response: str, classes: Sequence[Any] | None,
    explained: tuple[float, float], ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Plot rows at coordinates ``first``, ``second``, coloured by the response."""
    if ax is None:
        beside = COLUMN * (style.legend_columns(len(classes)) - 1) if classes is not None else 0.0
        ax = style.one_panel(None, style.WIDTH + beside)
    size = min(LARGEST, max(SMALLEST, LARGEST * ROWS_OF_LARGE_DOTS / max(len(table), 1)))
    x, y, values = table["first"], table["second"], table[response]
    if classes is None:
        dots = ax.scatter(x, y, c=values, s=size, cmap=SEEN, linewidths=0)
        bar = ax.figure.colorbar(dots, ax=ax, format=style.PlainNumbers())
        bar.set_label(shortened_names([response], MOST_CHARACTERS)[0], parse_math=False)
        bar.outline.set_visible(False)
    else:
        names = shortened_names([str(label) for label in classes], MOST_CHARACTERS)
        for code, (value, name) in enumerate(zip(classes, names, strict=True)):
            of_class = (values == value).to_numpy()
            colour = style.CLASSES[code % len(style.CLASSES)]
            marker = MARKERS[code // len(style.CLASSES) % len(MARKERS)]
            at = x[of_class], y[of_class]
            label = style.in_legend(name)
            ax.scatter(*at, s=size, label=label, linewidths=0, color=colour, marker=marker)
        style.legend_as_written(
            ax, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5),
            ncols=style.legend_columns(len(names)),
        )  # fmt: skip
    first = f"first coordinate ({explained[0]:.0%} of squared distances)"
    second = f"second coordinate ({explained[1]:.0%})"
    style.finish(ax, first, second, "Rows that share leaves are near")
    return ax
