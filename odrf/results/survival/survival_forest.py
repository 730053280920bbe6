"""Results of an oblique random forest for times to an event."""

from __future__ import annotations

from odrf.results.survival.survival_results import SurvivalResults
from odrf.text.card import Card

__all__ = ["SurvivalForestResults"]


class SurvivalForestResults(SurvivalResults):
    """A forest for times to an event, as returned by `odrf.odrf` for ``Surv(time, event)``."""

    def _card(self) -> Card:
        return Card("Oblique random survival forest", {"Call": self.call})
