"""Plots of a fit in two panels, its growth and its importances; arguments of drawn trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_whole, is_word, require_default
from odrf.public import public_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawing = tuple[str, Callable[[Any], object]]
IMPORTANCE, TREE = "importance", "tree"
# What is written in the boxes of a drawn tree by default.
MOST_TERMS, DIGITS = 3, 3


class Panels(Protocol):
    """Results that plot their growth and their importances."""

    def _plot_importance(self, ax: Axes | None, progress: bool, type: str | None = None) -> Axes:
        """Draw the importances of a type, or those that are shown first."""

    def _drawing(self) -> Drawing:
        """Return the name of the plot of the growth, and the function that draws it on axes."""


@public_method
def plot(
    self: Panels,
    kind: str | None = None,
    *,
    ax: Axes | NDArray | None = None,
    type: str | None = None,
    progress: bool = False,
) -> Axes | NDArray:
    """Plot the growth of the fit, the importances of its predictors, or both.

    Parameters
    ----------
    kind : str, optional
        ``"importance"``: the importances.  ``"error"``, for forests of `odrf.odrf`: the
        out-of-bag error against the number of trees.  ``"loss"``, for boosted trees: the loss
        against the number of rounds.  ``"growth"``, for guided forests: the impurity against
        the number of planes.  ``"parts"``, for `odrf.auto`: errors and weights of the models.
        By default two panels: this one, and the importances.
    ax : Axes or array of two Axes, optional
        Where to draw.  By default on a new figure.
    type : str, optional
        Which importances, as in `importance`; tests are drawn with their intervals.  By default
        those of the summary.
    progress : bool, default False
        Show a progress bar while the importances are computed.

    Returns
    -------
    Axes or array of Axes

    Raises
    ------
    InputError
        If `kind` is unknown, or shows no importances and a `type` of them is given; if `ax` has
        another number of axes.
    """
    if kind is not None and not is_word(kind, IMPORTANCE):
        require_default("type", type, None, f'kind="{IMPORTANCE}"')
    if ax is None and is_word(kind, IMPORTANCE):
        # a figure of its own is as high as its rows need
        return self._plot_importance(None, progress, type)
    name, draw = self._drawing()
    drawings: dict[str, Callable[[Any], object]] = {
        name: draw,
        IMPORTANCE: partial(self._plot_importance, progress=progress, type=type),
    }
    return plots.draw_panels(drawings, kind, ax)


def check_drawn_tree(kind: str, max_depth: int | None, max_terms: int, digits: int) -> None:
    """Raise `InputError` if a plot of `kind` is no tree, and ignores an argument that is given.

    Also if a number is below 1.
    """
    if kind != TREE:
        used = f'kind="{TREE}"'
        require_default("max_depth", max_depth, None, used)
        require_default("max_terms", max_terms, MOST_TERMS, used)
        require_default("digits", digits, DIGITS, used)
    checked_whole("max_depth", 1 if max_depth is None else max_depth, 1)
    checked_whole("max_terms", max_terms, 1)
    checked_whole("digits", digits, 1)
