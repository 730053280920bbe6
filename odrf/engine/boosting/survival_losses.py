"""Losses of times to an event.

A row's loss needs more than one number, and Cox's those of other rows.  So these losses hold the
times of all training rows, and their responses `y` are numbers of rows: any part of the rows, such
as those of a fold, is known by its numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.leaves import LeafRows, newton_values
from odrf.engine.boosting.losses import LEAST_CURVATURE, Derivatives, Loss
from odrf.engine.survival.event_ranks import EventRanks, event_ranks
from odrf.engine.survival.partial_likelihood import PartialLikelihood, partial_likelihood

__all__ = ["Cox", "SurvivalLoss"]

Array = NDArray[np.float64]
NO_RANKS = event_ranks(np.empty(0), np.empty(0, dtype=np.int64), None, np.empty(0))


@dataclass(frozen=True, eq=False)
class SurvivalLoss(Loss):
    """A loss of times to an event; responses are numbers of the rows that it knows.

    Attributes
    ----------
    of_logarithms : bool
        Whether it is of logarithms of times, which must then be above 0.
    """

    kind: ClassVar[str] = "survival"
    of_logarithms: ClassVar[bool] = False

    @abstractmethod
    def knowing(self, time: Array, event: NDArray[np.bool_], start: Array | None) -> SurvivalLoss:
        """Return the loss that knows these rows.

        Parameters
        ----------
        time, event : (n,)
            End of the observation, and whether the event happened then.
        start : (n,) or None
            The row is observed after this time; None: from the beginning.
        """


@dataclass(frozen=True, eq=False)
class Cox(SurvivalLoss):
    """The negative log partial likelihood of Cox (1972), with the ties of Efron (1977).

    The score is the logarithm of the hazard relative to a baseline.  A constant changes nothing, so
    boosting starts from 0.  An event of weight 2 is one event, and no tie of two: in this a weight
    differs from the row twice.

    Attributes
    ----------
    ranks : EventRanks
        The times of all training rows.
    """

    name: ClassVar[str] = "cox"
    ranks: EventRanks = NO_RANKS

    def knowing(self, time: Array, event: NDArray[np.bool_], start: Array | None) -> Cox:
        """Return the loss that knows the ranks of these rows."""
        return replace(self, ranks=event_ranks(time, event, start, np.unique(time[event])))

    def start(self, y: Array, weights: Array, n_outputs: int, offset: Array) -> Array:
        """Return 0."""
        return np.zeros(1)

    def derivatives(self, y: Array, scores: Array, weights: Array) -> Derivatives:
        """Return the hazard that the row was exposed to less its event, and its own curvature.

        Both are among the rows of positive weight alone.
        """
        terms = self._terms(y, scores, weights)
        return Derivatives(terms.first[None, :], np.maximum(terms.second, LEAST_CURVATURE)[None, :])

    def losses(self, y: Array, scores: Array, weights: Array) -> Array:
        """Return what each row's event adds, among the rows of positive weight; 0 if censored."""
        return self._terms(y, scores, weights).losses

    def leaf_values(self, rows: LeafRows, l2: float) -> Array:
        """Return Newton steps, with steps upwards shortened.

        In a leaf with O events where E are expected, the Newton step is about x = O/E - 1, and with
        the baseline hazard as it is log(1 + x) is best.
        """
        step = newton_values(rows, l2)
        return np.where(step > 0, np.log1p(np.maximum(step, 0.0)), step)

    def _terms(self, y: Array, scores: Array, weights: Array) -> PartialLikelihood:
        rows, (code, entry, *_) = y.astype(np.int64), self.ranks
        entry = entry[rows] if len(entry) else entry
        ranks = self.ranks._replace(code=code[rows], entry=entry)
        return partial_likelihood(ranks, weights, scores[0])
