"""How results for times to an event show themselves: summary and card."""

from __future__ import annotations

from odrf.checks import checked_truth
from odrf.reports.data_summary import with_data
from odrf.reports.survival.consistency import CurveConsistency
from odrf.reports.survival.summaries import survival_summary
from odrf.results.survival.survival_plots import PlottedSurvivalResults
from odrf.text.summary import Summary

__all__ = ["ShownSurvivalResults"]


class ShownSurvivalResults(PlottedSurvivalResults):
    """Base class of results for times to an event with a summary."""

    def summary(self, *, detail: bool = False, progress: bool = False) -> Summary:
        """Return a summary: data, options, sizes, scores, importances.

        It prints as text, and converts to HTML and LaTeX.  Follow-up is estimated by the
        Kaplan–Meier curve of censoring (Schemper and Smith 1996).

        Parameters
        ----------
        detail : bool, default False
            Also show what each predictor was taken as: the table of `data_summary`.
        progress : bool, default False
            Show a progress bar while the importances are computed.

        Returns
        -------
        Summary

        References
        ----------
        M. Schemper and T. L. Smith (1996). A note on quantifying follow-up in studies of failure
        time. Controlled Clinical Trials 17, 343-346.
        """
        measured = self._measured_importance(None, None, progress)
        of_causes = self._judged_causes()
        summary = survival_summary(self.fit, self._judging_if_any, of_causes, measured)
        return with_data(summary, self.fit) if checked_truth("detail", detail) else summary

    def consistency(self) -> CurveConsistency:
        """Report which result on consistency covers the predicted curves, and what is not covered.

        Returns
        -------
        CurveConsistency
            With ``table``, ``conclusion`` and ``summary()``.
        """
        return CurveConsistency(self.fit)
