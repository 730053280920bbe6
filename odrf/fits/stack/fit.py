"""The fit of a stack: several models of one response, put together by weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.forest import Forest
from odrf.fits.fit import AnyFit, BoostedFit, Fit
from odrf.fits.stack.smoothers import AdditiveBase, KernelSmoother
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.options.stack import ResolvedStackOptions


class StackedPart(NamedTuple):
    """A model of a stack.

    `columns` (q,).  `left_out` (n, K): prediction.
    """

    name: str
    fit: Fit | BoostedFit | KernelSmoother
    base: AdditiveBase | None = None
    columns: NDArray[np.int64] | None = None
    left_out: NDArray[np.float64] | None = None


class Trial(NamedTuple):
    """A kind of boosted runs that was tried.

    `gain`, `std_error`: log loss, and the standard error of that; NaN without any fit.
    """

    name: str
    runs: int
    gain: float
    std_error: float
    outcome: str

    @property
    def ratio(self) -> float:
        """The gain in standard errors."""
        return self.gain / self.std_error if self.std_error > 0 else 0.0


@dataclass(frozen=True)
class StackedFit(AnyFit):
    """The fit of a stack, from which results are computed.  It can be pickled.

    `weights` (G,), `errors` (G,).  `rises` (G,): would rise without each.
    """

    control: ResolvedStackOptions
    boosting: dict[str, ResolvedBoostingOptions]
    parts: tuple[StackedPart, ...]
    weights: NDArray[np.float64]
    power: float
    errors: NDArray[np.float64]
    rises: NDArray[np.float64]
    trials: tuple[Trial, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether the predicted class is the median of the ordered classes."""
        return next(iter(self.grown.values())).ordered

    @property
    def grown(self) -> dict[str, Fit | BoostedFit]:
        """The models that have trees, by name."""
        return {
            part.name: part.fit for part in self.parts if not isinstance(part.fit, KernelSmoother)
        }

    @property
    def forest(self) -> Forest:
        """Raise `AttributeError`: the trees of several models do not make one forest."""
        raise AttributeError("a stack has several forests")
