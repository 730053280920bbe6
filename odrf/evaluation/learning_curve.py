"""A learning curve and its law."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.errors import InputError
from odrf.evaluation.metrics import Metric
from odrf.evaluation.power_law import PowerLaw, bootstrap_power_laws, fit_power_law
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LearningCurve"]

DRAWS, LEVEL = 200, 0.95
FARTHER = 10.0
POINTS = 60


class LearningCurve:
    """Errors of models against the number of training rows; `odrf.learning_curve` makes it.

    Parameters
    ----------
    errors : DataFrame
        A row for each repeat and number of rows n, a column for each model.
    metric : Metric
    formula : str
    n_test : int
        Rows that the models were judged on.
    seed : int

    Attributes
    ----------
    errors : DataFrame
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
        """Mean error and its standard error over repeats; index ``model`` and ``n``."""
        groups = self.errors.stack().groupby(level=["model", "n"], sort=False)
        return pd.DataFrame({"error": groups.mean(), "se": groups.sem()})

    @cached_property
    def law(self) -> pd.DataFrame:
        """The law a + b·n^(-c) of each model, with 95 % intervals for a and c.

        The intervals are from laws of repeats drawn with replacement, so that they say how far
        the division of the rows matters, not how far the table does.
        """
        lines = []
        for model in self.models:
            law, drawn = self._laws[model], self._drawn[model]
            low_a, high_a = _interval([other.a for other in drawn])
            low_c, high_c = _interval([other.c for other in drawn])
            lines.append((*law, low_a, high_a, low_c, high_c))
        names = ["a", "b", "c", "a_low", "a_high", "c_low", "c_high"]
        return pd.DataFrame(lines, index=pd.Index(self.models, name="model"), columns=names)

    @cached_property
    def _laws(self) -> dict[str, PowerLaw]:
        return {model: fit_power_law(self.n, self._of(model).mean(axis=0)) for model in self.models}

    @cached_property
    def _drawn(self) -> dict[str, list[PowerLaw]]:
        return {
            model: bootstrap_power_laws(self.n, self._of(model), DRAWS, self.seed)
            for model in self.models
        }

    def _of(self, model: str) -> NDArray[np.float64]:
        """Return the errors (repeats, k) of a model."""
        return self.errors[model].to_numpy().reshape(-1, len(self.n))

    def extrapolate(self, n: float) -> pd.DataFrame:
        """Return what the law expects of each model at n rows, with a 95 % interval.

        Parameters
        ----------
        n : float
            The number of training rows.

        Returns
        -------
        DataFrame
            Columns ``error``, ``low``, ``high``; a row for each model.

        Raises
        ------
        InputError
            If n is not above 0.
        """
        if not n > 0:
            raise InputError(f"n={n!r}: use a number of rows above 0")
        lines = [
            (
                float(self._laws[model].error(n)),
                *_interval([float(law.error(n)) for law in self._drawn[model]]),
            )
            for model in self.models
        ]
        index = pd.Index(self.models, name="model")
        return pd.DataFrame(lines, index=index, columns=["error", "low", "high"])

    def summary(self) -> Summary:
        """Return errors, law and what ten times the rows would buy, as a summary."""
        most = float(self.n.max())
        facts = {
            "Metric": self.metric.words,
            "Test rows": str(self.n_test),
            "Training rows": f"{self.n.min():.0f} to {most:.0f}",
            "Repeats": str(len(self.errors) // len(self.n)),
        }
        sections = {
            "PowerLaw: error = a + b·n^(-c)": self.law,
            f"At n = {FARTHER * most:.0f}, ten times the rows": self.extrapolate(FARTHER * most),
            "Mean errors": self.table["error"].unstack("n")[[int(n) for n in self.n]],
        }
        note = "Intervals are from repeats drawn with replacement."
        call = f"learning_curve({self.formula!r}, data, …, seed={self.seed})"
        return Summary("Learning curve", call, facts, sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw errors and laws against n on logarithmic axes, out to ten times the rows.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
        """
        at = np.geomspace(self.n.min(), FARTHER * self.n.max(), POINTS)
        curves = {}
        for model in self.models:
            drawn = np.array([law.error(at) for law in self._drawn[model]])
            low, high = _interval(drawn)
            curves[model] = pd.DataFrame(
                {"n": at, "error": self._laws[model].error(at), "low": low, "high": high}
            )
        return plots.plot_learning(self.table, curves, self.metric.words, ax)

    def __repr__(self) -> str:
        return f"LearningCurve of {', '.join(self.models)}\n{self.law.to_string()}"


def _interval(values: list[float] | NDArray[np.float64]) -> tuple[NDArray, NDArray]:
    """Return the middle 95 % of the values, along their first axis."""
    low, high = np.quantile(np.asarray(values), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return low, high
