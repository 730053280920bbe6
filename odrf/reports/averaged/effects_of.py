"""Effects of a fit, with what is to be known of their standard errors."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from odrf.design.encoding import LevelsSaidOnce
from odrf.errors import InputError
from odrf.fits.effects import DIFFERENCE, RATIO, Estimand, estimated, grouped_rows, of_event
from odrf.fits.fit import AnyFit
from odrf.fits.intervals import warn_of_few_trees
from odrf.public.progress import progress_bar
from odrf.reports.averaged.effects import Effects
from odrf.reports.averaged.notes_on_errors import notes_on_errors

__all__ = ["effects_of"]


def effects_of(
    fit: AnyFit,
    title: str,
    estimands: Sequence[Estimand],
    by: object,
    newdata: pd.DataFrame | None,
    level: float,
    population: bool,
    progress: bool,
    ratio: bool = False,
) -> Effects:
    """Return the effects of the estimands; the other arguments are those of the results' methods.

    Raises
    ------
    InputError
        A column of `by` is one that estimands set to other values.

    Warns
    -----
    UserWarning
        The forest has too few trees for standard errors; or a variable is set to levels that no
        training row has.
    """
    grouped = grouped_rows(fit, newdata, by)
    twice = [name for name in grouped.labels if name in estimands[0].labels]
    if twice:
        raise InputError(
            f"{twice[0]!r} is in by= and in at=, which sets it to other values: leave it out of "
            "one of them"
        )
    averages = sum(1 + (estimand.low is not None) for estimand in estimands)
    with (
        LevelsSaidOnce(),
        progress_bar(total=averages * len(grouped.share), unit="row", progress=progress) as bar,
    ):
        comparison = RATIO if ratio else DIFFERENCE
        found = estimated(fit, grouped, estimands, comparison, population, bar.update)
        bar.update(bar.total - bar.n)
    if found.uncertainty is not None:  # a weighted mean of models has none, and no forest
        warn_of_few_trees(fit.forest.n_trees, found.uncertainty.trees_advised)
    averaged = all(estimand.low is None for estimand in estimands)
    if fit.design.response.n_classes == 2 and not (averaged or ratio):
        found = of_event(found)
    probabilities = averaged and fit.design.response.in_probabilities
    notes = notes_on_errors(fit)
    return Effects(title, fit.call, found, level, float(ratio), notes, probabilities)
