"""What draws a fit in two panels: how it was grown, and its importances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from odrf import plots
from odrf.results.fitted import FittedResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Drawing", "Panelled"]

Drawing = tuple[str, Callable[[Any], object]]


class Panelled(FittedResults):
    """The part of the results of several trees that draws them."""

    def plot(self, kind: str | None = None, *, ax: Axes | NDArray | None = None) -> Axes | NDArray:
        """Draw how the fit was grown, or the importances of predictors.

        Parameters
        ----------
        kind : str, optional
            ``"importance"``, or how it was grown: ``"error"`` of a forest, its out-of-bag error
            against the number of trees; ``"loss"`` of boosted trees, its path; ``"growth"`` of a
            guided forest, how planes purify the regions.  By default both, side by side.
        ax : Axes, optional
            Where to draw; an array of two for both.  By default on a new figure.

        Returns
        -------
        Axes or array of Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or `ax` holds another number of axes.
        """
        name, draw = self._drawing()
        drawings = {
            name: draw,
            "importance": lambda panel: plots.plot_importance(self.importance()["share"], panel),
        }
        return plots.draw_panels(drawings, kind, ax)

    @abstractmethod
    def _drawing(self) -> Drawing:
        """Return what the picture of its growth is called, and what draws it on axes."""
