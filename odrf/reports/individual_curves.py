"""Curves of single rows: what partial dependence is the mean of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_truth, checked_whole
from odrf.design.encoding import LevelsSaidOnce, unseen_levels_expected
from odrf.errors import InputError, nearest
from odrf.fits.curves import curves_of_rows, some_rows
from odrf.fits.fit import AnyFit, raw_rows
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.reports.curves import PlainCurves, axes_of
from odrf.statistics.curves import VariablePoints
from odrf.text.summary import Card

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 100_000


@public
@dataclass(frozen=True, eq=False, repr=False)
class IndividualCurves(PlainCurves):
    """How the prediction of each of some rows depends on one variable.

    Returned by `ice` of all results.

    Attributes
    ----------
    call, response : str
    classes : Index or None
    axis : VariablePoints
        The variable, its G points, and where the rows are.
    frame : DataFrame of m rows
        The variables of the rows.
    predicted : (m, G, K) float64
        The curves; K is 1, or the number of classes.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> fit = odrf.odrf("progression ~ .", data, n_trees=50, seed=1)
    >>> fit.ice("bmi", points=5, rows=3).table.shape
    (15, 3)
    """

    _title = "Curves of single rows"

    axis: VariablePoints
    frame: pd.DataFrame
    predicted: NDArray[np.float64]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each curve and point; for classes, for each class, curve and point.

        Columns: ``row``, the label of the row; ``value`` of the variable; for classes ``class``;
        ``estimate``, the prediction.
        """
        m, G, _ = self.predicted.shape
        row, value = np.repeat(self.frame.index.to_numpy(), G), np.tile(self.axis.values, m)
        return self._of_classes(
            lambda k: {
                "row": row,
                "value": value,
                **self._label_of(k),
                "estimate": self.predicted[:, :, k].ravel(),
            }
        )

    @cached_property
    def _spread(self) -> pd.DataFrame:
        """Quantiles, over the rows, of the change of curves from the first point to the last."""
        lines = {}
        for k, name in enumerate(self._names()):
            curves = self.predicted[:, :, k]
            change = curves[:, -1] - curves[:, 0]
            low, middle, high = np.quantile(change, [0.1, 0.5, 0.9])
            lines[name] = {"10 %": low, "50 %": middle, "90 %": high}
        return pd.DataFrame.from_dict(lines, orient="index")

    def _facts(self) -> dict[str, str]:
        return {
            "Variable": self.axis.name,
            "Points": str(len(self.axis.values)),
            "Rows": str(len(self.frame)),
        }

    def _sections(self) -> dict[str, pd.DataFrame]:
        first, last = self.axis.labels[0], self.axis.labels[-1]
        return {f"Change from {first} to {last}: quantiles over the rows": self._spread}

    def plot(
        self, *, colour: str | None = None, centred: bool = False, of: Any = None,
        ax: Axes | None = None,
    ) -> Axes:  # fmt: skip
        """Plot a line for each row, and their mean.

        Lines that are not parallel show that the variable interacts with others.

        Parameters
        ----------
        colour : str, optional
            A variable whose values colour the lines, to see with which one.
        centred : bool, default False
            Let all lines begin at 0: then only their changes are seen.
        of : class, optional
            The class whose probability is drawn.  By default, of two classes the second; of more
            the one whose probability changes most.
        {about ax}

        Raises
        ------
        InputError
            If `colour` is no variable, or `of` no class.
        """
        named = isinstance(colour, str) and colour in self.frame.columns
        if colour is not None and not named:
            known = nearest(str(colour), self.frame.columns)
            raise InputError(f"colour={colour!r} is no variable of the fit{known}")
        k = self._class_drawn(of, lambda: np.ptp(self.predicted, axis=1).mean(axis=0))
        curves, scale = self.predicted[:, :, k], self._scale_of(k)
        if checked_truth("centred", centred):
            curves = curves - curves[:, :1]
            scale = f"change of {scale}"
        by = None if colour is None else self.frame[colour]
        return plots.curves.plot_individual(self.axis, curves, scale, by, ax)

    def _card(self) -> Card:
        title = f"Curves of {self.response} on {self.axis.name} for {len(self.frame)} rows"
        return Card(title, table=self.table, kept=())


def individual_curves(
    fit: AnyFit, variable: Any, values: Any, points: int | None, rows: int,
    newdata: pd.DataFrame | None, progress: bool,
) -> IndividualCurves:  # fmt: skip
    """Return the curves of some rows; the arguments are those of `ice` of the results."""
    if not isinstance(variable, str):
        raise InputError(f"variable={variable!r}: give the name of one variable")
    checked_whole("rows", rows, 1, MOST_ROWS)
    every = raw_rows(fit, newdata)
    which = np.arange(len(every.frame))
    if len(which) > rows:
        seed = np.random.SeedSequence(fit.control.seed, spawn_key=(0, 3))
        which = np.sort(np.random.default_rng(seed).choice(which, rows, replace=False))
    axis = axes_of(fit, every, [variable], values, points)[0]
    few = some_rows(every, which)
    # levels of the rows themselves: reading the rows has warned of these
    levels = unseen_levels_expected() if values is None else LevelsSaidOnce()
    with levels, progress_bar(total=len(which), unit="row", progress=progress) as bar:
        blocks = list(curves_of_rows(fit, few, {variable: axis.values}, bar.update))
    predicted = np.concatenate([block.predicted for block in blocks])
    drawn = VariablePoints(axis.name, axis.values, axis.numeric, axis.observed[which])
    response = fit.design.response
    return IndividualCurves(fit.call, response.name, response.classes, drawn, few.frame, predicted)
