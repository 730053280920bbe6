"""Growing a stack again by its options."""

from __future__ import annotations

from odrf.design import TrainingData
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.stacked.growing_stack import grow_stack
from odrf.fits.stacked.stacked_fit import StackedFit

__all__ = ["stack_grown_alike"]


def stack_grown_alike(fit: StackedFit, data: TrainingData) -> StackedFit:
    """Grow the models of a stack again by its options on other rows or values, and weigh them.

    Raises
    ------
    InputError
        The fit has a budget: which models it has depended on the time that they took.
    """
    if fit.control.budget is not None:
        raise InputError(
            "this would fit the stack again, and with budget= its models depend on the time that "
            "they take: fit with auto() without budget="
        )
    forest = fit.parts[0].fit
    assert isinstance(forest, Fit)
    return grow_stack("", fit.design, data, fit.control, forest.request, fit.boosting, False)
