"""The warning about text that is shared by so few rows that it seems to name them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from odrf.design.columns import listed, meant_as
from odrf.design.encoding import Indicators
from odrf.design.formula import quoted
from odrf.errors import warn_user
from odrf.fits.fit import AnyFit

__all__ = ["warn_of_rare_levels"]

# Few levels may be those of a small table; with fewer rows a level, on average, one says little.
FEWEST_LEVELS, FEW_ROWS = 30, 3


def warn_of_rare_levels(fit: AnyFit, data: pd.DataFrame) -> None:
    """Warn of columns of text that have fewer than three rows a level, on average.

    Text that is a number or a date has a warning of its own; ``C()`` and categories say that a
    column is a factor nevertheless.

    Warns
    -----
    UserWarning
        There are such columns among the predictors.
    """
    n = int(np.count_nonzero(fit.data.complete))
    for variable in fit.design.recipe.variables:
        name, factor = variable.name, variable.encoding
        if variable.evaluation is not None or not isinstance(factor, Indicators):
            continue
        levels = factor.levels
        if len(levels) < FEWEST_LEVELS or FEW_ROWS * len(levels) <= n:
            continue
        if isinstance(data[name].dtype, pd.CategoricalDtype) or meant_as(name, levels):
            continue
        warn_user(
            f"{name!r} is text with {len(levels)} different values in {n} rows, such as "
            f"{listed(levels, 2)}; new rows will have others, of which nothing is known: leave it "
            f"out; if its values are subjects with several rows, use groups={name!r}; write "
            f"C({quoted(name)}) if it is a factor nevertheless"
        )
