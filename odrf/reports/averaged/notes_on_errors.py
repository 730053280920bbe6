"""What to know of the standard errors of effects, or why there are none."""

from __future__ import annotations

import numpy as np
import pandas as pd

from odrf.fits.effects import trees_vary
from odrf.fits.fit import AnyFit, Fit
from odrf.statistics.jackknife import degrees_of_freedom

__all__ = ["note_on_agreement", "notes_on_errors"]

EXPECTATION = (
    "Standard errors are for the forest's expectation over training samples, which differs from "
    "the truth by the forest's bias."
)
NOT_FOR_INFERENCE = (
    "The forest was not grown for inference: its standard errors may be too large; those of "
    "odrf(…, inference=True) are closer to the variation over samples."
)
GROUPS = (
    "The units of the standard errors are groups of rows: tests and intervals are by Student's t "
    "with {df:.0f} degrees of freedom."
)
NONE = "There are no standard errors, because "
NO_FOREST = (
    "they compare trees that drew a row with trees that did not: fit a forest with odrf(), whose "
    "trees draw rows."
)
IN_TIME = (
    "they suppose that trees draw all rows alike, and with order= they draw early rows more often: "
    "fit without order=."
)
NO_ROWS = "the fit has no training rows, and which of them the trees drew is not known."
ALL_ROWS = "every tree of the forest drew all rows, or all but one: fit with inference=True."
AGREE = (
    "Where the standard error is 0, all trees agree; that does not make the estimate certain, so "
    "that it has no test and no interval."
)


def note_on_agreement(table: pd.DataFrame) -> tuple[str, ...]:
    """Return what to know of standard errors of 0 in a table of estimates, if there are any."""
    return (AGREE,) if (table["std_error"] == 0).any() else ()


def notes_on_errors(fit: AnyFit) -> tuple[str, ...]:
    """Return what to know of the standard errors of a fit's estimates, in sentences."""
    if trees_vary(fit):
        assert isinstance(fit, Fit)
        df = degrees_of_freedom(fit.draws)
        few = (GROUPS.format(df=df),) if np.isfinite(df) else ()
        return (EXPECTATION, *few, *(() if fit.control.inference else (NOT_FOR_INFERENCE,)))
    if not isinstance(fit, Fit) or fit.forest.n_trees == 1:
        return (NONE + NO_FOREST,)
    if not fit.data.has_rows:
        return (NONE + NO_ROWS,)
    structure = fit.data.structure
    in_time = structure is not None and structure.order is not None
    return (NONE + (IN_TIME if in_time else ALL_ROWS),)
