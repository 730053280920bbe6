"""Boosted runs of other kinds, tried for a stack as long as there is time.

If there are several kinds, each is tried with few runs first, and the better half goes on with all
runs: successive halving (Jamieson and Talwalkar 2016).  One that then makes the stack better by
more than noise is added to it, the best first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.out_of_bag_values import boosted_out_of_bag
from odrf.fits.stacked.stacked_fit import Trial
from odrf.fits.stacked.weighing import LEAST_GAIN, gain_with
from odrf.options.boosting import BoostingControl

__all__ = ["further_runs"]

Array = NDArray[np.float64]
Grow = Callable[[BoostingControl], BoostedFit]

# Runs of a first try.
FEW_RUNS = 3
ADDED, NOISE, BEHIND, LATE = "added", "within noise", "behind others", "no time left"


def further_runs(
    kinds: Mapping[str, BoostingControl],
    grow: Grow,
    values: Sequence[Array],
    data: TrainingData,
    end: float,
) -> tuple[dict[str, BoostedFit], tuple[Trial, ...]]:
    """Return the boosted runs that are worth adding, by name, and what came of all of them.

    Parameters
    ----------
    kinds : mapping of str to BoostingControl
        What is tried.
    grow : callable
        Fits boosted runs.
    values : sequence of arrays (n, K)
        Out-of-bag predictions of the models of the stack.
    data : TrainingData
    end : float
        The time, as of `time.monotonic`, after which no fit begins.
    """
    search = _Search(kinds, grow, values, data, end)
    search.try_few_runs()
    return search.added(search.fitted_fully()), tuple(search.trials.values())


class _Search:
    """The kinds that are tried, their last fits and predictions, and what has come of each."""

    def __init__(
        self,
        kinds: Mapping[str, BoostingControl],
        grow: Grow,
        values: Sequence[Array],
        data: TrainingData,
        end: float,
    ) -> None:
        self.kinds, self.grow, self.values, self.data, self.end = kinds, grow, values, data, end
        self.fits: dict[str, BoostedFit] = {}
        self.out_of_bag: dict[str, Array] = {}
        self.trials = {name: Trial(name, 0, np.nan, np.nan, LATE) for name in kinds}
        # seconds that all runs of a kind will take
        self.seconds: dict[str, float] = {}

    def try_few_runs(self) -> None:
        """Fit few runs of each kind for which there is time, of a single one all; judge them."""
        several = len(self.kinds) > 1
        for name, control in self.kinds.items():
            begin = time.monotonic()
            if begin < self.end:
                few = control.with_runs(min(FEW_RUNS, control.n_runs)) if several else control
                self._fit(name, few)
                self._judge(name, self.values)
                self.seconds[name] = (time.monotonic() - begin) * control.n_runs / few.n_runs

    def fitted_fully(self) -> list[str]:
        """Fit all runs of the better half, if they help and there is time; return their names."""
        order = sorted(self.fits, key=lambda name: -self.trials[name].ratio)
        half = (len(order) + 1) // 2
        for name in order[half:]:
            self._end(name, BEHIND)
        full = []
        for name in (name for name in order[:half] if self.trials[name].ratio > 0):
            if self.fits[name].control.n_runs == self.kinds[name].n_runs:
                full.append(name)
            elif time.monotonic() + self.seconds[name] < self.end:
                self._fit(name, self.kinds[name])
                full.append(name)
            else:
                self._end(name, LATE)
        return full

    def added(self, names: list[str]) -> dict[str, BoostedFit]:
        """Return the fits that make the stack better, one after the other, the best first."""
        left, added = list(names), dict[str, BoostedFit]()
        while left:
            before = [*self.values, *(self.out_of_bag[name] for name in added)]
            for name in left:
                self._judge(name, before)
            best = max(left, key=lambda name: self.trials[name].ratio)
            if self.trials[best].ratio <= LEAST_GAIN:
                break
            left.remove(best)
            added[best] = self.fits[best]
            self._end(best, ADDED)
        return added

    def _fit(self, name: str, control: BoostingControl) -> None:
        self.fits[name] = self.grow(control)
        self.out_of_bag[name] = _value(self.fits[name])

    def _judge(self, name: str, before: Sequence[Array]) -> None:
        gain, std_error = gain_with(before, self.out_of_bag[name], self.data)
        runs = self.fits[name].control.n_runs
        self.trials[name] = Trial(name, runs, gain, std_error, NOISE)

    def _end(self, name: str, outcome: str) -> None:
        self.trials[name] = self.trials[name]._replace(outcome=outcome)


def _value(fit: BoostedFit) -> Array:
    return fit.loss.means(boosted_out_of_bag(fit))
