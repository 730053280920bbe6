"""Plots of results for times to an event."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import is_word, require_default
from odrf.fits.responses import require_out_of_bag
from odrf.fits.survival.fit import error_by_trees
from odrf.reports.survival.curves import drawn_risk_groups
from odrf.results.survival.survival_importances import SurvivalImportances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PlottedSurvivalResults"]

CURVES, IMPORTANCE, ERROR = "curves", "importance", "error"
# Predictors that a plot shows.
ROWS = 15


class PlottedSurvivalResults(SurvivalImportances):
    """Base class of results for times to an event with plots."""

    @property
    def error_path(self) -> pd.Series:
        """Out-of-bag error of the first trees, 1 - Harrell's C, by their number.

        It is computed at up to 16 numbers of trees, about equally far apart on a logarithmic scale,
        over the rows that some of these trees did not draw; missing where none can be compared.

        Raises
        ------
        InputError
            If every tree uses all rows.
        """
        require_out_of_bag(self.fit, "Errors by the number of trees")
        if "_error_path" not in vars(self):
            self._error_path = error_by_trees(self.fit, self._unseen)
        return self._error_path.copy()

    def plot(
        self,
        kind: str | None = None,
        *,
        ax: Axes | NDArray | None = None,
        type: str | None = None,
        cause: str | None = None,
        progress: bool = False,
    ) -> Axes | NDArray:
        """Plot predicted curves beside observed ones, the importances of predictors, or both.

        Parameters
        ----------
        kind : {"curves", "importance", "error"}, optional
            - ``"curves"``: the training rows in four groups of similar risk, as predicted out of
              bag: the mean of their predicted survival, and their Kaplan–Meier curve with 95%
              limits, pointwise.  Below the axis the numbers of rows at risk in each group.  Times
              go to the last event at which a tenth of the rows is at risk.  Of one cause, the
              groups are of similar risk of this one, and the curves are its incidence, predicted
              and by the Aalen–Johansen estimate.
            - ``"importance"``: the importances, with intervals if they are by permutation.
            - ``"error"``: 1 - Harrell's C of the first trees, out of bag, by their number.

            By default two panels: the curves, and the importances.
        ax : Axes or array of two Axes, optional
            Where to draw.  By default on a new figure.
        type : str, optional
            Which importances, as in `importance`.
        cause : str, optional
            The cause that is judged, if events have several: by the curves, by default the one that
            splits are about, or all; by the importances, as in `importance`.
        progress : bool, default False
            Show a progress bar while the importances are computed.

        Returns
        -------
        Axes or array of Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or `type` or `cause` is given and it does not show them; if there
            is no such `cause`; if `ax` has another number of axes.
        """
        if kind is not None and not is_word(kind, IMPORTANCE):
            require_default("type", type, None, f'kind="{IMPORTANCE}"')
            if not is_word(kind, CURVES):
                require_default("cause", cause, None, f'kind="{CURVES}" and kind="{IMPORTANCE}"')
        draw = partial(self._plot_importance, type=type, cause=cause, progress=progress)
        if ax is None and is_word(kind, IMPORTANCE):
            # a figure of its own is as high as its rows need
            return draw(None)
        drawings: dict[str, Callable[[Any], object]] = {
            CURVES: partial(self._plot_curves, cause=cause),
            IMPORTANCE: draw,
        }
        if kind is not None:
            drawings[ERROR] = lambda panel: plots.plot_error(self.error_path, panel)
        return plots.draw_panels(drawings, kind, ax)

    def _plot_curves(self, ax: Axes | None, cause: str | None) -> Axes:
        cause = self.fit.control.cause if cause is None else str(cause)
        return drawn_risk_groups(self._judging(None, cause), ax, cause)

    def _plot_importance(
        self, ax: Axes | None, type: str | None, cause: str | None, progress: bool
    ) -> Axes:
        measured = self._measured_importance(type, cause, progress)
        shown, P = measured.table.head(ROWS), len(measured.table)
        if "conf_low" not in shown:
            return plots.plot_importance(
                measured.table["share"], f"share of {measured.measure}", ax
            )
        numbers = shown.rename(columns={"importance": "estimate"})
        labels = pd.DataFrame({"predictor": shown.index})
        drawn = plots.plot_effects(labels, numbers, measured.measure, 0.0, ax)
        if P > ROWS:
            drawn.set_xlabel(f"estimate (first {ROWS} of {P})")
        return drawn
