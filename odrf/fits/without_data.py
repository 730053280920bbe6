"""Fits without their training rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from odrf.design.design import NoData
from odrf.fits.fit import BoostedFit, Fit

Trees = TypeVar("Trees", Fit, BoostedFit)


def without_rows(fit: Trees) -> Trees:
    """Return the fit without its training rows, and without those of the fit before pruning."""
    data = NoData.instead_of(fit.data)
    if isinstance(fit, BoostedFit):
        return replace(fit, data=data, offset=replace(fit.offset, values=np.empty(0)))
    if fit.pruning is None:
        return replace(fit, data=data)
    grown = without_rows(fit.pruning.grown)
    return replace(fit, data=data, pruning=replace(fit.pruning, grown=grown))
