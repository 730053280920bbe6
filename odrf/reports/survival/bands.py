"""Predicted curves of rows with their confidence intervals and bands."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_part, is_list
from odrf.errors import InputError
from odrf.fits.effects import trees_vary
from odrf.fits.intervals import warn_of_few_trees
from odrf.fits.predicting import RowsToPredict, spread_numbers
from odrf.fits.survival.curves import (
    PredictedRows,
    checked_times,
    curve_errors,
    warn_of_later_times,
)
from odrf.fits.survival.fit import SurvivalFit
from odrf.fits.survival.hazards import cause_numbers
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.reports.effects import notes_on_errors
from odrf.reports.survival.curves import ROWS, of_first_rows, rows_and_times
from odrf.statistics.effects import reach_in_errors
from odrf.statistics.jackknife import distinguishes_rows
from odrf.statistics.survival.curves import limits_of_probability
from odrf.text.layouts import percentage
from odrf.text.splits import number
from odrf.text.summary import Card, Report, evenly_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Rows that are drawn, and times that are shown.
DRAWN, TIMES = 3, 5


@public
@dataclass(frozen=True, eq=False, repr=False)
class SurvivalBands(Report):
    """Predicted survival curves of rows, or incidences of a cause, with intervals and bands.

    Returned by `bands` of survival forests.

    Attributes
    ----------
    call : str
    rows : Index of m labels
    times : (G,) float64
        Ascending.
    estimate, std_error : (m, G) float64
        Predicted survival, or incidence of the cause, and its standard error over training samples.
    alone : float
        The number of standard errors that intervals reach up and down, on the scale of
        log(-log S); of an incidence F it is log(-log(1 - F)).
    reach : (m,) float64
        The number of standard errors that bands reach, on the same scale.
    level : float
    notes : tuple of str
        What to know of the standard errors.
    cause : str or None
        The cause of an incidence; None: survival.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.hazard_jump(p=3).sample(300, seed=1)
    >>> forest = odrf.odrf(
    ...     "Surv(time, event) ~ .", data, n_trees=300, inference=True, seed=1
    ... )
    >>> found = forest.bands(data.head(2), times=[0.2, 0.5])
    >>> found.table.columns.tolist()[:4]
    ['row', 'time', 'estimate', 'std_error']
    >>> bool((found.table["band_low"] <= found.table["conf_low"]).all())
    True
    """

    call: str
    rows: pd.Index
    times: NDArray[np.float64]
    estimate: NDArray[np.float64]
    std_error: NDArray[np.float64]
    alone: float
    reach: NDArray[np.float64]
    level: float
    notes: tuple[str, ...] = ()
    cause: str | None = None

    @cached_property
    def _ends(self) -> dict[str, NDArray[np.float64]]:
        """The ends (m, G) of intervals and bands."""
        normal = reach_in_errors(self.level)
        low, high = self._limits(np.full_like(self.reach, self.alone / normal))
        band_low, band_high = self._limits(self.reach / normal)
        # survival that never rises is inside a band only if it is inside this one
        band_low = np.maximum.accumulate(band_low[:, ::-1], axis=1)[:, ::-1]
        band_high = np.minimum.accumulate(band_high, axis=1)
        low, high = np.maximum(low, band_low), np.minimum(high, band_high)
        if self.cause is not None:
            low, high, band_low, band_high = 1 - high, 1 - low, 1 - band_high, 1 - band_low
        return {"conf_low": low, "conf_high": high, "band_low": band_low, "band_high": band_high}

    def _limits(self, wider: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return the ends (m, G) of intervals (m,) times wider, of survival or 1 - incidence.

        That all trees agree does not make the estimate certain: then nothing is known of this time.
        """
        variance = (self.std_error * wider[:, None]) ** 2
        survival = self.estimate if self.cause is None else 1 - self.estimate
        low, high = limits_of_probability(survival, variance, self.level)
        agree = (self.std_error == 0) & (self.times > 0)
        return np.where(agree, 0.0, low), np.where(agree, 1.0, high)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A line for each row and time.

        Columns: ``row``, its label; ``time``; ``estimate``, the survival or the incidence;
        ``std_error``; ``conf_low`` and ``conf_high``, an interval for this time alone; ``band_low``
        and ``band_high``, which together cover the curve of the row at all times.  Bands of
        survival never rise and those of incidences never fall, as curves do, and intervals are
        inside them.  Where all trees agree, the standard error is 0, which does not make the
        estimate certain: ends are then those of the next times that tell more, or 0 and 1.
        """
        m, G = self.estimate.shape
        columns = {"estimate": self.estimate, "std_error": self.std_error, **self._ends}
        return pd.DataFrame(
            {
                "row": np.repeat(self.rows.to_numpy(), G),
                "time": np.tile(self.times, m),
                **{name: values.ravel() for name, values in columns.items()},
            }
        )

    def plot(self, rows: Sequence[Any] | None = None, *, ax: Axes | None = None) -> Axes:
        """Plot curves with their intervals (dark) and their simultaneous bands (light).

        Parameters
        ----------
        rows : list, optional
            Labels of the rows that are drawn.  By default the first three.
        {about ax}

        Raises
        ------
        InputError
            If a label is none of the rows, or there is no row.
        """
        curves: dict[str, tuple[NDArray[np.float64], ...]] = {}
        for i in dict.fromkeys(self._chosen(rows)):
            # rows may have the same label
            repeated = sum(self.rows[i] == self.rows[k] for k in range(i))
            name = f"{self.rows[i]} ({repeated + 1})" if repeated else str(self.rows[i])
            curves[name] = (self.estimate[i], *(ends[i] for ends in self._ends.values()))
        return plots.survival.plot_survival_bands(self.times, curves, ax, self.cause)

    def _chosen(self, rows: Any) -> list[int]:
        if rows is None:
            return list(range(min(DRAWN, len(self.rows))))
        labels = list(rows) if is_list(rows) or isinstance(rows, pd.Index) else [rows]
        place = {label: i for i, label in reversed(list(enumerate(self.rows)))}
        for label in labels:
            if not isinstance(label, Hashable) or label not in place:
                raise InputError(f"rows={label!r} is no label of a row: see table")
        if not labels:
            raise InputError("rows=[] names no row: leave it out for the first ones")
        return [place[label] for label in labels]

    def _sections(self) -> dict[str, pd.DataFrame]:
        what = "Survival" if self.cause is None else f"Incidence of {self.cause}"
        title = f"{what} by time{of_first_rows(len(self.rows))}"
        return {title: self._shown.drop(columns=["std_error"])}

    def _notes(self) -> tuple[str, ...]:
        return self.notes

    @property
    def _title(self) -> str:
        of = "Survival curves" if self.cause is None else f"Incidences of {self.cause}"
        return f"{of} with bands"

    @property
    def _shown(self) -> pd.DataFrame:
        """Some of the times of the first rows."""
        G = len(self.times)
        some = evenly_spread(G, TIMES)
        first = np.arange(min(ROWS, len(self.rows)))
        return self.table.iloc[(first[:, None] * G + some).ravel()]

    def _facts(self) -> dict[str, str]:
        known = self.reach[~np.isnan(self.reach)]
        reach = f"{number(float(known.mean()), 3)} standard errors" if len(known) else "unknown"
        of_curves = rows_and_times(len(self.rows), self.times.tolist())
        return of_curves | {"Level": percentage(self.level), "Reach of bands": reach}

    def _card(self) -> Card:
        columns = ["row", "time", "estimate", "std_error", "conf_low", "conf_high"]
        return Card(self._title, self._facts(), self._shown[columns], kept=())


# Times of a curve by default.
MOST_TIMES = 50


def bands_of(
    rows: RowsToPredict, unseen: NDArray[np.bool_] | None, times: Any, cause: Any, level: float,
    progress: bool,
) -> SurvivalBands:  # fmt: skip
    """Return the curves of rows with their bands.

    `unseen` (B, n): the trees that predict each row; None: all.
    """
    fit = cast(SurvivalFit, rows.fit)
    level = checked_part("level", level)
    causes = fit.design.response.causes
    number = None if cause is None else int(cause_numbers(cause, causes)[0])
    notes = notes_on_errors(fit)
    if not trees_vary(fit) or not distinguishes_rows(fit.draws, unseen is not None):
        reason = notes[0] if not trees_vary(fit) else "fit with a lower sample_fraction."
        raise InputError(
            f"bands() compares trees that sampled other rows: {reason.removesuffix('.')}"
        )
    at = (
        fit.event_times[evenly_spread(len(fit.event_times), MOST_TIMES)]
        if times is None
        else np.unique(checked_times(times, fit.event_times))
    )
    warn_of_later_times(at, fit)
    with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
        errors_of_curves = curve_errors(
            PredictedRows(fit, rows.X, unseen), at, level, number, bar.update
        )
    warn_of_few_trees(fit, errors_of_curves.trees_advised)
    estimate, std_error = (
        spread_numbers(values, rows.complete)
        for values in (errors_of_curves.estimate, errors_of_curves.std_error)
    )
    reach = spread_numbers(errors_of_curves.reach, rows.complete)
    named = None if number is None else causes[number]
    errors = std_error, errors_of_curves.alone, reach
    return SurvivalBands(fit.call, rows.index, at, estimate, *errors, level, notes, named)
