"""Result of `learning_curve`: mean errors and the power law fitted to them."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import is_number
from odrf.errors import InputError
from odrf.evaluation.metrics import Metric
from odrf.evaluation.power_law import (
    FASTEST,
    SLOWEST,
    PowerLaw,
    bootstrap_levels,
    bootstrap_power_laws,
    fit_power_law,
)
from odrf.public import public
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LearningCurve"]

DRAWS, LEVEL = 200, 0.95
EXTRAPOLATION = 10.0
POINTS = 60


@public
class LearningCurve(Carded):
    """Errors of models against the number of training rows.  Made by `odrf.learning_curve`.

    Parameters
    ----------
    errors : DataFrame
        One row for each repeat and number of training rows n; one column for each model.
    metric : Metric
    formula : str
    n_test : int
        Number of test rows; if repeats have different numbers, the largest.
    seed : int

    Attributes
    ----------
    errors : DataFrame
        The error of each model (columns) in each repeat at each n.  Indexed by ``repeat``, from 1,
        and ``n``.
    metric : Metric
    formula : str
    n_test, seed : int
    """

    def __init__(
        self, errors: pd.DataFrame, metric: Metric, formula: str, n_test: int, seed: int
    ) -> None:
        self.errors, self.metric, self.formula = errors, metric, formula
        self.n_test, self.seed = n_test, seed

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.errors.columns)

    @property
    def n(self) -> NDArray[np.float64]:
        """Numbers of training rows (k,)."""
        return self.errors.index.get_level_values("n").unique().to_numpy(dtype=float)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Mean error, ``error``, and its standard error over repeats, ``std_error``.

        Indexed by ``model`` and ``n``.  The standard error is NaN if there is one repeat only.
        """
        groups = self.errors.stack().groupby(level=["model", "n"], sort=False)
        return pd.DataFrame({"error": groups.mean(), "std_error": groups.sem()})

    @cached_property
    def law(self) -> pd.DataFrame:
        """The power law a + b·n^(-c) of each model, with 95 % intervals for a and c.

        Columns ``a``, ``b``, ``c``, ``a_conf_low``, ``a_conf_high``, ``c_conf_low`` and
        ``c_conf_high``.  The intervals are bootstrap intervals over repeats, with percentiles that
        allow for few of them.  With such percentiles an interval for a mean of 5 normal values
        contains the true mean with a probability of about 90 % instead of 95 %, of 10 or more with
        nearly 95 % (``tests/evaluation/test_power_law.py``).  The intervals reflect how the rows
        were divided into training and test rows, not how the table was sampled.  They are NaN if
        there is one repeat only.
        """
        lines = []
        for model in self.models:
            law, resampled = self._laws[model], self._bootstrap_laws[model]
            low_a, high_a = self._interval([drawn.a for drawn in resampled])
            low_c, high_c = self._interval([drawn.c for drawn in resampled])
            lines.append((*law, low_a, high_a, low_c, high_c))
        names = ["a", "b", "c", "a_conf_low", "a_conf_high", "c_conf_low", "c_conf_high"]
        return pd.DataFrame(lines, index=pd.Index(self.models, name="model"), columns=names)

    @cached_property
    def _laws(self) -> dict[str, PowerLaw]:
        return {model: fit_power_law(self.n, self._of(model).mean(axis=0)) for model in self.models}

    @cached_property
    def _bootstrap_laws(self) -> dict[str, list[PowerLaw]]:
        return {
            model: bootstrap_power_laws(self.n, self._of(model), DRAWS, self.seed)
            for model in self.models
        }

    def _interval(self, values: list[float] | NDArray[np.float64]) -> tuple[NDArray, NDArray]:
        """Return the ends of the bootstrap interval of values by draws, along their first axis."""
        if self._repeats == 1:
            unknown = np.nan * np.mean(values, axis=0)
            return unknown, unknown
        levels = bootstrap_levels(self._repeats, LEVEL)
        low, high = np.quantile(np.asarray(values), levels, axis=0)
        return low, high

    @property
    def _repeats(self) -> int:
        return len(self.errors) // len(self.n)

    def _of(self, model: str) -> NDArray[np.float64]:
        """Return the errors (repeats, k) of a model."""
        return self.errors[model].to_numpy().reshape(-1, len(self.n))

    def extrapolate(self, n: float) -> pd.DataFrame:
        """Return the error that the power law gives for each model at n rows.

        Parameters
        ----------
        n : float
            The number of training rows.

        Returns
        -------
        DataFrame
            One row for each model; columns ``error``, and ``conf_low`` and ``conf_high``, the ends
            of a 95 % bootstrap interval over repeats, NaN if there is one repeat only.

        Raises
        ------
        InputError
            If n is not a finite number above 0.
        """
        if not is_number(n) or not 0 < float(n) < math.inf:
            raise InputError(f"n={n!r}: use a number of rows above 0")
        lines = [
            (
                float(self._laws[model].error(n)),
                *self._interval([float(law.error(n)) for law in self._bootstrap_laws[model]]),
            )
            for model in self.models
        ]
        index = pd.Index(self.models, name="model")
        return pd.DataFrame(lines, index=index, columns=["error", "conf_low", "conf_high"])

    def summary(self) -> Summary:
        """Return errors, power law and its extrapolation to ten times the rows, as a summary."""
        most = float(self.n.max())
        sections = {
            "Power law: error = a + b·n^(-c)": self.law.dropna(axis=1, how="all"),
            f"At n = {EXTRAPOLATION * most:.0f}, ten times the rows": self.extrapolate(
                EXTRAPOLATION * most
            ).dropna(axis=1, how="all"),
            "Mean errors": self.table["error"].unstack("n")[[int(n) for n in self.n]],
        }
        notes = ["Intervals are 95 % bootstrap intervals over repeats."]
        if self._repeats == 1:
            notes = ["There are no intervals, because there is one repeat only."]
        ends = [name for name, law in self._laws.items() if law.is_at_an_end]
        if ends:
            notes.append(
                f"c is sought from {SLOWEST} to {FASTEST:g}, and is at an end of this range for "
                f"{', '.join(map(str, ends))}: do not rely on that law for more rows."
            )
        call = f"learning_curve({self.formula!r}, data, …, seed={self.seed})"
        return Summary("Learning curve", call, self._facts(), sections, tuple(notes))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw errors and power laws against n, on logarithmic axes, up to ten times the rows.

        If a mean error is 0, the axis of the errors is linear.  Bars are one standard error to
        either side; bands are 95 % bootstrap intervals.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
        """
        n = np.geomspace(self.n.min(), EXTRAPOLATION * self.n.max(), POINTS)
        curves = {}
        for model in self.models:
            low, high = self._interval(
                np.array([law.error(n) for law in self._bootstrap_laws[model]])
            )
            curves[model] = pd.DataFrame(
                {"n": n, "error": self._laws[model].error(n), "conf_low": low, "conf_high": high}
            )
        return plots.plot_learning(self.table, curves, self.metric.words, ax)

    def _card(self) -> Card:
        law = self.law.dropna(axis=1, how="all")
        return Card("Learning curve: error = a + b·n^(-c)", self._facts(), law)

    def _facts(self) -> dict[str, str]:
        return {
            "Metric": self.metric.words,
            "Test rows": str(self.n_test),
            "Training rows": f"{self.n.min():.0f} to {self.n.max():.0f}",
            "Repeats": str(self._repeats),
        }
