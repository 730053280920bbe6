"""Boosted runs of other kinds, tried for a stack as long as there is time.

Each kind is tried with few runs first, and the better half goes on with all runs: successive
halving (Jamieson and Talwalkar 2016).  One that then makes the stack better by more than noise is
added to it, the best first.
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
from odrf.fits.stacked.weighing import stack_losses, stack_rows
from odrf.options.boosting_control import BoostingControl
from odrf.statistics.means import weighted_mean

__all__ = ["further_runs"]

Array = NDArray[np.float64]
Grow = Callable[[BoostingControl], BoostedFit]

# Runs of a first try.
FEW_RUNS = 3
# A gain of fewer standard errors counts as noise.
LEAST_GAIN = 2.0
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
    fits: dict[str, BoostedFit] = {}
    trials: dict[str, Trial] = {}

    def judge(name: str, before: Sequence[Array]) -> None:
        gain = _gain(before, _value(fits[name]), data)
        trials[name] = Trial(name, fits[name].control.n_runs, *gain, NOISE)

    seconds: dict[str, float] = {}
    for name, control in kinds.items():
        trials[name] = Trial(name, 0, np.nan, np.nan, LATE)
        begin = time.monotonic()
        if begin < end:
            fits[name] = grow(control.with_runs(min(FEW_RUNS, control.n_runs)))
            judge(name, values)
            seconds[name] = (time.monotonic() - begin) * control.n_runs / trials[name].runs
    order = sorted(fits, key=lambda name: -trials[name].ratio)
    half = (len(order) + 1) // 2
    for name in order[half:]:
        trials[name] = trials[name]._replace(outcome=BEHIND)
    left = []
    for name in order[:half]:
        if trials[name].ratio > 0 and time.monotonic() + seconds[name] < end:
            fits[name] = grow(kinds[name])
            left.append(name)
        elif trials[name].ratio > 0:
            trials[name] = trials[name]._replace(outcome=LATE)
    added: dict[str, BoostedFit] = {}
    while left:
        before = [*values, *map(_value, added.values())]
        for name in left:
            judge(name, before)
        best = max(left, key=lambda name: trials[name].ratio)
        if trials[best].ratio <= LEAST_GAIN:
            break
        left.remove(best)
        added[best] = fits[best]
        trials[best] = trials[best]._replace(outcome=ADDED)
    return added, tuple(trials.values())


def _value(fit: BoostedFit) -> Array:
    return fit.loss.means(boosted_out_of_bag(fit))


def _gain(values: Sequence[Array], added: Array, data: TrainingData) -> tuple[float, float]:
    """Return by how much the loss of a stack falls with one more model, and its standard error."""
    rows = stack_rows([*values, added], data)
    if len(rows.y) < 2:
        return 0.0, 0.0
    fewer = stack_losses(rows.by(range(len(values)))) - stack_losses(rows)
    gain, share = weighted_mean(fewer, rows.weights), rows.weights / rows.weights.sum()
    return gain, float(np.sqrt((share**2 * (fewer - gain) ** 2).sum()))
