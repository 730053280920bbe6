"""How the steps of an elimination of predictors are judged, and grown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from odrf.fits.fit import Fit
from odrf.fits.prediction.scores import error_name, out_of_bag_loss
from odrf.fits.regrowing import permutation_rises, regrown

__all__ = ["EliminationSteps", "ResponseSteps"]


class EliminationSteps(Protocol):
    """The steps of an elimination."""

    @property
    def error(self) -> str:
        """The name of the out-of-bag error."""

    def error_of(self, fit: Fit) -> tuple[float, float]:
        """Return the out-of-bag error of a fit, and its standard error."""

    def importances_of(self, fit: Fit) -> NDArray[np.float64]:
        """Return the importance of each of its P predictors (P,)."""

    def grown_on(self, fit: Fit, which: Sequence[int], call: str, progress: bool = False) -> Fit:
        """Return the fit grown again on the predictors with the numbers `which`."""


@dataclass(frozen=True)
class ResponseSteps:
    """Steps that are judged by the error of predicted responses: numbers or classes.

    Attributes
    ----------
    kind : str
        "regression" or "classification".
    """

    kind: str

    @property
    def error(self) -> str:
        """The name of the out-of-bag error."""
        return error_name(self.kind)

    def error_of(self, fit: Fit) -> tuple[float, float]:
        """Return the out-of-bag error of a fit, and its standard error."""
        return out_of_bag_loss(fit)

    def importances_of(self, fit: Fit) -> NDArray[np.float64]:
        """Return the mean rise of the trees' out-of-bag losses by permutation (P,)."""
        return permutation_rises(fit).of_tree.mean(axis=0)

    def grown_on(self, fit: Fit, which: Sequence[int], call: str, progress: bool = False) -> Fit:
        """Return the fit grown again on the predictors with the numbers `which`."""
        return regrown(fit, which, call, progress)
