"""What trees are grown on: the response itself, or for exponential survival the rates of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.engine.survival.event_ranks import EventRanks
from odrf.fits.survival.by_deviance.hazard_scale import hazard_scale
from odrf.options.control import Control
from odrf.options.criterion_names import EXPONENTIAL

__all__ = ["GrownResponse", "grown_response"]


class GrownResponse(NamedTuple):
    """Response, weights and ranks of rows, as `odrf.engine.growth.forest_growth` takes them.

    Attributes
    ----------
    y, weights : (n,) float64
    ranks : EventRanks or None
    """

    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    ranks: EventRanks | None


def grown_response(data: TrainingData, control: Control) -> GrownResponse:
    """Return what the trees of these options are grown on.

    Exponential survival trees are grown on rates: events divided by exposure, weighted by it.
    """
    if control.criterion != EXPONENTIAL or data.times is None:
        return GrownResponse(data.y, data.weights, data.ranks)
    exposure = hazard_scale(data.times, data.weights).exposure(data.times)
    rate = (data.times.event > 0) / exposure
    return GrownResponse(rate, data.weights * exposure, None)
