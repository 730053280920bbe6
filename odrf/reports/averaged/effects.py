"""Averaged predictions, comparisons and slopes, with standard errors, tests and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf import plots
from odrf.fits.effects import Estimates
from odrf.public import public
from odrf.reports.averaged.hypotheses import HypothesisTests, tested
from odrf.reports.averaged.notes_on_errors import note_on_agreement
from odrf.statistics.effects import NUMBERS, with_errors
from odrf.text.layouts import percentage
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Effects"]


# Cards leave out the last columns of a wide table; one end of an interval tells little.
ON_CARDS = ("estimate", "std_error", "conf_low", "conf_high", "p_value")
DIVIDED_BY_0 = "A ratio is inf where it divides by a prediction of 0."
BOTH_0 = "A ratio is NaN where both predictions are 0."


@public
class Effects(Carded):
    """Averaged predictions, comparisons or slopes of a fit.

    Returned by `predictions`, `comparisons` and `slopes` of the results.

    Parameters
    ----------
    title : str
        What was estimated.
    call : str
        The call that made the fit.
    estimates : Estimates
        The estimates and their covariance.
    level : float
        Nominal coverage of the intervals.
    null : float
        The value that is tested: 0, or 1 for ratios.
    notes : tuple of str
        What to know of the standard errors.
    probabilities : bool, optional
        Whether the estimates are probabilities, which lie between 0 and 1.

    Attributes
    ----------
    table : DataFrame
        One row for each estimate.  Columns: ``term``, ``contrast``; the columns of `at` and `by`,
        with an underscore if they are called like another one; ``class`` if the response is a
        class; ``estimate``, ``std_error``, ``statistic``, ``p_value``, ``conf_low`` and
        ``conf_high``.  NaN where there are no standard errors; tests and intervals are NaN also
        where these are 0.  Intervals of probabilities are on the scale of the log odds, at most
        twice as far from the estimate as plain ones.
    covariance : (M, M) float64 or None
        The covariance of the estimates over training samples; NaN for ratios that are not finite.
    notes : tuple of str

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + ltg + sex", data, n_trees=50, seed=1)
    >>> effects = forest.comparisons("bmi", contrast="iqr")
    >>> bool(effects.table["estimate"].iloc[0] > 0)
    True
    """

    def __init__(
        self,
        title: str,
        call: str,
        estimates: Estimates,
        level: float,
        null: float = 0.0,
        notes: tuple[str, ...] = (),
        probabilities: bool = False,
    ) -> None:
        self.title, self.call, self.level, self.null = title, call, level, null
        self.notes, self.estimates = notes, estimates
        known = estimates.uncertainty
        error = np.full(len(estimates.estimate), np.nan)
        if known is not None:
            error = known.errors()
        df = np.inf if known is None else known.df
        self.table = with_errors(
            estimates.labels, estimates.estimate, error, level, null, df, probabilities
        )

    @cached_property
    def covariance(self) -> NDArray[np.float64] | None:
        """The covariance (M, M) of the estimates over training samples; None if unknown."""
        known = self.estimates.uncertainty
        return None if known is None else known.covariance()

    def hypotheses(
        self, hypothesis: str | Sequence[str] | ArrayLike = "pairwise", *, joint: bool = False
    ) -> HypothesisTests:
        """Test hypotheses about the estimates, which are b1, b2, … in the order of the table.

        Parameters
        ----------
        hypothesis : str, list of str or array, default "pairwise"
            ``"pairwise"``: any two estimates are equal.  A text such as ``"b1 = b2"``,
            ``"b3 - 2 * b1 = 0"`` or ``"b2 / b1 = 1"``, or a list of these; ratios and powers are
            tested by the delta method.  An array (R, M): R linear combinations of the M estimates
            that are 0.
        joint : bool, default False
            Test in addition that all hold, by Wald's statistic: by χ², with ``groups=`` by F.

        Returns
        -------
        HypothesisTests
            With ``table``, ``covariance``, ``joint`` and ``summary()``.

        Raises
        ------
        InputError
            If a hypothesis cannot be read, or is about a ratio that is not finite; if there are no
            standard errors.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ bmi + ltg", data, n_trees=50, seed=1)
        >>> tests = forest.slopes().hypotheses("b1 = b2")
        >>> list(tests.table["hypothesis"])
        ['b1 = b2']
        """
        return tested(self.call, self.estimates, hypothesis, joint, self.level)

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        facts = {"Estimates": str(len(self.table)), **self._intervals}
        notes = self.notes + note_on_agreement(self.table)
        if np.isinf(self.table["estimate"]).any():
            notes += (DIVIDED_BY_0,)
        if self.table["estimate"].isna().any():
            notes += (BOTH_0,)
        shown = self._shown()
        if self.estimates.uncertainty is None:
            shown = shown.drop(columns=[name for name in NUMBERS if name != "estimate"])
        return Summary(self.title, self.call, facts, {"": shown}, notes)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the first 40 estimates as points, with their intervals.

        What is infinite is at the edge of the axes: an estimate there is an arrow.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        labels = self.table.drop(columns=list(NUMBERS))
        return plots.plot_effects(labels, self.table[list(NUMBERS)], self.title, self.null, ax)

    def _shown(self) -> pd.DataFrame:
        numbered = self.table.copy()
        for name in numbered.columns.difference(list(NUMBERS)):
            known = numbered[name].notna()
            if not known.all():
                numbered[name] = numbered[name].astype(object).where(known, "missing")
        numbered.index = pd.Index([f"b{i + 1}" for i in range(len(numbered))])
        return numbered

    def _card(self) -> Card:
        shown = self._shown()
        labels = [name for name in shown if name not in NUMBERS]
        if (shown[["term", "contrast"]] == ["prediction", "mean"]).all(axis=None):
            labels = labels[2:]
        if self.estimates.uncertainty is None:
            why = {"Standard errors": "none: summary() says why"}
            return Card(self.title, why, shown[[*labels, "estimate"]])
        return Card(self.title, self._intervals, shown[[*labels, *ON_CARDS]])

    @property
    def _intervals(self) -> dict[str, str]:
        if self.estimates.uncertainty is None:
            return {}
        return {"Intervals": percentage(self.level)}
