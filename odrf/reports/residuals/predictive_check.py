"""Whether predictions of a number, and their distributions, agree with the responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.public import public
from odrf.statistics.residuals import coverage_table, regions_of
from odrf.text.layouts import percentage
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PLOTS", "PredictiveCheck"]

PLOTS = ("pit", "coverage", "residuals", "quantiles", "influence")
MOST_INFLUENTIAL = 5
LEVERAGE = (
    "leverage adds up the weights of a row's response in the out-of-bag predictions of the others: "
    "1 on average, and unlike the leverage in a linear model it may be more."
)
OWN_RESIDUALS = (
    "The distributions are made of these rows' own out-of-bag residuals: of all rows together they "
    "are right by construction. The regions tell, and newdata=."
)


@public
class PredictiveCheck(Carded):
    """Residuals, and whether responses fall into their predicted distributions.

    Returned by `predictive_check` of the results.

    Parameters
    ----------
    call : str
        The call that made the fit.
    rows : DataFrame
        For each row: ``observed``, ``fitted``, ``conf_low`` and ``conf_high`` (its prediction
        interval), and ``pit``.
    level : float
        Nominal coverage of the prediction intervals.
    region : Series or None
        What divides the rows in `coverage`; by default tenths of the fitted values.
    source : str
        Which rows they are, in words.
    influence : DataFrame or None
        Of training rows, ``leverage`` and ``influence`` in units of the response.
    groups : (n,) int64, optional
        Groups of rows that are independent of each other; by default the rows are.

    Attributes
    ----------
    rows : DataFrame
        With ``residual``, observed minus fitted, and ``pit``, the share of the predicted
        distribution below the response: uniform if the distributions are right.
    coverage : DataFrame
        By ``region``, in the order of levels or numbers: ``rows``; ``coverage`` of the prediction
        intervals; ``conf_low`` and ``conf_high``, its interval.
    influence : DataFrame or None
        For each training row its ``leverage``, the weights that its response has in the
        predictions of the others, added up; its ``residual``, in standard
        deviations of the residuals; and its ``influence``: by how much predictions would change
        without its response, as a root mean square in these units.  The most influential row comes
        first.  None for new rows and for a stack.

    Notes
    -----
    The leverages of a linear model, the diagonal of its hat matrix, are at most 1.  Predictions out
    of bag do not use a row's own response, so that this diagonal is 0.  The leverage here adds up
    the other elements of a column of the matrix.  Each is from 0 to 1, but their sum may be more
    than 1: its mean over the rows is 1 if each of them has been out of bag.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + ltg + bp", data, n_trees=100, seed=1)
    >>> check = forest.predictive_check()
    >>> bool(check.rows["pit"].between(0, 1).all())
    True
    """

    def __init__(
        self,
        call: str,
        rows: pd.DataFrame,
        level: float,
        region: pd.Series | None,
        source: str,
        influence: pd.DataFrame | None = None,
        groups: NDArray[np.int64] | None = None,
    ) -> None:
        self.call, self.level, self.source = call, level, source
        self.rows = rows.assign(residual=rows["observed"] - rows["fitted"])
        inside = rows["observed"].between(rows["conf_low"], rows["conf_high"])
        self.inside: NDArray[np.bool_] = inside.to_numpy()
        by = regions_of(rows["fitted"].to_numpy())
        if region is not None:
            by = _regions_of(region)
        self.coverage = coverage_table(by, self.inside, level, groups)
        self.influence = None
        if influence is not None:
            spread = float(self.rows["residual"].std(ddof=0)) or 1.0
            table = influence.assign(
                residual=self.rows["residual"] / spread, influence=influence["influence"] / spread
            )
            table = table[["leverage", "residual", "influence"]]
            self.influence = table.sort_values("influence", ascending=False, kind="stable")

    def summary(self) -> Summary:
        """Return the coverage as a summary with text, HTML and LaTeX output."""
        sections = {"Coverage of prediction intervals": self.coverage}
        notes: tuple[str, ...] = ()
        if self.influence is not None:
            sections["Most influential rows"] = self.influence.head(MOST_INFLUENTIAL)
            notes = (LEVERAGE,)
        elif self.source == "out of bag":
            notes = (OWN_RESIDUALS,)
        return Summary("Predictive check", self.call, self._facts(), sections, notes)

    def plot(self, kind: str = "pit", *, ax: Axes | None = None) -> Axes:
        """Draw one of five plots.

        Parameters
        ----------
        kind : {"pit", "coverage", "residuals", "quantiles", "influence"}, default "pit"
            - ``"pit"``: a histogram of the shares below the response, with the band in which the
              bars of uniform shares would be.  A hill means distributions that are too wide, a
              valley ones that are too narrow.
            - ``"coverage"``: the coverage by region, with intervals.
            - ``"residuals"``: residuals against fitted values.
            - ``"quantiles"``: residuals against those of a normal distribution.
            - ``"influence"``: residuals against leverage, a sum of weights that may be more than 1;
              the area of a circle is the square of the influence, and the most influential rows
              have their labels.
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or ``"influence"`` is asked of new rows or of a stack.
        """
        checked_choice("kind", kind, PLOTS)
        if kind != "influence":
            return plots.plot_check(self.rows, self.coverage, self.level, kind, ax)
        if self.influence is None:
            raise InputError(
                "new rows have no influence on the fit: leave newdata= of predictive_check() out; "
                'of a stack see part("forest").predictive_check()'
            )
        return plots.plot_influence(self.influence, ax)

    def _facts(self) -> dict[str, str]:
        covered = f"{self.inside.mean():.1%} (nominal {percentage(self.level)})"
        return {
            "Rows": f"{len(self.rows)} {self.source}",
            "Covered": covered,
            "Mean share below": f"{self.rows['pit'].mean():.3f} (right: 0.5)",
            "Variance of it": f"{self.rows['pit'].var(ddof=0):.4f} (right: 0.0833)",
        }

    def _card(self) -> Card:
        return Card("Predictive check", self._facts(), self.coverage)


def _regions_of(values: pd.Series) -> pd.Categorical[str]:
    """Return the values of a column as labels, in the order of its levels or numbers."""
    found = pd.Index(pd.factorize(values, sort=True)[1]).astype(str).unique()
    return pd.Categorical(values.astype(str).where(values.notna()), found)
