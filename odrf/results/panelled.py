"""Plots of a fit in two panels: its growth, and its importances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from odrf import plots
from odrf.checks import is_word, require_default
from odrf.results.fitted import FittedResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Drawing", "Panelled"]

Drawing = tuple[str, Callable[[Any], object]]

IMPORTANCE = "importance"


class Panelled(FittedResults):
    """Base class of results that plot their growth and their importances."""

    def plot(
        self,
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

    @abstractmethod
    def _drawing(self) -> Drawing:
        """Return the name of the plot of the growth, and the function that draws it on axes."""
