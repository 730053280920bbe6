"""Numbers of the curves of a survival forest."""

from __future__ import annotations

from odrf.fits.survival.numbers_of_curves import estimand_fit
from odrf.results.survival.estimand_results import EstimandResults
from odrf.results.survival.survival_results import SurvivalResults

__all__ = ["CurveEstimates"]


class CurveEstimates(SurvivalResults):
    """Base class of survival forests, which have estimands of their curves."""

    def estimand(self, estimand: str, *, time: float) -> EstimandResults:
        """Return the forest as the regression forest of one number of its curves.

        It has the same trees.  So effects, curves, Shapley values, importances and confidence
        intervals of a number of the curve are those of any forest: the difference that a treatment
        makes for the survival at a year is ``estimand("survival", time=365).comparisons(...)``.

        Parameters
        ----------
        estimand : {"survival", "rmst", "hazard"}
            - ``"survival"``: the probability that the event comes after `time`.
            - ``"rmst"``: the restricted mean survival time, the area under the survival curve up to
              `time`: how long a row is expected to be without the event, of this time.
            - ``"hazard"``: the cumulative hazard at `time`.
        time : float
            In the unit of the response.

        Returns
        -------
        EstimandResults
            Its `predict` gives the number that `predict` gives here, to rounding.

        Raises
        ------
        InputError
            If the estimand is unknown; if the time is not above 0, is before the first event (of a
            restricted mean: not after it), or is after the last observation; if the number is the
            same for all training rows.

        Warns
        -----
        UserWarning
            If the time is after the last event, where curves stay as they are.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.simulate.hazard_jump(p=3).sample(300, seed=1)
        >>> forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
        >>> gained = forest.estimand("rmst", time=1).comparisons("x3", contrast=(0, 0.5))
        >>> list(gained.table["term"])
        ['x3']
        """
        return EstimandResults(estimand_fit(self.fit, estimand, time))
